"""The lab: methods side by side over the true motion, to touch, in a notebook or on a page.

`opening` has the function `lab`; `widget` what it returns; `record` makes all numbers, from a state
that the front end has sent; `descriptions` and `scenes` say what systems and methods are and how
they are drawn; `front_end` puts the modules of ``static/`` together.
"""
