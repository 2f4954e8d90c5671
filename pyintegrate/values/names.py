"""Other names that people use for methods and systems.

Case, accents, spaces, hyphens and underscores make no difference. A name is looked up among the
names and aliases of the catalogue, then in the tables below. For a name with several meanings, a
sentence lists them.
"""

import re


def _by_name(table):
    """Lines of a name and its other names, as a dictionary of these."""
    rows = (line.split(": ") for line in table.split("\n"))
    return {other: name for name, others in rows for other in others.split(", ")}


# Their names in other packages and textbooks: SciPy, MATLAB, GSL, Julia, lecture notes.
METHODS = _by_name("""\
rk4: classical runge kutta, runge kutta, runge kutta 4th order, ode4
rk38: runge kutta 3/8
midpoint: runge kutta 2, midpoint rule
kutta3: runge kutta 3
fehlberg45: runge kutta fehlberg
dormand_prince54: runge kutta 45, dormand prince, dopri, ode5
dop853: dopri853
bogacki_shampine32: bogacki shampine, ode3
cash_karp45: cash karp
tsitouras54: tsitouras
heun2: heun, heuns, ssprk22, ode2
explicit_euler: eulers, ode1
ralston2: ralston
merson45: merson
prince_dormand87: rk8pd, dopri8, ode8
verner87: ode78
trapezoidal: trapezoid, trapezoidal rule, ode23t
implicit_midpoint: implicit midpoint rule
radau_iia5: radau iia
rodas5p: rosenbrock, rodas
velocity_verlet: verlet
stormer_verlet: stoermer verlet
forest_ruth4: yoshida
euler_maruyama: em""")
SYSTEMS = _by_name("""\
oscillator: harmonic oscillator
spring: mass spring, mass spring damper, spring damper, damped spring, damped oscillator
pendulum: simple pendulum
constant_force: free fall
van_der_pol: vdp
rossler: roessler
lorenz: lorenz 63
lotka_volterra: predator prey
logistic: logistic growth
kepler: two body, kepler problem
three_body: three body problem
n_body: solar system, gravity
ornstein_uhlenbeck: ou
geometric_brownian_motion: gbm""")
_BDF = "'bdf2', 'bdf3', 'bdf4', 'bdf5' and 'bdf6' are BDF of a fixed order"
_STEPS = "of steps and order that it chooses itself, and here both are fixed"
SENTENCES = {
    "auto": "chooses the pair and the steps in pi.solve(system, t_end=..., rtol=...); of a fixed"
    " step pi.advise(system, t_end=..., error=...) finds the method",
    "leapfrog": "is ambiguous: 'velocity_verlet' is kick-drift-kick, 'position_verlet' is"
    " drift-kick-drift",
    "bdf": f"is ambiguous: {_BDF} ('implicit_euler' is that of order 1)",
    "lsoda": f"is a solver {_STEPS}: of the methods it is made of,"
    " 'adams_bashforth_moulton4' is for smooth motions, 'bdf4' for stiff ones",
    "ode15s": f"is a solver {_STEPS}: {_BDF}; 'radau_iia5' is for stiff systems too",
    "ode113": f"is a solver {_STEPS}: 'adams_bashforth_moulton2' to 'adams_bashforth_moulton5'"
    " are its methods of a fixed order",
    "ode23s": "is not here: 'rodas5p' is a Rosenbrock method of order 5; for stiff systems there"
    " are 'radau_iia5', 'kvaerno54', 'sdirk4' and 'bdf2' to 'bdf6' as well",
    "boris": "is not here: in a magnetic field 'implicit_midpoint' and 'gauss4' keep the energy,"
    " and 'velocity_verlet' gains it",
    "adams": "is ambiguous: 'adams_bashforth4' is explicit, 'adams_moulton4' implicit,"
    " 'adams_bashforth_moulton4' predicts and corrects; each in several orders",
}
for _property in ("symplectic", "implicit"):
    SENTENCES[_property] = f"is a property: see pi.methods.table({_property}=True)"
SENTENCES |= dict.fromkeys(("odeint", "vode", "zvode", "cvode"), SENTENCES["lsoda"])
SENTENCES |= dict.fromkeys(
    ("ias15", "mercurius", "taylor"),
    "is not here: pi.solve(system, t_end=..., rtol=1e-13) chooses its steps, for close encounters",
)
SENTENCES |= dict.fromkeys(("rodas4", "rodas5", "ros34"), SENTENCES["ode23s"])


def plain(name):
    """A name in lower case, without accents or any character but letters and digits.

    Examples
    --------
    >>> plain("Störmer-Verlet"), plain("RK_4")
    ('stormerverlet', 'rk4')
    """
    import unicodedata

    letters = unicodedata.normalize("NFKD", name).casefold()
    return re.sub(r"[^a-z0-9]", "", letters)


class ByName(dict):
    """A dictionary that says which names there are."""

    def __missing__(self, name):
        raise KeyError(f"there is no {name!r}: there are {', '.join(self) or 'none'}")


def near_names(name, known):
    """Possible corrections of a misspelt name, as text, which may be empty."""
    from difflib import get_close_matches

    within = [one for one in known if name in one.split("_")]  # mass: inverse_mass
    return " or ".join(map(repr, get_close_matches(name, known, n=3) or within))
