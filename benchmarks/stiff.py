"""How long a batch of stiff problems takes until 90 % of it ends below an error: one table.

    python benchmarks/stiff.py [--n 1000] [--rounds 3] [--limit 20] [--write] [PROBLEM ...]

Ours by `pi.solve`, with "auto" and with each of some implicit methods; SciPy's Radau and BDF and
SUNDIALS' CVODE (scikit-sundae), one trajectory after the other, on a sample; diffrax's Kvaerno5,
the whole batch at once, compiled before. One function per problem serves all: ours traces it, JAX
compiles it, Numba compiles it and its Jacobian (complex differences: exact to rounding) for SciPy
and CVODE. "CVODE, compiled" calls the library of scikit-sundae directly, without Python between it
and what Numba compiled. Tolerances by factors of 10, atol = ratio rtol; errors are those of the
published sets: the largest |y - reference| / (|y| + ratio) over the components. References are our
Radau's at 1e-12, checked by SciPy's at 1e-11 and by the published end values of trajectory 0; goals
closer than ten times their differences are left out. One core, in turn, the best of some rounds.
``--write`` puts the table into docs/tolerance.md. Package missing: its column is left out.
"""

import argparse
import contextlib
import ctypes
import platform
import time
from pathlib import Path

import numpy as np
from stiff_problems import PROBLEMS
from time_to_error import PAGE, SLOW, microseconds, reached  # one core from here on

import pyintegrate as pi

try:
    import numba
    from numba.np.unsafe.ndarray import to_fixed_tuple

    jit = numba.njit(error_model="numpy")
except ImportError:
    numba, jit = None, lambda function: function
    to_fixed_tuple = lambda y, n: y.tolist()  # noqa: E731
try:
    import scipy.integrate
except ImportError:
    scipy = None
try:
    import sksundae
except ImportError:
    sksundae = None
try:
    import diffrax
    import jax
    from peers import jax_loop  # noqa: F401  (sets the precision and the number of threads)
except ImportError:
    diffrax = None

GOALS = [1e-3, 1e-6, 1e-9]
BEGIN, END = "<!-- stiff problems: begin -->", "<!-- stiff problems: end -->"
METHODS = ("radau_iia5", "kvaerno54", "rodas5p")
SAMPLE, LARGE_SAMPLE = 4, 40  # trajectories: called from Python, and compiled
MOST_STEPS = 100_000
PEERS = ("SciPy Radau", "SciPy BDF", "diffrax Kvaerno5", "CVODE, Python", "CVODE, compiled")


def parameters(n):
    """1 first, then from 0.9 to 1.1."""
    return np.append(1.0, np.linspace(0.9, 1.1, n - 1))


def functions(problem):
    """rhs(t, y, p) and jac(t, y, p), and both writing into what they are given; as Numba makes them
    where it is there."""
    force, dim = jit(problem.force), problem.dim

    @jit
    def fill(t, y, p, out):
        for i, value in enumerate(force(t, to_fixed_tuple(y, dim), p)):
            out[i] = value

    @jit
    def fill_jacobian(t, y, p, out):
        z = y.astype(np.complex128)
        for k in range(dim):
            z[k] = complex(y[k], 1e-100)
            for i, value in enumerate(force(t, to_fixed_tuple(z, dim), p)):
                out[i, k] = (value + 0j).imag / 1e-100
            z[k] = complex(y[k], 0.0)

    @jit
    def rhs(t, y, p):
        out = np.empty(dim)
        fill(t, y, p, out)
        return out

    @jit
    def jac(t, y, p):
        out = np.empty((dim, dim))
        fill_jacobian(t, y, p, out)
        return out

    return rhs, jac, fill, fill_jacobian


def ours(problem, p, method):
    system = pi.rhs(dim=problem.dim, p=1.0)(problem.force)(p=p)

    def make(rtol):
        return lambda: pi.solve(
            system, np.array(problem.start, float), t_end=problem.t_end, rtol=rtol,
            atol=problem.ratio * rtol, method=method, save="final", on_failure="ignore",
        ).final  # fmt: skip

    return make


