"""A user's force: a plain function is called once with symbols and becomes byte code.

expression.py  symbols and vectors, what the user's function computes with
graph.py       the operations it did, each once
derivative.py  their derivatives
program.py     byte code, assembled from them
tracing.py     the call, its checks and its errors
mathematics.py formulas that people read
c_source.py    the same system as C; compiler.py builds it
"""
