"""How many force evaluations a run costs per trajectory."""

from .starter import default_starter


def count_evaluations(problem, n_steps):
    """Force evaluations in `n_steps` steps; one shared by consecutive steps counts once."""
    method, c = problem.method, problem.method.coefficients
    if method.family in ("composition", "wisdom_holman"):
        if problem.system.velocity_dependent:
            return n_steps * sum(map(bool, c["kick"]))
        shared = bool(c["kick"][0]) and not c["drift"][-1]
    elif method.family == "implicit_rk":
        shared = method.evaluations < method.stages  # the first stage equals the previous last
    elif method.family == "multistep":
        return _multistep(problem, n_steps)
    else:
        shared = False
    return n_steps * method.evaluations + (shared and n_steps > 0)


def _multistep(problem, n_steps):
    """The first steps are those of the starter, whose forces are kept."""
    method, starter = problem.method, problem.starter or default_starter(problem.method)
    first = 0
    if starter is not None:
        first = max(min(method.stages - 1 - problem.first, n_steps), 0)
    count = first * (1 + starter.evaluations) if first else 0
    # The force for the velocities, or the last of Newton's method, is the next step's first.
    c = method.coefficients
    ends = bool(c["velocity"]) or method.starts_from_positions and not method.backward
    ends = ends or (method.implicit and any(c["beta"][:-1]))
    return count + (n_steps - first) * method.evaluations + (ends and n_steps > first)