def by_scipy(problem, p, method):
    rhs, jac = functions(problem)[:2]

    def end(value, rtol):
        sol = scipy.integrate.solve_ivp(
            rhs, (0.0, problem.t_end), np.array(problem.start, float), method, args=(value,),
            jac=jac, rtol=rtol, atol=problem.ratio * rtol, t_eval=[problem.t_end],
        )  # fmt: skip
        return sol.y[:, -1] if sol.success else np.full(problem.dim, np.nan)

    return lambda rtol: lambda: [end(value, rtol) for value in p]


def by_diffrax(problem, p):
    start = jax.numpy.array(problem.start, float)
    term = diffrax.ODETerm(lambda t, y, p: jax.numpy.stack(problem.force(t, y, p)))

    def end(p, rtol):
        return diffrax.diffeqsolve(
            term, diffrax.Kvaerno5(), 0.0, problem.t_end, None, start, args=p, throw=False,
            max_steps=MOST_STEPS // 10, adjoint=diffrax.ForwardMode(),
            stepsize_controller=diffrax.PIDController(rtol=rtol, atol=problem.ratio * rtol),
        )  # fmt: skip

    def batch(p, rtol):
        sol = jax.vmap(end, (0, None))(p, rtol)
        done = sol.result == diffrax.RESULTS.successful
        return jax.numpy.where(done[:, None], sol.ys[:, -1], np.nan)

    solve = jax.jit(batch).lower(p, 1e-3).compile()
    return lambda rtol: lambda: np.array(solve(p, rtol))


def by_sundae(problem, p):
    fill, fill_jacobian = functions(problem)[2:]

    def end(value, rtol):
        solver = sksundae.cvode.CVODE(
            lambda t, y, out: fill(t, y, value, out), rtol=rtol, atol=problem.ratio * rtol,
            jacfn=lambda t, y, slope, out: fill_jacobian(t, y, value, out),
            max_num_steps=MOST_STEPS,
        )  # fmt: skip
        with contextlib.redirect_stdout(None):  # its complaints
            sol = solver.solve([0.0, problem.t_end], np.array(problem.start, float))
        return sol.y[-1] if sol.success else np.full(problem.dim, np.nan)

    return lambda rtol: lambda: [end(value, rtol) for value in p]


