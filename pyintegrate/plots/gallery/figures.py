"""The figures of the gallery: title, caption and code, whose last line is the result."""

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
ax = pi.plots.trajectory(c, marker="o", markersize=4)
ax.set_title("constant force: who is on the exact parabola?", loc="left")
ax""",
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
axes[0].set_title("each curve is the slope of the one below", loc="left")
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
ax = pi.plots.trajectory(c)
ax.set_title("a damped spring comes to rest; explicit Euler's explodes", loc="left")
ax""",
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
c.plot(title="RK4 keeps the phase and loses energy, semi-implicit Euler the other way round")""",
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
ax.set_title("equal work: RK4 wins short runs, symplectic methods long ones", loc="left")
ax""",
    ),
    "stability_map": Figure(
        "How stiff may a damped spring be?",
        "Each point is a spring that was really run, ten steps a second: blue ones came to rest, "
        "as springs do, red ones exploded. The line is theory.",
        """\
methods = ["explicit_euler", "semi_implicit_euler", "velocity_verlet", "rk4"]
axes = pi.plots.stability_map(methods, dt=0.1)
axes[0].figure.suptitle("which springs explode at ten steps a second (line: theory)")
axes""",
    ),
    "max_stiffness_table": Figure(
        "The stiffest spring",
        "Found by taking steps: the square roots of k dt² are 2, 2 and 2√2, as in theory; explicit "
        "Euler and the midpoint rule are unstable for every undamped spring.",
        """\
methods = ["explicit_euler", "midpoint", "semi_implicit_euler", "velocity_verlet", "rk4"]
pi.analysis.max_stiffness(methods, pi.systems.spring(b=0.0), dt=0.01).table()""",
    ),
    "stability_regions": Figure(
        "Stability regions",
        "Damping to the left, oscillation upwards, in units of the step: stable is inside. Only "
        "RK4 holds a stretch of the vertical axis, where nothing is damped.",
        """\
ax = pi.plots.stability_region("explicit_euler", "midpoint", "rk4")
ax.set_title("stable inside", loc="left")
ax""",
    ),
    "convergence": Figure(
        "Order of accuracy",
        "Half the step, a sixteenth of the error: that is order four. Lines are what was fitted.",
        """\
methods = ["explicit_euler", "semi_implicit_euler", "velocity_verlet", "rk4", "tsitouras54"]
ax = pi.analysis.convergence(pi.systems.kepler, methods).plot()
ax.set_title("the slope is the order (Kepler's ellipse)", loc="left")
ax""",
    ),
    "work_precision": Figure(
        "What accuracy costs",
        "On Kepler's ellipse: for a rough orbit anything will do, for ten digits only high orders.",
        """\
methods = ["semi_implicit_euler", "velocity_verlet", "forest_ruth4", "rk4", "tsitouras54"]
ax = pi.analysis.work_precision(pi.systems.kepler, methods, seconds=False).plot()
ax.set_title("the more digits, the higher the order that pays (Kepler's ellipse)", loc="left")
ax""",
    ),
    "modified_energy": Figure(
        "What semi-implicit Euler really conserves",
        "The energy swings. Another one, a step's size away, stays the same to sixteen digits.",
        """\
sol = pi.integrate(pi.systems.oscillator, dt=0.5, n_steps=60, method="semi_implicit_euler")
fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
lines = ax.plot(sol.t, sol.energy(), ".-", label="energy")
lines += ax.plot(sol.t, pi.analysis.modified_energy(sol), "x--", label="modified energy")
ax.set(xlabel="time [s]", ylabel="energy of 1 kg [J]", ylim=(0, 0.75))
ax.set_title("semi-implicit Euler conserves another energy", loc="left")
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
    ax.semilogy(back.t, apart, color=pi.plots.colour_of(method), label=there.method.title)
ax.set(xlim=(50, 0), ylim=(1e-17, 10))
ax.set(xlabel="time, running backwards [s]", ylabel="distance from the way there [m]")
ax.set_title("played backwards, only a symmetric method retraces its way", loc="left")
fig.legend(loc="outside lower center", ncols=3, frameon=False)
ax""",
    ),
    "lorenz": Figure(
        "The Lorenz attractor",
        "Deterministic and never the same twice.",
        """\
sol = pi.integrate(pi.systems.lorenz, dt=0.01, t_end=39.0)
ax = pi.plots.trajectory(sol, components=("x", "z"), linewidth=0.6)
ax.set_title("Lorenz attractor, t = 0 to 39: no turn twice", loc="left")
ax""",
    ),
    "predator_prey": Figure(
        "Predator and prey",
        "The true orbits are closed. Explicit Euler spirals outwards, to extinction and plague.",
        """\
c = pi.compare(pi.systems.lotka_volterra, methods=["rk4", "explicit_euler"], dt=0.01, t_end=15.0)
ax = pi.plots.phase_portrait(c)
ax.set_title("true orbits are closed; explicit Euler spirals out", loc="left")
ax""",
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
fig, axes = plt.subplots(1, 2, figsize=(8.5, 4.4), layout="constrained")
for ax, method, fate in zip(axes, methods, ["falls inwards", "turns the ellipse"]):
    pi.plots.trajectory(c[method], ax=ax, legend=False, marker="", linestyle="-", lw=0.2)
    ax.set(adjustable="box", xlim=(-1.75, 0.55), ylim=(-1.15, 1.15))
    ax.set_title(f"{c[method].method.title} {fate}", loc="left")
fig.suptitle("a hundred revolutions, 250 force evaluations each (grey: exact)", fontsize=10)
axes""",
    ),
    "projectile": Figure(
        "A thrown stone, with and without air",
        "Quadratic drag shortens the throw and steepens the fall.",
        """\
fig, ax = plt.subplots(figsize=(7, 2.7), layout="constrained")
for name, label, line in [("projectile", "vacuum", "-"), ("projectile_drag", "drag", "--")]:
    sol = pi.integrate(pi.systems[name], dt=0.01, t_end=2.04)
    ax.plot(sol["x"], np.where(sol["z"] >= 0, sol["z"], np.nan), line, label=label)
ax.set(xlabel="x [m]", ylabel="height [m]", aspect="equal")
ax.set_title("air shortens a throw and steepens its fall", loc="left")
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0))
ax""",
    ),
    "spring_3d": Figure(
        "A mass on a spring in space",
        "A rest length makes the force nonlinear, and the path a rosette.",
        """\
