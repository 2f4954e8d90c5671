"""Systems that carry tangent vectors along: the derivative of a motion by its start and parameters.

directions.py      which tangents, their names and places
formulas.py        the forces of the built-in systems, as NumPy formulas that the tracer takes
tangent_system.py  a System made of a system and directions: its force and their derivative
differences.py     the same where the force is no formula: central differences
"""
