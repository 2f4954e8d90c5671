"""What the gallery shows: titles, what is to be seen, and the code; the last line is the result."""

from typing import NamedTuple


class Figure(NamedTuple):
    """A picture or a table: its title, what one sees in it, and the code that makes it."""

    title: str
    text: str
    code: str


FIGURES = {
    "car_table": Figure(
        "The car, as a table",
        "A force of 10 N moves 1 kg from rest. Explicit Euler lags by half a step, semi-implicit "
        "Euler is as far ahead, velocity Verlet is exact.",
        """\
methods = ["explicit_euler", "semi_implicit_euler", "velocity_verlet"]
c = pi.compare(pi.systems.constant_force, methods=methods, dt=1.0, t_end=10.0)
columns = ["t [s]", "exact", "explicit Euler", "semi-implicit Euler", "velocity Verlet"]
x = [c["velocity_verlet"].exact()[:, 0], *(c[name].x for name in methods)]
rows = [[f"{value:g}" for value in row] for row in zip(c["velocity_verlet"].t, *x)]
pi.analysis.Table("position of the car [m], dt = 1 s", columns, rows)""",
    ),
    "car": Figure(
        "The car",
        "The same as a picture: steps of a second show what each rule makes of a constant force.",
        """\
methods = ["explicit_euler", "semi_implicit_euler", "velocity_verlet"]
c = pi.compare(pi.systems.constant_force, methods=methods, dt=1.0, t_end=10.0)
pi.plots.trajectory(c, marker="o", markersize=4)""",
    ),
    "profile": Figure(
        "Rest, accelerate, coast, brake, rest",
        "Acceleration, velocity and distance of a ride: each curve is the slope of the one below.",
        """\
profile = pi.systems.acceleration_profile
sol = pi.integrate(profile, dt=0.05, t_end=10.0)
fig, axes = plt.subplots(3, 1, sharex=True, figsize=(6.5, 5.5), layout="constrained")
a = profile.acceleration(sol.t, sol.y[:, :1], sol.y[:, 1:])[:, 0]
axes[0].step(sol.t, a, where="post")
axes[0].set_ylabel("acceleration [m/s²]")
axes[1].set_ylabel("velocity [m/s]")
axes[2].set_ylabel("distance [m]")
axes[2].set_xlabel("time [s]")
lines = axes[1].plot(sol.t, sol.v), axes[2].plot(sol.t, sol.x)
axes""",
    ),
    "exploding_spring": Figure(
        "The exploding spring",
        "A damped spring of k = 15 N/m, a hundred steps a second. Explicit Euler gains energy "
        "where the spring loses it; the two others lie on the exact curve.",
        """\
methods = ["explicit_euler", "semi_implicit_euler", "rk4"]
c = pi.compare(pi.systems.spring(k=15, b=0.1), 1000.0, 0.0, methods=methods, dt=0.01, t_end=60.0)
pi.plots.trajectory(c)""",
    ),
    "spring_table": Figure(
        "The damped spring, as a table",
        "What is left after 60 s: only explicit Euler is wrong by more than a per mille.",
        """\
methods = ["explicit_euler", "semi_implicit_euler", "velocity_verlet", "rk4"]
c = pi.compare(pi.systems.spring(k=15, b=0.1), 1000.0, 0.0, methods=methods, dt=0.01, t_end=60.0)
rows = [[name, f"{1 + s.energy_error()[-1]:.9g}", f"{s.x[-1]:.12f}"] for name, s in c.items()]
exact = c["rk4"].exact()[-1]
ratio = pi.systems.spring(k=15, b=0.1).energy(exact) / 7.5e6
rows.append(["exact", f"{ratio:.9g}", f"{exact[0]:.12f}"])
pi.analysis.Table("t = 60 s, dt = 0.01 s", ["method", "E(60)/E(0)", "position [m]"], rows)""",
    ),
    "phase_drift": Figure(
        "Phase drift and energy loss",
        "The picture that this package exists for. Without damping, at two steps: RK4 (blue) keeps "
        "the phase and loses energy, semi-implicit Euler (red) keeps the energy and runs ahead.",
        """\
c = pi.compare(pi.systems.oscillator(omega=15**0.5), 1.0, 0.0, dt=[0.1, 0.25], t_end=90.0)
c.plot()""",
    ),
    "phase_drift_table": Figure(
        "Phase drift and energy loss, as a table",
        "The same in numbers. A positive phase error means: ahead.",
        """\
methods = ["rk4", "semi_implicit_euler", "velocity_verlet"]
rows = []
for square, dt in [(15, 0.1), (15, 0.25), (1, 0.1)]:
    c = pi.compare(pi.systems.oscillator(omega=square**0.5), methods=methods, dt=dt, t_end=90.0)
    for name, s in c.summary().items():
        numbers = s["energy_ratio"], s["max_energy_error"], s["phase_error"]
        rows.append([name, f"{square}", f"{dt}", *(f"{number:.9g}" for number in numbers)])
columns = ["method", "ω²", "dt", "E(90)/E(0)", "max energy error", "phase error [rad]"]
pi.analysis.Table("undamped oscillator, x = 1, v = 0, to t = 90", columns, rows)""",
    ),
    "equal_work": Figure(
        "Who wins at equal work? It depends on how long",
        "All spend the same number of force evaluations. RK4 has the smallest error at first; it "
        "grows for ever. That of the symplectic methods is larger, and stays.",
        """\
methods = ["rk4", "velocity_verlet", "semi_implicit_euler"]
spring = pi.systems.oscillator(omega=15**0.5)
c = pi.compare(spring, methods=methods, dt=0.1, t_end=2000.0, equal_work=True)
ax = pi.plots.error(c, quantity="energy")
ax.set_xscale("log")
ax""",
    ),
    "stability_map": Figure(
        "How stiff may a damped spring be?",
        "Each point is a spring that was really run, ten steps a second: blue ones came to rest, "
        "as springs do, red ones exploded. The line is theory.",
        """\
methods = ["explicit_euler", "semi_implicit_euler", "velocity_verlet", "rk4"]
pi.plots.stability_map(methods, dt=0.1)""",
    ),
    "max_stiffness_table": Figure(
        "The stiffest spring",
        "Found by taking steps: the square roots of k dt² are 2, 2 and 2√2, as in theory; explicit "
        "Euler and the midpoint rule bear no undamped spring at all.",
        """\
methods = ["explicit_euler", "midpoint", "semi_implicit_euler", "velocity_verlet", "rk4"]
pi.analysis.max_stiffness(methods, pi.systems.spring(b=0.0), dt=0.01).table()""",
    ),
    "stability_regions": Figure(
        "Stability regions",
        "Damping to the left, oscillation upwards, in units of the step: stable is inside. Only "
        "RK4 holds a stretch of the vertical axis, where nothing is damped.",
        """\
pi.plots.stability_region("explicit_euler", "midpoint", "rk4")""",
    ),
    "convergence": Figure(
        "Order of accuracy",
        "Half the step, a sixteenth of the error: that is order four. Lines are what was fitted.",
        """\
methods = ["explicit_euler", "semi_implicit_euler", "velocity_verlet", "rk4", "tsitouras54"]
pi.analysis.convergence(pi.systems.kepler, methods).plot()""",
    ),
    "work_precision": Figure(
        "What accuracy costs",
        "On Kepler's ellipse: for a rough orbit anything will do, for ten digits only high orders.",
        """\
methods = ["semi_implicit_euler", "velocity_verlet", "forest_ruth4", "rk4", "tsitouras54"]
pi.analysis.work_precision(pi.systems.kepler, methods, seconds=False).plot()""",
    ),
    "modified_energy": Figure(
        "What semi-implicit Euler really conserves",
        "The energy swings. Another one, a step's size away, stays the same to sixteen digits.",
        """\
sol = pi.integrate(pi.systems.oscillator, dt=0.5, n_steps=60, method="semi_implicit_euler")
fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
lines = ax.plot(sol.t, sol.energy(), ".-", label="energy")
lines += ax.plot(sol.t, pi.analysis.modified_energy(sol), ".-", label="what it conserves")
ax.set(xlabel="time [s]", ylabel="energy", ylim=(0, None))
fig.legend(loc="outside upper right", ncols=2, frameon=False)
ax""",
    ),
    "reversibility": Figure(
        "Replay backwards",
        "A thousand steps round Kepler's ellipse, then the same steps with -dt. Velocity Verlet "
        "comes back the way it went, to rounding; RK4 and semi-implicit Euler do not.",
        """\
fig, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
for method in ["semi_implicit_euler", "rk4", "velocity_verlet"]:
    run = {"dt": 0.05, "n_steps": 1000, "method": method}
    there = pi.integrate(pi.systems.kepler, **run)
    back = pi.integrate(pi.systems.kepler, there.final, t0=50.0, **run | {"dt": -0.05})
    apart = np.linalg.norm(back.x - there.x[::-1], axis=-1)
    ax.semilogy(back.t[1:], apart[1:], color=pi.plots.colour_of(method), label=there.method.title)
ax.invert_xaxis()
ax.set(xlabel="time, running backwards [s]", ylabel="distance from the way there [m]")
fig.legend(loc="outside upper center", ncols=3, frameon=False)
ax""",
    ),
    "lorenz": Figure(
        "The Lorenz attractor",
        "Deterministic and never the same twice.",
        """\
sol = pi.integrate(pi.systems.lorenz, dt=0.01, t_end=39.0)
pi.plots.trajectory(sol, components=("x", "z"), linewidth=0.6)""",
    ),
    "predator_prey": Figure(
        "Predator and prey",
        "The true orbits are closed. Explicit Euler spirals outwards, to extinction and plague.",
        """\
c = pi.compare(pi.systems.lotka_volterra, methods=["rk4", "explicit_euler"], dt=0.01, t_end=15.0)
pi.plots.phase_portrait(c)""",
    ),
    "kepler": Figure(
        "Which method keeps Kepler's ellipse?",
        "A hundred revolutions at 250 force evaluations each. RK4 falls inwards, turn by turn; "
        "velocity Verlet keeps the size of the ellipse and turns it.",
        """\
methods = ["rk4", "velocity_verlet"]
start = [0.4, 0, 0, 2.0]
span = {"dt": 0.1, "t_end": 630.0, "equal_work": True}
c = pi.compare(pi.systems.kepler, start, methods=methods, **span)
fig, axes = plt.subplots(1, 2, figsize=(8.5, 4.2), layout="constrained")
for ax, method in zip(axes, methods):
    pi.plots.trajectory(c[method], ax=ax, legend=False, marker="", linestyle="-", linewidth=0.5)
    ax.set_title(c[method].method.title, loc="left")
axes""",
    ),
    "projectile": Figure(
        "A thrown stone, with and without air",
        "Quadratic drag shortens the throw and steepens the fall.",
        """\
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for system, label in [(pi.systems.projectile, "vacuum"), (pi.systems.projectile_drag, "drag")]:
    sol = pi.integrate(system, dt=0.01, t_end=2.04)
    ax.plot(sol["x"], np.where(sol["z"] >= 0, sol["z"], np.nan), label=label)
ax.set(xlabel="x [m]", ylabel="height [m]", aspect="equal")
ax.legend(frameon=False)
ax""",
    ),
    "spring_3d": Figure(
        "A mass on a spring in space",
        "A rest length makes the force nonlinear, and the path a rosette.",
        """\
sol = pi.integrate(pi.systems.spring_3d, dt=0.01, t_end=40.0)
pi.plots.trajectory(sol, components=("x", "y"), linewidth=0.8)""",
    ),
    "population": Figure(
        "Growth to a limit",
        "The logistic curve, from one to a hundred.",
        """\
pi.plots.trajectory(pi.integrate(pi.systems.logistic, dt=0.2, t_end=12.0))""",
    ),
    "figure_eight": Figure(
        "Three bodies on a figure eight",
        "Three equal masses chase one another on one curve.",
        """\
sol = pi.integrate(pi.systems.three_body, dt=0.01, n_steps=632, method="yoshida6")
fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
for body in "123":
    (line,) = ax.plot(sol["x" + body], sol["y" + body], linewidth=1)
    ax.plot(sol["x" + body][-1], sol["y" + body][-1], "o", color=line.get_color())
ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
ax""",
    ),
    "spinning_box": Figure(
        "A box that turns over",
        "About its middle axis a body cannot spin for long. Games often leave the term out that "
        "turns it over; with it, explicit rules gain energy, and a splitting keeps it.",
        """\
box = pi.systems.rigid_body(gravity=(0, 0, 0), inverse_inertia=(1, 1 / 2, 1 / 3))
fig, (flip, energy) = plt.subplots(2, figsize=(7, 4.4), sharex=True, layout="constrained")
for rule in ("no_gyroscopic", "semi_implicit_euler", "implicit_gyroscopic", "splitting2"):
    pose, twist = [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0.01, 1, 0]
    sol = pi.integrate(box, pose, twist, dt=0.02, t_end=50.0, method="rigid_" + rule)
    flip.plot(sol.t, 1 - 2 * (sol["qx"] ** 2 + sol["qz"] ** 2), label=rule)
    energy.plot(sol.t, sol.energy_error(), label=rule)
flip.set_ylabel("middle axis")
energy.set(xlabel="t [s]", ylabel="(E - E0)/E0")
energy.legend(frameon=False, loc="upper left")
flip""",
    ),
    "pendulums": Figure(
        "Forty thousand pendulums",
        "Each point is a start of its own. The phase error is worst where a pendulum nearly stands "
        "on its head.",
        """\
angle, speed = np.linspace(-3.1, 3.1, 200), np.linspace(-8, 8, 200)[:, np.newaxis]
sol = pi.integrate(pi.systems.pendulum, angle, speed, dt=0.02, n_steps=500, save=10)
pi.plots.heatmap(sol, "phase_error")""",
    ),
    "henon_heiles": Figure(
        "Order and chaos in one galaxy",
        "Points where orbits of one energy pass x = 0: curves are order, dust is chaos.",
        """\
y = np.linspace(-0.4, 0.6, 40)
energy = 1 / 8
vx = np.sqrt(np.maximum(2 * (energy - y**2 / 2 + y**3 / 3), 0))
start = np.stack([0 * y, y, vx, 0 * y], axis=-1)
sol = pi.integrate(pi.systems.henon_heiles, start, dt=0.05, t_end=2000.0, method="forest_ruth4")
section = pi.analysis.poincare_section(sol, "x")
fig, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
ax.scatter(section["y"], section["vy"], s=1, color="k", linewidths=0)
ax.set(xlabel="y", ylabel="vy")
ax""",
    ),
    "basins": Figure(
        "Into which well?",
        "A damped Duffing oscillator with two wells: the colour says in which one a start ends.",
        """\
x, v = np.linspace(-2.5, 2.5, 300), np.linspace(-3, 3, 300)[:, np.newaxis]
wells = pi.systems.duffing(delta=0.15, gamma=0.0)
sol = pi.integrate(wells, x, v, dt=0.05, t_end=100.0, save="final")
pi.plots.heatmap(sol, pi.analysis.basin(sol, components="x").label, label="well")""",
    ),
    "dashboard": Figure(
        "Everything about one comparison",
        "A pendulum of large swings, by three methods.",
        """\
methods = ["rk4", "semi_implicit_euler", "velocity_verlet"]
c = pi.compare(pi.systems.pendulum, 2.5, 0.0, methods=methods, dt=0.04, t_end=40.0)
pi.plots.dashboard(c)""",
    ),
}
