"""A system that is pickled by name: a Python force that is not traced."""

import pyintegrate as pi


@pi.acceleration(k=15.0, trace=False)
def pushed(t, x, v, k):
    return -k * x
