"""What descriptors do not say of systems: equations, exact solutions, a picture, a word."""

# name: (equation in LaTeX, its exact solution or conserved quantity in LaTeX, what it is good for)
EQUATIONS = {
    "constant_force": (
        r"m \ddot x = F",
        r"x(t) = x_0 + v_0 t + \frac{F}{2m} t^2",
        "A car under a constant force: the simplest motion on which rules already differ.",
    ),
    "acceleration_profile": (
        r"\ddot x = a_j \quad \text{for } t_j \le t < t_{j+1}",
        r"v(t) = v_0 + \int_0^t a\,\mathrm{d}s, \qquad x(t) = x_0 + \int_0^t v\,\mathrm{d}s",
        "Rest, accelerate, coast, brake: a ride whose acceleration is given piece by piece.",
    ),
    "oscillator": (
        r"\ddot x = -\omega^2 x",
        r"x(t) = x_0 \cos \omega t + \frac{v_0}{\omega} \sin \omega t",
        "The measure of all integrators: energy and phase are known at every moment.",
    ),
    "spring": (
        r"m \ddot x = -k x - b \dot x",
        r"x(t) = e^{-\gamma t} \Bigl( x_0 \cos \Omega t + \frac{v_0 + \gamma x_0}{\Omega} "
        r"\sin \Omega t \Bigr), \qquad \gamma = \frac{b}{2m}, \qquad "
        r"\Omega^2 = \frac{k}{m} - \gamma^2",
        "A damped spring, which comes to rest unless a method makes it explode.",
    ),
    "momentum_spring": (
        r"\dot x = \mu\, p, \qquad \dot p = -k x - b \mu\, p",
        r"x(t) \text{ as of the spring with } m = 1/\mu, \; p = m v",
        "A spring in positions and momenta; an inverse mass of 0 is a wall.",
    ),
    "spring_3d": (
        r"m \ddot r = -k \bigl(|r| - \ell\bigr) \frac{r}{|r|} - b\, \dot r + m g",
        r"E = \frac{m}{2} |v|^2 + \frac{k}{2} \bigl(|r| - \ell\bigr)^2 - m\, g \cdot r, \qquad "
        r"L = m\, r \times v",
        "A mass on a spring in space; a rest length makes its path a rosette.",
    ),
    "projectile": (
        r"\ddot r = (0, 0, -g)",
        r"r(t) = r_0 + v_0 t - \tfrac12 (0, 0, g)\, t^2",
        "A stone without air: a parabola.",
    ),
    "projectile_drag": (
        r"m \ddot r = -c\, |\dot r|\, \dot r - (0, 0, m g)",
        r"v_\infty = \sqrt{m g / c}",
        "A stone in air: no closed form, but the speed at which it falls in the end.",
    ),
    "pendulum": (
        r"\ddot \theta = -\frac{g}{\ell} \sin \theta",
        r"\sin \frac{\theta(t)}{2} = k\, \mathrm{sn}\Bigl( \sqrt{g/\ell}\,(t - t_*),\, k \Bigr), "
        r"\qquad T = 4 \sqrt{\ell/g}\; K(k)",
        "Swings of any size, and turns over the top, by elliptic functions.",
    ),
    "driven_pendulum": (
        r"\ddot \theta = -\omega_0^2 \sin \theta - \delta\, \dot \theta + A \cos \Omega t",
        r"\dot E = -\delta\, \omega^2 + A\, \omega \cos \Omega t",
        "Damped and driven: periods double, and chaos begins.",
    ),
    "double_pendulum": (
        r"\ell_1 \ddot\theta_1 + \mu\, \ell_2 \ddot\theta_2 \cos\Delta = "
        r"-\mu\, \ell_2\, \omega_2^2 \sin\Delta - g \sin\theta_1, \qquad "
        r"\ell_1 \ddot\theta_1 \cos\Delta + \ell_2 \ddot\theta_2 = "
        r"\ell_1\, \omega_1^2 \sin\Delta - g \sin\theta_2",
        r"\Delta = \theta_1 - \theta_2, \qquad \mu = \frac{m_2}{m_1 + m_2}, \qquad "
        r"E = \text{const}",
        "Two rods, and chaos that can be built from wood.",
    ),
    "duffing": (
        r"\ddot x = -\delta\, \dot x - \alpha x - \beta x^3 + \gamma \cos \omega t",
        r"x = \pm\sqrt{-\alpha/\beta} \quad \text{at rest, without drive}",
        "A beam between two magnets: two wells, and jumps between them.",
    ),
    "van_der_pol": (
        r"\ddot x = \mu\, (1 - x^2)\, \dot x - x",
        r"T \approx 2\pi \;(\mu \to 0), \qquad T \approx (3 - 2\ln 2)\, \mu \;(\mu \to \infty)",
        "A limit cycle; with a large mu the stiff problem that every solver is tried on.",
    ),
    "kepler": (
        r"\ddot r = -\mu \frac{r}{|r|^3}",
        r"E - e \sin E = \sqrt{\mu / a^3}\,(t - t_0), \qquad "
        r"r = a \bigl( \cos E - e,\; \sqrt{1 - e^2}\, \sin E \bigr)",
        "A planet: ellipses, parabolas and hyperbolas, with all their invariants.",
    ),
    "henon_heiles": (
        r"\ddot x = -x - 2 \lambda x y, \qquad \ddot y = -y - \lambda (x^2 - y^2)",
        r"E = \tfrac12 (v_x^2 + v_y^2 + x^2 + y^2) + \lambda \Bigl( x^2 y - \tfrac13 y^3 \Bigr)",
        "A star in a galaxy: order and chaos side by side; above E = 1/6 it escapes.",
    ),
    "lorenz": (
        r"\dot x = \sigma (y - x), \qquad \dot y = x (\rho - z) - y, \qquad \dot z = x y - \beta z",
        r"\lambda_1 + \lambda_2 + \lambda_3 = -(\sigma + 1 + \beta)",
        "The butterfly: deterministic, and never twice the same.",
    ),
    "rossler": (
        r"\dot x = -y - z, \qquad \dot y = x + a y, \qquad \dot z = b + z (x - c)",
        r"\varphi = \mathrm{atan2}(y, x) \text{ grows along the motion}",
        "The simplest folded band of chaos.",
    ),
    "lotka_volterra": (
        r"\dot x = a x - b x y, \qquad \dot y = -c y + d x y",
        r"d\, x - c \ln x + b\, y - a \ln y = \text{const}",
        "Predator and prey: closed orbits that explicit Euler opens.",
    ),
    "logistic": (
        r"\dot n = r n \Bigl( 1 - \frac{n}{K} \Bigr)",
        r"n(t) = \frac{K}{1 + (K/n_0 - 1)\, e^{-r t}}",
        "Growth to a limit.",
    ),
    "three_body": (
        r"\ddot x_i = g \sum_{j \ne i} m_j \frac{x_j - x_i}{|x_j - x_i|^3}",
        r"\sum_i m_i v_i, \quad \sum_i m_i\, x_i \times v_i, \quad E",
        "Three bodies in a plane; by default on the figure eight.",
    ),
    "n_body": (
        r"\ddot x_i = g \sum_{j \ne i} m_j \frac{x_j - x_i}"
        r"{\bigl( |x_j - x_i|^2 + \varepsilon^2 \bigr)^{3/2}}",
        r"\sum_i m_i v_i, \quad \sum_i m_i\, x_i \times v_i, \quad E",
        "Any number of bodies in space, the outer planets among them.",
    ),
    "rigid_body": (
        r"m \ddot r = F, \qquad \dot q = \tfrac12\, (0, \omega)\, q, \qquad "
        r"I \dot \omega + \omega \times I \omega = \tau",
        r"L = I \omega, \quad T = \tfrac12\, \omega \cdot I \omega "
        r"\quad \text{of a free body; a symmetric top in closed form}",
        "A box that turns in space: forces, springs, drag and damping act on it.",
    ),
}

