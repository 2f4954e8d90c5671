"""Tangents of paths: the derivative of the discrete path at the same random numbers."""

import pickle

import numpy as np
import pytest
from test_noisy_runs import RUNS, growth, start, substeps

import pyintegrate as pi

RUN = {"dt": 1 / 64, "n_steps": 60, "seed": 3, "save": "final"}


@pytest.mark.parametrize("method", RUNS)
def test_tangents_are_differences_of_paths_with_common_random_numbers(method):
    """And the path is that of the system alone, to the bit."""
    base = RUNS[method]
    run = {**RUN, "method": method, "substeps": substeps(method)}
    both = base.tangent(base.dim, tuple(base.params))
    y0 = start(base, 10)
    y, tangents = both.parts(pi.integrate(both, both.initial_state(y0), **run).final)
    assert np.array_equal(y, pi.integrate(base, y0, **run).final)
    # A third derivative of less than 1e3, and roundings of 60 steps: 1e3 e^2, 1e-14 / e.
    e = 1e-5
    for j, name in enumerate(both.directions):
        if name.isdigit():
            moved = [pi.integrate(base, y0 + d * np.eye(base.dim)[j], **run) for d in (e, -e)]
        else:
            value = base.params[name]
            moved = [pi.integrate(base(**{name: value + d}), y0, **run) for d in (e, -e)]
        slope = (moved[0].final - moved[1].final) / (2 * e)
        np.testing.assert_allclose(tangents[..., j], slope, rtol=1e-6, atol=1e-7, err_msg=name)


def test_each_calculus_has_tangents_of_its_own():
    """One function, both ways: its tangents are of equal operations, and their steps are not."""
    run = {**RUN, "method": "milstein"}
    for interpretation in ("ito", "stratonovich", "ito"):
        base = pi.sde(dim=1, sigma=0.8, interpretation=interpretation)(
            lambda t, y, sigma: (0 * y, sigma * y)
        )
        found = pi.integrate(base, [2.0], **run, sensitivity="x0").sensitivity["x0"][-1, 0, 0]
        assert abs(found / pi.integrate(base, [2.0], **run).final[0] - 0.5) < 1e-12  # linear in y0


def test_geometric_brownian_motion_has_the_exact_derivatives_of_its_steps():
    """y_n = y_0 prod(1 + mu h + sigma dW): to some roundings of 60 factors."""
    h, n, lanes = RUN["dt"], RUN["n_steps"], 20
    both = growth.tangent(1, ("mu", "sigma"))
    y0 = np.linspace(0.5, 2, lanes)[:, None]
    sol = pi.integrate(both, both.initial_state(y0), **RUN, method="euler_maruyama")
    y, dy = (part[:, 0] for part in both.parts(sol.final))
    dW = np.sqrt(h) * np.array([pi.noise(3, np.arange(lanes), step, 0) for step in range(n)])
    factor = 1 + 0.05 * h + 0.2 * dW
    exact = [y / y0[:, 0], y * np.sum(h / factor, axis=0), y * np.sum(dW / factor, axis=0)]
    # The terms of the last sum cancel.
    np.testing.assert_allclose(dy.T, exact, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(y, y0[:, 0] * np.prod(factor, axis=0), rtol=1e-13)


def test_sensitivities_are_tangents():
    sol = pi.integrate(growth, np.ones((5, 1)), **RUN, sensitivity=("mu", "x0"))
    both = growth.tangent(1, "mu")
    one = pi.integrate(both, both.initial_state(np.ones((5, 1))), **RUN)
    tangents = both.parts(one.final)[1]
    assert np.array_equal(np.squeeze(sol.sensitivity["mu"]), tangents[:, 0, 1])
    assert np.array_equal(np.squeeze(sol.sensitivity["x0"]), tangents[:, 0, 0])
    assert sol.system == growth


def test_a_system_with_tangents_is_one_with_noise():
    both = RUNS["baoab"].tangent(1, "temperature")
    assert (both.noise, both.langevin, both.default_method) == ("additive", True, "baoab")
    again = pickle.loads(pickle.dumps(both))
    run = {**RUN, "n_steps": 5}
    assert np.array_equal(pi.integrate(again, **run).final, pi.integrate(both, **run).final)
    # sqrt(2 friction temperature), friction being 1/2.
    g, slope = both.parts(both.diffusion(0.0, both.initial).sum(axis=-1))
    np.testing.assert_allclose(g[2], np.sqrt(0.01), rtol=1e-14)
    np.testing.assert_allclose(slope[2, -1], 0.5 / np.sqrt(0.01), rtol=1e-14)
