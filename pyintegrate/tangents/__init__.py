"""Systems with tangent vectors: the derivative of a motion by its start and parameters.

directions.py      which tangents, their names and places
formulas.py        the forces of the built-in systems, as NumPy formulas for the tracer
tangent_system.py  a System made from a system and directions: its force and the derivatives
differences.py     the same for a force that is no formula: central differences
"""