sol = pi.integrate(pi.systems.spring_3d, dt=0.01, t_end=40.0)
ax = pi.plots.trajectory(sol, components=("x", "y"), linewidth=0.8)
ax.set_title("a spring with a rest length draws a rosette", loc="left")
ax""",
    ),
    "population": Figure(
        "Growth to a limit",
        "The logistic curve, from one to a hundred.",
        """\
ax = pi.plots.trajectory(pi.integrate(pi.systems.logistic, dt=0.2, t_end=12.0))
ax.set(title="a population grows from 1 to its limit, 100", ylabel="individuals")
ax""",
    ),
    "figure_eight": Figure(
        "Three bodies on a figure eight",
        "Three equal masses chase one another on one curve.",
        """\
sol = pi.integrate(pi.systems.three_body, dt=0.01, n_steps=632, method="yoshida6")
fig, ax = plt.subplots(figsize=(6.5, 2.9), layout="constrained")
for body, marker in zip("123", "os^"):
    (line,) = ax.plot(sol["x" + body], sol["y" + body], linewidth=1)
    ax.plot(sol["x" + body][-1], sol["y" + body][-1], marker, color=line.get_color())
ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
ax.set_title("three bodies chase one another on one curve", loc="left")
ax""",
    ),
    "spinning_box": Figure(
        "A box that turns over",
        "About its middle axis a body cannot spin for long. Games often leave the term out that "
        "turns it over; with it, explicit rules gain energy, implicit ones lose some, and a "
        "splitting keeps it. Four steps a second; grey is the true motion.",
        """\
