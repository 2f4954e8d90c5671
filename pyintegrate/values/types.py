"""The names that annotations use, whatever layer they are of: ``types.pyi`` says what they are.

At run time each stands for ``object``, so that to import it costs nothing.
"""


def __getattr__(name):
    if name[:1] == "_":
        raise AttributeError(name)
    return object
