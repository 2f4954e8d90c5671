"""The Python code that reproduces what the lab shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..method.catalogue import methods as known_methods
from ..system.catalogue import systems as known_systems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..system.system import System


def python_lines(system: System, state: Mapping[str, Any], dt: float, n_steps: int) -> str:
    """Code that makes the same comparison, digit for digit, and draws it.

    Parameters
    ----------
    system : System
        With the parameters of the state.
    state : mapping
        From the front end.
    dt, n_steps
        The step, and the number of steps of the first method.

    Returns
    -------
    str
        A user-defined system or method appears by its name, with a comment.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> state = {"start": [1.0, 0.0], "methods": ["rk4"], "equal_work": False}
    >>> print(python_lines(pi.systems.oscillator, state, 0.1, 10))
    import pyintegrate as pi
    <BLANKLINE>
    c = pi.compare(
        pi.systems.oscillator(omega=1.0),
        [1.0, 0.0],
        methods=["rk4"],
        dt=0.1,
        n_steps=10,
    )
    c.plot()
    """
    params = ", ".join(
        f"{name}={value if np.ndim(value) == 0 else np.asarray(value).tolist()!r}"
        for name, value in system.params.items()
        if np.size(value)  # what it has none of
    )
    built_in = system.name in known_systems and type(known_systems[system.name]) is type(system)
    remarks = [] if built_in else [f"{system.name}: the system that was given to pi.lab"]
    named = []
    for name in state["methods"]:
        own = name not in known_methods
        named.append(name if own else f'"{name}"')
        remarks += [f"{name}: the method that was given to pi.lab"] * own
    call = f"{'pi.systems.' * built_in}{system.name}({params})"
    lines = [
        "import pyintegrate as pi",
        "",
        *[f"# {remark}" for remark in remarks],
        "c = pi.compare(",
        f"    {call},",
        f"    {[float(value) for value in state['start']]!r},",
        f"    methods=[{', '.join(named)}],",
        f"    dt={dt!r},",
        f"    n_steps={n_steps},",
        *["    equal_work=True,"] * bool(state["equal_work"]),
        ")",
        "c.plot()",
    ]
    return "\n".join(lines)