box = pi.systems.rigid_body(gravity=(0, 0, 0), inverse_inertia=(1, 1 / 2, 1 / 3))
start = [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0.01, 1, 0]
tilt = lambda sol: 1 - 2 * (sol["qx"] ** 2 + sol["qz"] ** 2)
true = pi.integrate(box, *start, dt=0.01, t_end=80.0, method="rigid_splitting4")
fig, axes = plt.subplots(4, figsize=(7, 5.6), sharex=True, sharey=True, layout="constrained")
rules = "no_gyroscopic", "semi_implicit_euler", "implicit_gyroscopic", "splitting2"
for ax, rule in zip(axes, rules):
    sol = pi.integrate(box, *start, dt=0.25, t_end=80.0, method="rigid_" + rule)
    ax.plot(true.t, tilt(true), color="0.75", linewidth=4)
    ax.plot(sol.t, tilt(sol), color="C0")
    ax.set_title(sol.method.title, loc="left", size=10)
    ax.set_title(f"energy × {1 + sol.energy_error()[-1]:.2f}", loc="right", size=10)
    ax.set(yticks=[-1, 0, 1])
axes[-1].set_xlabel("time [s]")
fig.supylabel("cosine of its tilt")
fig.suptitle("spinning about its middle axis, a box turns over")
axes""",
    ),
    "pendulums": Figure(
        "Forty thousand pendulums",
        "Each point is a start of its own. The phase error is worst where a pendulum nearly stands "
        "on its head.",
        """\
angle, speed = np.linspace(-3.1, 3.1, 200), np.linspace(-8, 8, 200)[:, np.newaxis]
sol = pi.integrate(pi.systems.pendulum, angle, speed, dt=0.02, n_steps=500, save=10)
ax = pi.plots.heatmap(sol, "phase_error")
ax.set_title("RK4, 500 steps: worst where a pendulum nearly stands on its head", loc="left", size=9)
ax""",
    ),
    "fits": Figure(
        "What made this motion?",
        "Noisy recordings of a damped pendulum, and the motions that fit them, with bands of 95 %.",
        """\
t = np.linspace(0, 8, 60)
true = pi.systems.driven_pendulum(amplitude=0.0, omega0=3.0, damping=[0.2, 1.0])
data = pi.solve(true, 1.0, 0.0, t_end=8.0, times=t).x
data = data + 0.1 * np.random.default_rng(1).standard_normal(data.shape)
guess = pi.systems.driven_pendulum(amplitude=0.0, omega0=2.8, damping=0.5)
found = pi.fit(
    guess,
    t,
    data,
    observe="theta",
    free={"omega0": (1, 5), "damping": (0, 2)},
    x0=0.9,
    v0=0.0,
    free_start=True,
)
fig, axes = plt.subplots(2, figsize=(7, 4.4), sharex=True, layout="constrained")
for i, ax in enumerate(axes):
    value, error = found.parameters["damping"][i], found.standard_errors["damping"][i]
    found.plot(which=i, ax=ax, legend=False, title=f"damping {value:.3f} ± {error:.3f}")