def by_cvode(problem, p):
    """Through the C interface of the libraries that scikit-sundae brings along."""
    libraries = Path(sksundae.__file__).parent.parent / "scikit_sundae.libs"
    core, vector, matrix, linear, cvode = (
        ctypes.CDLL(str(next(libraries.glob(f"libsundials_{name}-*"))))
        for name in ("core", "nvecserial", "sunmatrixdense", "sunlinsoldense", "cvode")
    )
    pointer, real, index, dim = ctypes.c_void_p, ctypes.c_double, ctypes.c_int, problem.dim

    def c(library, name, *arguments, result=ctypes.c_int):
        function = library[name]
        function.argtypes, function.restype = arguments, result
        return function

    reals = ctypes.POINTER(real)
    entries = c(core, "N_VGetArrayPointer", pointer, result=reals)
    columns = c(matrix, "SUNDenseMatrix_Data", pointer, result=reals)
    fill, fill_jacobian = functions(problem)[2:]
    number, at = numba.float64, numba.types.voidptr
    numbers = numba.types.CPointer(number)

    @numba.cfunc(numba.int32(number, at, at, numbers))
    def slope(t, y, out, p):
        fill(t, numba.carray(entries(y), dim), p[0], numba.carray(entries(out), dim))
        return 0

    @numba.cfunc(numba.int32(number, at, at, at, numbers, at, at, at))
    def jacobian(t, y, now, out, p, a, b, c):
        into = numba.carray(columns(out), (dim, dim)).T
        fill_jacobian(t, numba.carray(entries(y), dim), p[0], into)
        return 0

    context = pointer()
    c(core, "SUNContext_Create", index, pointer)(0, ctypes.addressof(context))
    c(core, "SUNContext_ClearErrHandlers", pointer)(context)
    state, value, reached_t = np.array(problem.start, float), np.ones(1), np.zeros(1)
    y = c(vector, "N_VMake_Serial", index, pointer, pointer, result=pointer)(
        dim, state.ctypes.data, context)  # fmt: skip
    A = c(matrix, "SUNDenseMatrix", index, index, pointer, result=pointer)(dim, dim, context)
    solver = c(linear, "SUNLinSol_Dense", pointer, pointer, pointer, result=pointer)(y, A, context)
    memory = c(cvode, "CVodeCreate", index, pointer, result=pointer)(2, context)  # BDF
    c(cvode, "CVodeInit", pointer, pointer, real, pointer)(memory, slope.address, 0.0, y)
    c(cvode, "CVodeSetLinearSolver", pointer, pointer, pointer)(memory, solver, A)
    c(cvode, "CVodeSetJacFn", pointer, pointer)(memory, jacobian.address)
    c(cvode, "CVodeSetUserData", pointer, pointer)(memory, value.ctypes.data)
    c(cvode, "CVodeSetMaxNumSteps", pointer, ctypes.c_long)(memory, MOST_STEPS)
    c(cvode, "CVodeSetMaxHnilWarns", pointer, index)(memory, -1)
    tolerances = c(cvode, "CVodeSStolerances", pointer, real, real)
    again = c(cvode, "CVodeReInit", pointer, real, pointer)
    stop_time = c(cvode, "CVodeSetStopTime", pointer, real)
    solve = c(cvode, "CVode", pointer, real, pointer, pointer, index)

    def make(rtol):
        def run(keep=(slope, jacobian)):
            ends = np.empty((len(p), dim))
            for i, value[0] in enumerate(p):
                state[:] = problem.start
                again(memory, 0.0, y)
                tolerances(memory, rtol, problem.ratio * rtol)
                stop_time(memory, problem.t_end)
                failed = solve(memory, problem.t_end, y, reached_t.ctypes.data, 1) < 0
                ends[i] = np.nan if failed else state
            return ends

        return run

    return make


def peers(problem, p):
    """By name: whether it is there, what makes it, and the sample that it gets."""
    few, more = (
        np.linspace(0, len(p) - 1, min(n, len(p))).astype(int) for n in (SAMPLE, LARGE_SAMPLE)
    )
    return dict(zip(PEERS, (
        (scipy, lambda: by_scipy(problem, p[few], "Radau"), few),
        (scipy, lambda: by_scipy(problem, p[few], "BDF"), few),
        (diffrax, lambda: by_diffrax(problem, p), slice(None)),
        (sksundae, lambda: by_sundae(problem, p[few]), few),
        (sksundae and numba, lambda: by_cvode(problem, p[more]), more),
    ), strict=True))  # fmt: skip


def late(found, reference, ratio):
    """The scaled error that 90 % of the trajectories stay below."""
    errors = (np.abs(found - reference) / (np.abs(reference) + ratio)).max(axis=-1)
    return np.quantile(np.where(np.isfinite(errors), errors, np.inf), 0.9, method="higher")


def ladder(make, reference, problem, given):
    """(error, processor seconds a trajectory, rtol) until it is small or takes too long."""
    found, begin = [], time.process_time()
    make(1e-2)()  # whatever is compiled at the first call
    for rtol in 10.0 ** -np.arange(2, 14):
        took = np.inf
        for _ in range(given.rounds):
            start = time.process_time()
            states = np.array(make(rtol)())
            took = min(took, time.process_time() - start)
            if took > SLOW:
                break
        found.append((late(states, reference, problem.ratio), took / len(reference), rtol))
        if found[-1][0] < GOALS[-1] or time.process_time() - begin + 2 * took > given.limit:
            break
    return found


