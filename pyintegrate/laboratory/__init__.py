"""The lab: methods side by side over the true motion, interactively, in a notebook or on a page.

`opening` has the function `lab`; `widget` the object that it returns; `record` describes systems
and methods and how they are drawn, and computes all numbers from a state sent by the front end;
`front_end` joins the modules of ``static/``.
"""