axes[0].set_xlabel("")
axes""",
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
ax.set(xlabel="y", ylabel="vy", title="curves are order, dust is chaos")
ax""",
    ),
    "basins": Figure(
        "Into which well?",
        "A damped Duffing oscillator with two wells: the colour says in which one a start ends.",
        """\
x, v = np.linspace(-2.5, 2.5, 300), np.linspace(-3, 3, 300)[:, np.newaxis]
wells = pi.systems.duffing(delta=0.15, gamma=0.0)
sol = pi.integrate(wells, x, v, dt=0.05, t_end=100.0, save="final")
pi.analysis.basin(sol, components="x").plot(title="which well does each start end in?")""",
    ),
    "dashboard": Figure(
        "Everything about one comparison",
        "A pendulum of large swings, by three methods.",
        """\
methods = ["rk4", "semi_implicit_euler", "velocity_verlet"]
c = pi.compare(pi.systems.pendulum, 2.5, 0.0, methods=methods, dt=0.04, t_end=40.0)
pi.plots.dashboard(c, title="a pendulum of large swings, by three methods")""",
    ),
    "fan": Figure(
        "What do ten thousand futures do?",
        "Growth of 5 % a year with a deviation of 20 %: bands of quantiles from the loop, in "
        "memory that does not grow with the batch. Most end below the mean.",
        """\
growth = pi.systems.geometric_brownian_motion(mu=0.05, sigma=0.2)
across = {"band": pi.across.quantiles("y", [0.05, 0.25, 0.5, 0.75, 0.95])}
sol = pi.integrate(growth, np.ones((10_000, 1)), dt=1 / 12, n_steps=240, seed=1, across=across)
pi.plots.fan(sol, "band", title="growth by 5 % a year, give or take 20 %")""",
    ),
    "strong_order": Figure(
        "How far are paths from the exact ones?",
        "The same noise at every step, against the exact path of geometric Brownian motion.",
        """\
W = np.sqrt(1 / 256) * sum(pi.noise(7, np.arange(2000), n) for n in range(256))
wild, k = pi.systems.geometric_brownian_motion(mu=0.5, sigma=0.8), 2 ** np.arange(6)
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for method in ["euler_maruyama", "milstein", "sriw1"]:
    runs = [
        pi.integrate(
            wild,
            np.ones((2000, 1)),
            dt=n / 256,
            n_steps=256 // n,
            substeps=int(n),
            seed=7,
            method=method,
            save="final",
        )
        for n in k
    ]
    errors = [np.sqrt(np.mean((sol.final[:, 0] - np.exp(0.18 + 0.8 * W)) ** 2)) for sol in runs]
    ax.loglog(k / 256, errors, "o-", label=f"{method}, {pi.methods[method].strong_order:g}")
fig.legend(title="strong order", loc="outside right upper")
ax.set(xlabel="step", ylabel="error of a path", title="the same paths in longer steps")
ax""",
    ),
    "escape": Figure(
        "How long until noise drives it over?",
        "Mean times from a valley to the top of its barrier, Kramers' question. Chords between the "
        "steps miss crossings; Brownian bridges do not.",
        """\
kT = np.array([0.08, 0.1, 0.15, 0.25, 0.5, 0.8])[:, np.newaxis]
start = np.full((6, 2000, 1), -1.0)
z = np.linspace(-4, 0, 4001)
V = z**4 / 4 - z**2 / 2
inner = np.cumsum(np.exp(-V / kT), axis=1) * np.exp(V / kT)
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.semilogy(1 / kT, inner[:, z >= -1].sum(axis=1) * 1e-6 / kT[:, 0], "k", label="exact")
ax.semilogy(1 / kT, np.pi / np.sqrt(2) * np.exp(0.25 / kT), "k:", label="Kramers' limit")
for bridge, mark in [(True, "o"), (False, "x")]:
    top = {"top": pi.event("y", direction=1, stop=True, keep=0, bridge=bridge)}
    sol = pi.integrate(
        pi.systems.double_well(temperature=kT),
        start,
        dt=0.02,
        n_steps=50_000,
        seed=3,
        save="final",
        events=top,
    )
    ax.semilogy(1 / kT, sol.stopped_at.mean(axis=1), mark, label=f"bridge={bridge}")
fig.legend(loc="outside right upper")
ax.set(xlabel="1 / kT", ylabel="mean time to the top", title="escape from a valley")
ax""",
    ),
}
