"""A user's force: a plain function is called once with symbols and becomes byte code.

tracing.py     the call and its checks; errors.py says what cannot be traced, frozen.py what was
               taken as a number
expression.py  symbols and vectors, with which the user's function computes; numpy_functions.py and
               elementary.py are the functions of NumPy and how they are made of operations
graph.py       the operations, each once; borders.py finds where they switch
derivative.py  their derivatives
program.py     byte code assembled from them
mathematics.py readable formulas
c_source.py    the same system as C; compiler.py builds it, library_cache.py keeps it
"""
