"""A user's force: a plain function is called once with symbols and becomes byte code.

expression.py  symbols and vectors, with which the user's function computes
graph.py       its operations, each once
derivative.py  their derivatives
program.py     byte code assembled from them
tracing.py     the call, its checks and its errors
mathematics.py readable formulas
c_source.py    the same system as C; compiler.py builds it
"""
