"""Wrong arguments of analyses and pictures: what is refused, by its name."""

import re

import numpy as np
import pytest

import pyintegrate as pi

plt = pytest.importorskip("matplotlib.pyplot")

SPRING = pi.systems.spring
PART = pi.integrate(SPRING, np.ones(3), 0.0, dt=0.1, n_steps=9, components=["v"])
ACROSS = {"band": pi.across.quantiles("x", [0.1, 0.9])}
WHOLE = pi.integrate(SPRING, np.ones(3), 0.0, dt=0.1, n_steps=99, across=ACROSS)
ORBIT = pi.systems.van_der_pol
ANALYSIS, PLOTS = pi.analysis, pi.plots
RESULTS = {
    "basin_map": "Basins", "bifurcation": "Bifurcation", "branches": "EquilibriumBranches",
    "chaos_map": "ChaosMap", "convergence": "Convergence", "equilibria": "Equilibria",
    "fitted": "Fit", "frequencies": "Frequencies", "ftle": "FlowMap", "scan": "Scan",
    "lyapunov": "LyapunovExponents", "passages": "Passages", "return_map": "ReturnMap",
    "section": "Section",
    "work_precision": "WorkPrecision",
}  # fmt: skip


@pytest.mark.parametrize(("call", "words"), [
    (lambda: ANALYSIS.convergence(SPRING, 3), "methods must be names or Methods, got 3"),
    (lambda: ANALYSIS.max_stiffness(3, SPRING, dt=0.1), "methods must be names or Methods, got 3"),
    (lambda: PLOTS.stability_region(3), "methods must be names or Methods, got 3"),
    (lambda: ANALYSIS.max_stiffness("rk4", SPRING, dt="a"), "dt must hold real numbers, got <U1"),
    (lambda: ANALYSIS.max_stiffness("rk4", SPRING, dt=0.0), "dt must be finite and non-zero"),
    (lambda: ANALYSIS.convergence(SPRING, dt="a", t_end=1.0), "dt must hold real numbers"),
    (lambda: ANALYSIS.convergence(SPRING, t_end="a"), "t_end must hold real numbers, got <U1"),
    (lambda: ANALYSIS.convergence(SPRING, steps=[[1, 2], [3]]), "steps must be a regular array"),
    (lambda: ANALYSIS.stability_region("rk4", extent="a"), "extent must hold real numbers"),
    (lambda: ANALYSIS.stability_region("rk4", points="a"), "points must be an integer, got 'a'"),
    (lambda: PLOTS.trajectory(PART, "x"), "got 'x': a component is named by components='x'"),
    (lambda: PLOTS.trajectory(PART, ax="a"), "ax must be axes, as those of plt.subplots()"),
    (lambda: ANALYSIS.energy_drift(PART), "energy_drift needs all components, and v were saved"),
    (lambda: ANALYSIS.phase_drift(PART), "the phase needs all components, and v were saved"),
    (lambda: PLOTS.heatmap(pi.compare(SPRING, dt=0.1, n_steps=1)), "of class Solution, got Comp"),
    (lambda: ANALYSIS.bifurcation(SPRING, [1, 2], "x", period=1.0, transient=1.0, dt=0.1),
     "axis must map names to values"),
    (lambda: ANALYSIS.suitable_methods(3), "system must be a System, got int"),
    (lambda: ANALYSIS.periodic_orbits(ORBIT, [2.0, 0.0], 6.5, atol="a"), "atol must hold real"),
    (lambda: ANALYSIS.periodic_orbits(ORBIT, [2.0, 0.0], 6.5, atol=[1e-9, 1e-9]),
     "atol must be one number, got an array of shape (2,)"),
    (lambda: ANALYSIS.frequencies(WHOLE, signals=3), "signals must be names, pairs of names or fu"),
    (lambda: ANALYSIS.frequencies(WHOLE, signals=[3]), "components must be some of x, v, each"),
    (lambda: PLOTS.fan(WHOLE, paths=-1), "paths must be at least 0, got -1"),
    (lambda: PLOTS.energy(WHOLE, title=3), "title must be a string, got 3"),
    (lambda: PLOTS.energy(WHOLE, labels=3), "labels: expected 1 texts, got 3"),
    (lambda: PLOTS.energy(WHOLE, labels=[3]), "labels: expected 1 texts, got [3]"),
    (lambda: PLOTS.energy(WHOLE, legend=np.ones(2)), "legend must be True or False"),
    (lambda: PLOTS.animate(WHOLE, title=3), "title must be a string, got 3"),
    (lambda: PLOTS.animate(WHOLE, seconds=1e300), "seconds must be at most 3600"),
    (lambda: PLOTS.error(WHOLE, reference=3), "takes a Solution as reference, got int"),
    (lambda: PLOTS.fan(WHOLE, name=np.ones(2)), "name must be a string"),
    (lambda: PLOTS.bifurcation(diagram=3), "diagram must be of class Bifurcation, got int"),
    (lambda: PLOTS.comparison(pi.compare(SPRING, dt=0.1, n_steps=1), subtitle=3), "subtitle must"),
    (lambda: PLOTS.comparison(pi.compare(SPRING, dt=0.1, n_steps=1), ax=[3] * 4), "ax must be ax"),
    (lambda: PLOTS.stability_map(dt=0), "dt must be a positive number, got 0"),
    (lambda: PLOTS.phase_plane(ORBIT, {}, length=np.ones(2)), "length must be one number"),
    (lambda: ANALYSIS.bifurcation(ORBIT, {"mu": [1]}, "x", section=[], transient=1.0, dt=0.1),
     "section must be 'maxima', 'minima', 'extrema' or a quantity"),
    (lambda: ANALYSIS.bifurcation(ORBIT, {"mu": [1]}, "x", transient=1.0, dt=None), "dt must hold"),
    (lambda: ANALYSIS.crossings(ORBIT, period="a", dt=0.1, t_end=1.0), "period must hold real"),
    (lambda: ANALYSIS.crossings(ORBIT, "x", params=3, dt=0.1, t_end=1.0), "params must map names"),
    (lambda: ANALYSIS.attractors(ORBIT, {"x": (-1, 1)}, dt=None), "dt must hold real numbers"),
    (lambda: ANALYSIS.attractors(ORBIT, {"x": (-1, 1)}, dt=0.1, energy="a"), "energy must hold"),
    (lambda: ANALYSIS.continue_equilibria(ORBIT, [], (0, 1), [0, 0]), "parameter must name a"),
    (lambda: ANALYSIS.basin(WHOLE, "a"), "attractors must hold real numbers"),
    (lambda: ANALYSIS.convergence(SPRING, dt=0.1, t0="a", t_end=1.0), "t0 must hold real numbers"),
    (lambda: ANALYSIS.poincare_section(WHOLE, "x", direction=[]), "direction must be an integer"),
    (lambda: ANALYSIS.poincare_section(WHOLE, []), "has no component []"),
    (lambda: pi.methods.table(order=np.ones(2)), "no method has order=array([1., 1.])"),
    (lambda: pi.compare(SPRING, dt=0.1, n_steps=1, save=[[1], [2, 3]]), "save must be a regular"),
    (lambda: pi.fit(SPRING, [0, 1], [0, 1], free=["k"], sigma=[[1], [2, 3]]), "sigma must be a"),
    (lambda: pi.methods.table(order=True), "no method has order=True"),
    (lambda: pi.methods.table(symplectic=1), "no method has symplectic=1"),
    (lambda: ANALYSIS.crossings(ORBIT, "x", phase=1, dt=0.1, t_end=1), "phase = 1.0 is of a"),
    (lambda: ANALYSIS.attractors(ORBIT, {"x": (-1, 1)}, dt=0.1, period=1, every=3), "give one"),
    (lambda: pi.across.quantiles("x", 0.5, exact=[]), "exact must be True or False, got []"),
    (lambda: ANALYSIS.period_error(PART), "the phase needs all components, and v were saved"),
])  # fmt: skip
def test_what_is_refused_is_named(call, words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        call()


@pytest.mark.parametrize("name", RESULTS)
def test_pictures_of_results_refuse_anything_else(name):
    message = rf"must be of class {RESULTS[name]}, got FixedSolution: it is what pi\.[\w.]+ returns"
    with pytest.raises(TypeError, match=message):
        getattr(PLOTS, name)(PART)
    assert not plt.get_fignums()