DEFAULT = "ax = pi.plots.trajectory(sol, figsize=(5.2, 3.2))"
# name: (arguments of integrate, lines that draw `sol`)
PICTURES = {
    "constant_force": ("dt=0.1, t_end=10.0", DEFAULT),
    "acceleration_profile": ("dt=0.05, t_end=10.0", DEFAULT),
    "oscillator": ("dt=0.05, t_end=20.0", DEFAULT),
    "spring": ("dt=0.02, t_end=30.0", DEFAULT),
    "momentum_spring": (
        "dt=0.02, t_end=5.0", "ax = pi.plots.phase_portrait(sol, figsize=(4.4, 3.6))",
    ),
    "spring_3d": (
        "dt=0.01, t_end=40.0",
        'ax = pi.plots.trajectory(sol, components=("x", "y"), linewidth=0.9, figsize=(4.4, 4.0))',
    ),
    "projectile": (
        "dt=0.01, t_end=2.0",
        'ax = pi.plots.trajectory(sol, components=("x", "z"), figsize=(5.2, 2.8))',
    ),
    "projectile_drag": (
        "dt=0.01, t_end=1.6",
        'ax = pi.plots.trajectory(sol, components=("x", "z"), figsize=(5.2, 2.8))',
    ),
    "pendulum": (
        "np.linspace(0.5, 3.1, 8), 0.0, dt=0.02, t_end=6.0",
        "ax = pi.plots.phase_portrait(sol, figsize=(5.2, 3.4))",
    ),
    "driven_pendulum": ("dt=0.02, t_end=120.0", DEFAULT),
    "double_pendulum": (
        "dt=0.005, t_end=12.0",
        'x = np.sin(sol["theta1"]) + np.sin(sol["theta2"])\n'
        'y = -np.cos(sol["theta1"]) - np.cos(sol["theta2"])\n'
        "fig, ax = plt.subplots(figsize=(4.4, 4.0))\n"
        'ax.plot(x, y, lw=0.9, color="#0072b2")\n'
        'ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="path of the lower mass")',
    ),
    "duffing": (
        "dt=0.02, t_end=200.0",
        "ax = pi.plots.phase_portrait(sol, linewidth=0.7, figsize=(4.8, 3.6))",
    ),
    "van_der_pol": (
        "[[0.1, 0.0], [3.0, 4.0], [-3.0, -4.0]], dt=0.02, t_end=25.0",
        "ax = pi.plots.phase_portrait(sol, figsize=(4.8, 3.8))",
    ),
    "kepler": ("dt=0.02, t_end=6.28", "ax = pi.plots.trajectory(sol, figsize=(4.8, 3.8))"),
    "henon_heiles": (
        "dt=0.02, t_end=150.0, method=\"forest_ruth4\"",
        "ax = pi.plots.trajectory(sol, linewidth=0.6, figsize=(4.4, 4.0))",
    ),
    "lorenz": (
        "dt=0.01, t_end=39.0",
        'ax = pi.plots.trajectory(sol, components=("x", "z"), linewidth=0.6, figsize=(4.8, 3.8))',
    ),
    "rossler": (
        "dt=0.02, t_end=150.0",
        'ax = pi.plots.trajectory(sol, components=("x", "y"), linewidth=0.6, figsize=(4.4, 4.0))',
    ),
    "lotka_volterra": (
        "dt=0.01, t_end=15.0", "ax = pi.plots.phase_portrait(sol, figsize=(4.8, 3.6))",
    ),
    "logistic": ("dt=0.1, t_end=12.0", DEFAULT),
    "three_body": (
        "dt=0.01, n_steps=632, method=\"yoshida6\"",
        "ax = pi.plots.trajectory(sol, figsize=(5.2, 3.0))",
    ),
    "n_body": (
        "dt=50.0, n_steps=1250, method=\"velocity_verlet\"",
        'ax = pi.plots.trajectory(sol, components=("x", "y"), figsize=(4.8, 4.4))',
    ),
    "rigid_body": (
        "[0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0.01, 1, 0], dt=0.02, t_end=60.0, "
        'method="rigid_splitting2"',
        'fig, ax = plt.subplots(figsize=(5.2, 3.0))\n'
        'ax.plot(sol.t, 1 - 2 * (sol["qx"] ** 2 + sol["qz"] ** 2), color="#0072b2")\n'
        'ax.set(xlabel="time [s]", ylabel="cosine of its tilt", yticks=[-1, 0, 1])',
    ),
}  # fmt: skip
MADE = {
    "n_body": 'pi.systems.n_body(initial="outer_solar_system")',
    "rigid_body": "pi.systems.rigid_body(inverse_inertia=(1, 1 / 2, 1 / 3), gravity=(0, 0, 0))",
}
# name: (arguments of compare) of the few that are shown moving
FILMS = {
    "pendulum": '2.5, 0.0, methods=["rk4", "explicit_euler"], dt=0.05, t_end=6.0',
    "spring": '1.0, 0.0, methods=["rk4", "explicit_euler"], dt=0.05, t_end=5.0',
    "three_body": 'methods=["forest_ruth4"], dt=0.02, t_end=6.3',
    "rigid_body": "[0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0.05, 1, 0], dt=0.25, t_end=30.0,\n"
    '    methods=["rigid_splitting2", "rigid_semi_implicit_euler"]',
}