def measure(problem, given):
    p = parameters(given.n)
    reference = ours(problem, p, "radau_iia5")(1e-12)()
    doubts = [late(reference[:1], np.array([problem.published]), problem.ratio)]
    there = peers(problem, p)
    if scipy:
        one = there["SciPy Radau"][2][1:2]
        other = np.array(by_scipy(problem, p[one], "Radau")(1e-11)())
        doubts.append(late(other, reference[one], problem.ratio))
    rows = {m: ladder(ours(problem, p, m), reference, problem, given) for m in ("auto", *METHODS)}
    for name, (package, make, some) in there.items():
        if package:
            rows[name] = ladder(make(), reference[some], problem, given)
        else:
            print(f"{name}: not installed", flush=True)
    return rows, doubts


def lines_of(title, rows, doubt):
    for goal in (g for g in GOALS if g >= 10 * doubt):
        took = {name: reached([row[:2] for row in ladder], goal) for name, ladder in rows.items()}
        own = {name: took[name] for name in METHODS if took[name]}
        best = min(own, key=own.get) if own else None
        others = {name: took[name] for name in PEERS if name in took}
        first = min((other for other in others.values() if other), default=None)
        ratios = (took["auto"], own.get(best))
        yield " | ".join([
            f"| {title}", f"{goal:.0e}", microseconds(took["auto"]),
            f"{microseconds(own.get(best))} ({best})", *map(microseconds, others.values()),
            *(f"{r / first:.2f}" if r and first else "-" for r in ratios),
        ]) + " |"  # fmt: skip


def beside_radau(rows):
    """The time of "auto" over that of Radau's method from the start, by rtol from 1e-4 on."""
    took = [{rtol: took for _, took, rtol in rows[name]} for name in ("auto", "radau_iia5")]
    return {
        rtol: took[0][rtol] / took[1][rtol] for rtol in took[0] if rtol < 2e-4 and rtol in took[1]
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for each package")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("problems", nargs="*")
    given = parser.parse_args()
    table, doubts, ratios = [], [], {}
    for name in given.problems or PROBLEMS:
        problem = PROBLEMS[name]
        rows, doubt = measure(problem, given)
        short = problem.title.split(",")[0]
        doubts.append(f"{short} {' and '.join(f'{d:.0e}' for d in doubt)}")
        if not table:
            names = "problem", "error", '"auto"', "best of ours", *(p for p in PEERS if p in rows)
            columns = [*names, '"auto" / best peer', "best / best peer"]
            table = ["| " + " | ".join(columns) + " |", "| --- " * len(columns) + "|"]
            print("\n".join(table))
        found = list(lines_of(problem.title, rows, doubt[-1]))
        table += found
        print("\n".join(found), flush=True)
        ratios[short] = beside_radau(rows)
        print('# "auto" / "radau_iia5":', *(f"{r:.0e}: {x:.2f}" for r, x in ratios[short].items()))
    about = (
        f"Microseconds of processor time per trajectory, one core ({platform.machine()},"
        f" {pi._core.info()['instruction_set']}), {given.n} trajectories, the best of"
        f" {given.rounds} rounds, written by `make bench-peers`; only ratios are meaningful."
        f" References differ from the published end value and from SciPy's Radau by:"
        f' {"; ".join(doubts)}. From `rtol` 1e-4 on "auto" took at most this much of the time of'
        f' "radau_iia5": {"; ".join(f"{k} {max(v.values()):.2f}" for k, v in ratios.items() if v)}.'
    )
    print(about)
    if given.write:
        text = PAGE.read_text()
        before, after = text.split(BEGIN)[0], text.split(END)[1]
        PAGE.write_text(before + "\n".join([BEGIN, about, "", *table, END]) + after)


if __name__ == "__main__":
    main()
