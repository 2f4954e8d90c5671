"""Pictures of regions and intervals of stability, for docs/methods.md."""

from itertools import groupby

import numpy as np
from building.gallery import shrink
from matplotlib import pyplot as plt

import pyintegrate as pi
from pyintegrate.analysis import real_stability_limit
from pyintegrate.analysis.stiffness import spring_growth
from pyintegrate.plots.style import BLUE, METHOD_COLOURS, PALETTE, VERMILLION
from pyintegrate.theory.stability_function import stability_function

SHAPE = 0.8  # height of a panel by its width


def draw(certificates, path):
    tables = [c.method for c in certificates if c.method.family == "explicit_rk"]
    compositions = [c for c in certificates if c.method.family == "composition"]
    orders = [(order, list(group)) for order, group in groupby(tables, lambda m: m.order)]
    figure = plt.figure(figsize=(12, 19), layout="constrained")
    regions, intervals = figure.subfigures(2, 1, height_ratios=(11, 8))
    panels = regions.subplots(3, 3)
    for ax, (order, methods) in zip(panels.flat, orders, strict=True):
        draw_regions(ax, order, methods)
    regions.suptitle("Runge-Kutta: stable where |R(z)| ≤ 1,  z = λ dt", fontsize=13)
    draw_intervals(intervals.subplots(), compositions)
    save(figure, path)


def draw_regions(ax, order, methods):
    """Edges of the regions of one order; methods with the same polynomial share one."""
    shared = {}
    for method in methods:
        shared.setdefault(tuple(stability_function(method)[0]), []).append(method.name)
    handles, extent = [], [0.0, 0.0, 0.0]
    for i, (R, names) in enumerate(shared.items()):
        colour = next((METHOD_COLOURS[n] for n in names if n in METHOD_COLOURS), None)
        colour = colour or PALETTE[(i + 1) % len(PALETTE)]
        edge = region_edge(R)
        ax.contour(*edge, levels=[1.0], colors=[colour], linewidths=1.4,
                   linestyles=["-", "--"][i >= len(PALETTE)])  # fmt: skip
        # Specks far away that belong to no step one would take are left out.
        inside = (edge[2] <= 1) & (edge[0] > -1.1 * real_stability_limit(names[0]))
        left, right = edge[0][inside].min(), edge[0][inside].max()
        top = edge[1][inside].max()
        extent = [min(extent[0], left), max(extent[1], right), max(extent[2], top)]
        label = names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")
        handles.append(plt.Line2D([], [], color=colour, label=label,
                                  linestyle=["-", "--"][i >= len(PALETTE)]))  # fmt: skip
    ax.axhline(0, color="0.85", linewidth=0.8, zorder=0)
    ax.axvline(0, color="0.85", linewidth=0.8, zorder=0)
    # One unit is as long on both axes; the regions lie to the left, the names to the right.
    left, right, top = extent
    width = 1.06 * max(2.3 * top / SHAPE, 1.8 * (right - left))
    ax.set_box_aspect(SHAPE)
    ax.set_xlim(left - 0.04 * width, left + 0.96 * width)
    ax.set_ylim(-SHAPE * width / 2, SHAPE * width / 2)
    ax.set_title(f"order {order}", fontsize=11)
    ax.set_xlabel("Re z")
    ax.set_ylabel("Im z")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(handles=handles, frameon=False, fontsize=8, loc="upper right")


def region_edge(R):
    """A grid around the region, and |R| on it."""
    x, y = np.meshgrid(np.linspace(-15, 3, 901), np.linspace(-8, 8, 801))
    with np.errstate(over="ignore"):
        return x, y, abs(np.polyval([float(c) for c in reversed(R)], x + 1j * y))


def draw_intervals(ax, certificates):
    """How far each composition is stable on the oscillator: a step, and a force evaluation."""
    rows = sorted(certificates, key=lambda c: (c.method.order, c.stability_limit))[::-1]
    for i, c in enumerate(rows):
        ax.barh(i, c.stability_limit, height=0.62, color=BLUE, alpha=0.35, linewidth=0)
        ax.plot(c.stability_limit / c.evaluations, i, "o", color=VERMILLION, markersize=5)
        ax.text(c.stability_limit + 0.04, i, f"{c.stability_limit:.4g}", va="center", fontsize=8)
    ax.set_yticks(range(len(rows)), [f"{c.method.name}  ({c.method.order})" for c in rows])
    ax.tick_params(axis="y", labelsize=8.5, length=0)
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.set_xlabel("ω dt")
    ax.set_title("Compositions (order): stable to ω dt of a step, and of a force evaluation (dot)")
    ax.spines[["top", "right", "left"]].set_visible(False)


