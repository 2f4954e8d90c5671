"""Random functions of numbers, which NumPy computes and the tracer takes.

A function is data: (name, arguments), a leaf is the number of an input or a constant. Values stay
of moderate size for inputs that do.
"""

import numpy as np

FUNCTIONS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: np.tanh(a) * b,
    "divide": lambda a, b: a / (1.5 + b * b),
    "negative": lambda a: -a,
    "absolute": lambda a: abs(a),
    "square": lambda a: np.tanh(a) ** 2,
    "cube": lambda a: np.sin(a) ** 3,
    "power": lambda a, b: (1 + a * a) ** np.tanh(b),
    "minimum": lambda a, b: np.minimum(a, b),
    "maximum": lambda a, b: np.maximum(a, b),
    "where": lambda a, b, c: np.where(a < b, c, a * 0.5),
    "between": lambda a, b, c: np.where((a > b) & np.logical_not(c <= a), b, c),
    "sqrt": lambda a: np.sqrt(1 + a * a),
    "sin": lambda a: np.sin(a),
    "cos": lambda a: np.cos(a),
    "tan": lambda a: np.tan(np.tanh(a)),
    "arcsin": lambda a: np.arcsin(np.tanh(a) * 0.9),
    "arccos": lambda a: np.arccos(np.sin(a) * 0.9),
    "arctan": lambda a: np.arctan(a),
    "arctan2": lambda a, b: np.arctan2(a, 1.5 + abs(b)),
    "exp": lambda a: np.exp(-a * a),
    "expm1": lambda a: np.expm1(np.tanh(a)),
    "log": lambda a: np.log(1.2 + a * a),
    "log1p": lambda a: np.log1p(abs(a)),
    "sinh": lambda a: np.sinh(np.tanh(a)),
    "cosh": lambda a: np.cosh(np.tanh(a)),
    "cbrt": lambda a: np.cbrt(2 + np.tanh(a)),
    "hypot": lambda a, b: np.hypot(a, b + 0.5),
}
_ARGUMENTS = {name: f.__code__.co_argcount for name, f in FUNCTIONS.items()}


def random_function(rng, inputs, depth):
    """A function of so many inputs, nested so deep."""
    if depth == 0 or rng.random() < 0.1:
        return rng.randrange(inputs) if rng.random() < 0.75 else round(rng.uniform(-2, 2), 3)
    name = rng.choice(sorted(FUNCTIONS))
    return name, [random_function(rng, inputs, depth - 1) for _ in range(_ARGUMENTS[name])]


def compute(function, inputs):
    """Its value; of symbols, where the inputs are."""
    if isinstance(function, int):
        return inputs[function]
    if isinstance(function, float):
        return function
    name, arguments = function
    return FUNCTIONS[name](*(compute(argument, inputs) for argument in arguments))