# ---- implicit and multistep methods --------------------------------------------------------------


def draw_others(folder):
    """One panel for a method, or for several whose regions are the same; stable is shaded."""
    methods = pi.methods.values()
    implicit = [[m] for m in methods if m.family in ("implicit_rk", "rosenbrock")]
    several = [m for m in methods if m.family == "multistep" and m.derivative == 1]
    figure = plt.figure(figsize=(12, 9.5), layout="constrained")
    draw_panels(figure, merged(implicit), 6)
    figure.suptitle(
        "Implicit Runge-Kutta and Rosenbrock: stable (shaded) where |R(z)| ≤ 1,  z = λ dt"
    )
    save(figure, folder / "stability_regions_implicit.png")
    figure = plt.figure(figsize=(12, 14), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(12, 5))
    draw_panels(top, [[m] for m in several], 6)
    top.suptitle("Multistep: stable (shaded) where no root is outside the unit circle,  z = λ dt")
    draw_positions(bottom.subplots())
    save(figure, folder / "stability_regions_multistep.png")


def save(figure, path):
    figure.savefig(path, dpi=80, metadata={"Software": None})
    plt.close(figure)
    shrink(path)


def merged(groups):
    """Methods with the same growth everywhere, such as those of Gauss and Lobatto IIIA, share."""
    z = np.array([-0.7 + 0.2j, -3 + 2j, 1.1 + 4j])
    found = {}
    for (method,) in groups:
        growth = spring_growth(method, abs(z) ** 2, -2 * z.real)
        found.setdefault(tuple(np.round(growth, 9)), []).append(method)
    return list(found.values())


def draw_panels(figure, groups, columns):
    rows = -(-len(groups) // columns)
    panels = list(figure.subplots(rows, columns).flat)
    for ax, group in zip(panels, groups, strict=False):
        draw_panel(ax, group)
    for ax in panels[len(groups) :]:
        ax.set_visible(False)


def draw_panel(ax, group):
    method = group[0]
    reach = unstable_to(method)
    if reach:  # a hole in the right half plane, or all of it
        x = y = np.linspace(-1, 1, 241) * 0.85 * reach
        x = x + 0.35 * reach
    elif real_stability_limit(method):
        region = pi.analysis.stability_region(method, points=241)
        x, y = region.real, region.imaginary
    else:  # a line
        x = y = np.linspace(-1.9, 1.9, 241)
    z = x + 1j * y[:, np.newaxis]
    growth = np.minimum(spring_growth(method, abs(z) ** 2, -2 * z.real), 1e6)
    ax.contourf(x, y, growth, levels=[-1, 1 + 1e-7], colors=[BLUE], alpha=0.35)
    ax.contour(x, y, growth, levels=[1 + 1e-7], colors=[BLUE], linewidths=1.0)
    ax.axhline(0, color="0.6", linewidth=0.6)
    ax.axvline(0, color="0.6", linewidth=0.6)
    title = method.name.replace("adams_bashforth_moulton", "abm")
    if len(group) > 1:
        title += f"\nand {', '.join(m.name for m in group[1:])}"
    ax.set_title(title, fontsize=7.5, wrap=True)
    ax.set_aspect("equal")
    ax.tick_params(labelsize=6.5)


def unstable_to(method):
    """Where on the positive axis an unbounded region begins again; None where it is bounded."""
    if method.implicit and method.name != "symplectic_dirk4":
        x = np.geomspace(0.5, 60, 400)
        growth = spring_growth(method, x**2, -2 * x)
        if spring_growth(method, 1e12, 2e6) <= 1 + 1e-9:
            unstable = x[growth > 1 + 1e-9]
            return 6.0 if unstable[-1] > 59 else 1.1 * unstable[-1]
    return 4.0 if method.name == "symplectic_dirk4" else None


def draw_positions(ax):
    """How far methods for x'' = a(t, x) are stable on the oscillator."""
    rows = [m for m in pi.methods.values() if m.requires == "second_order"]
    for i, m in enumerate(rows[::-1]):
        ax.barh(i, m.stability_limit, height=0.62, color=BLUE, alpha=0.35, linewidth=0)
        ax.plot(m.stability_limit / m.evaluations, i, "o", color=VERMILLION, markersize=5)
        ax.text(m.stability_limit + 0.04, i, f"{m.stability_limit:.4g}", va="center", fontsize=8)
    names = [f"{m.name}  ({m.order})" for m in rows[::-1]]
    ax.set_yticks(range(len(rows)), names, fontsize=8)
    ax.set_xlabel("ω dt")
    ax.set_title("For x'' = a(t, x) (order): stable to ω dt of a step, and of an evaluation (dot)")
    ax.spines[["top", "right", "left"]].set_visible(False)
