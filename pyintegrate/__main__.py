"""The command line: compare methods, measure stability and order, draw figures, list, describe."""

import argparse
import os
import sys
import warnings

import pyintegrate as pi
from pyintegrate.command_line import catalogues
from pyintegrate.command_line.printing import as_json, show

EXAMPLES = {
    "compare": "python -m pyintegrate compare spring --set k=15 b=0 --x0 1 --v0 0 "
    "--methods rk4,semi_implicit_euler --dt 0.1 --t-end 90 --output out.png",
    "stability": "python -m pyintegrate stability --methods rk4,semi_implicit_euler --dt 0.01 "
    "--output regions.png",
    "convergence": "python -m pyintegrate convergence kepler --methods rk4,velocity_verlet "
    "--output orders.png",
    "figures": "python -m pyintegrate figures --out pictures --only car,stability_map",
    "lab": "python -m pyintegrate lab",
    "methods": "python -m pyintegrate methods rk4",
    "systems": "python -m pyintegrate systems spring",
    "info": "python -m pyintegrate info",
}


class Parser(argparse.ArgumentParser):
    """An argument parser that says what is wrong in one line, without the usage before it."""

    def error(self, message):
        """Print the message and leave with code 2."""
        self.exit(2, f"{self.prog}: {' '.join(str(message).split())}\n")


def main(arguments=None):
    """Run one command.

    Parameters
    ----------
    arguments : list of str, optional
        The words after ``python -m pyintegrate``; those of the process by default.

    Returns
    -------
    int
        0, or 1 if ``info --digest`` does not find the published bits. Errors print one line
        to stderr and raise ``SystemExit(2)``.

    Examples
    --------
    >>> main(["systems", "--names"])  # doctest: +ELLIPSIS
    constant_force
    oscillator
    ...
    """
    parser = _parser()
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args([_shielded(word) for word in words])
    if options.command is None:
        parser.print_help()
        return 0
    command = f"{parser.prog} {options.command}"
    with warnings.catch_warnings():  # which sets showwarning back, too
        warnings.simplefilter("always", pi.IntegrationWarning)
        warnings.showwarning = lambda message, *_, **__: print(
            f"{command}: {' '.join(str(message).split())}", file=sys.stderr
        )
        try:
            code = options.run(options) or 0
            print(end="", flush=True)  # also if standard output is closed
        except (ValueError, TypeError, MemoryError, ImportError, OSError, LookupError) as error:
            if isinstance(error, BrokenPipeError):  # head, less: the reader has closed the pipe
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return 0
            message = error.args[0] if isinstance(error, KeyError) and error.args else error
            parser.exit(2, f"{command}: {' '.join(str(message).split())}\n")
        except KeyboardInterrupt:
            parser.exit(130, f"{command}: interrupted\n")
    return code


def _parser():
    """The commands and their options."""
    parser = Parser(
        prog="pyintegrate",
        description="Integrate equations of motion at a fixed step, and see what the method does.",
        epilog=f"example:\n  {EXAMPLES['compare']}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"pyintegrate {pi.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", parser_class=Parser)

    def add(name, run, text):
        command = commands.add_parser(
            name,
            help=text,
            description=text[0].upper() + text[1:] + ".",
            epilog=f"example:\n  {EXAMPLES[name]}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(run=run)
        if name not in ("figures", "lab"):
            command.add_argument("--json", action="store_true", help="print JSON, for scripts")
        return command

    compare = add("compare", _compare, "integrate one motion by several methods")
    _add_motion(compare)
    _add_methods(compare, "the picture", "rk4 and the simplest suitable one")
    compare.add_argument("--dt", type=_numbers, required=True, help="step, or several: 0.1,0.25")
    span = compare.add_mutually_exclusive_group(required=True)
    span.add_argument("--t-end", type=float, help="time of the end")
    span.add_argument("--n-steps", type=int, help="number of steps")
    compare.add_argument("--t0", type=float, default=0.0, help="time of the start (default: 0)")
    compare.add_argument("--seed", type=int, help="of a system with noise, which needs one")
    compare.add_argument(
        "--equal-work",
        action="store_true",
        help="give all methods as many force evaluations as the first, instead of as many steps",
    )

    stability = add("stability", _stability, "find how stiff a spring can be, and draw regions")
    _add_methods(stability, "the regions")
    stability.add_argument(
        "names", nargs="?", type=_names, help="the same as --methods; both add up"
    )
    stability.add_argument("--dt", type=float, default=0.01, help="step (default: 0.01)")
    stability.add_argument("--b", type=float, default=0.0, help="damping [kg/s] (default: 0)")

    order = add("convergence", _convergence, "measure the order of accuracy of methods on a motion")
    _add_motion(order)
    _add_methods(order, "errors over dt")
    order.add_argument("--t-end", type=float, help="end time (default: one period)")

    figures = add("figures", _figures, "draw the gallery: every figure and table")
    figures.add_argument("--out", metavar="DIR", required=True, help="folder, made if need be")
    figures.add_argument("--only", type=_names, help="names, separated by commas (default: all)")

    add("lab", _lab, "open the interactive lab in the browser: methods side by side")

    methods = add("methods", catalogues.methods, "list the methods, or describe one")
    methods.add_argument("method", nargs="?", help="name of the method to describe")
    systems = add("systems", catalogues.systems, "list the systems, or describe one")
    systems.add_argument("system", nargs="?", help="name of the system to describe")
    systems.add_argument("--names", action="store_true", help="names only, one a line")
    info = add("info", catalogues.info, "say how this installation was built and what it runs on")
    info.add_argument(
        "--digest",
        action="store_true",
        help="run all methods on all systems, and compare their bits with the published ones"
        " (some seconds; exit code 1 if they differ)",
    )
    info.add_argument("--table", action="store_true", help="print the bits by method")
    return parser


def _add_motion(command):
    """The arguments for the system and its start."""
    command.add_argument("system", type=_system, help="name of a system, as `systems` lists them")
    command.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="parameters"
    )
    command.add_argument("--x0", type=_numbers, help="positions, or the whole state: 1 or 1,0,0")
    command.add_argument("--v0", type=_numbers, help="velocities")


def _add_methods(command, drawn, default="all"):
    """The arguments for the methods, and for the picture of what they do."""
    said = f"names, separated by commas (default: {default})"
    command.add_argument("--methods", type=_names, help=said)
    command.add_argument("--output", metavar="FILE", help=f"draw {drawn}: .png, .pdf or .svg")


def _system(text):
    """The name of a system, checked before argparse asks for what is missing."""
    try:
        return pi.systems[text].name
    except LookupError as error:
        raise argparse.ArgumentTypeError(error.args[0]) from None


def _names(text):
    """Names separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _shielded(word):
    """Keep argparse from reading -1e-3 or -1,0 as an option: a leading space does."""
    return f" {word}" if word[:1] == "-" and (word[1:2].isdigit() or word[1:2] == ".") else word


def _numbers(text):
    """One number, or several separated by commas."""
    try:
        values = [int(p) if p.isdecimal() else float(p) for p in text.split(",")]
    except ValueError:
        message = f"expected a number, or several separated by commas, got {text.strip()!r}"
        raise argparse.ArgumentTypeError(message) from None
    return values[0] if len(values) == 1 else values


def _parameters(assignments):
    """NAME=VALUE words as a dict of numbers and lists."""
    parameters = {}
    for word in assignments:
        name, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"--set takes NAME=VALUE, for example k=15, got {word!r}")
        try:
            parameters[name.strip()] = _numbers(value)
        except argparse.ArgumentTypeError as error:
            raise ValueError(f"--set {name}: {error}") from None
    return parameters


def _start(options, system):
    """x0 and v0; one number can be the whole state."""
    whole = system.dim == 1 and isinstance(options.x0, int | float)
    return [options.x0] if whole else options.x0, options.v0


def _compare(options):
    names = "methods", "dt", "t_end", "n_steps", "t0", "equal_work", "seed"
    run = {name: getattr(options, name) for name in names}
    system = pi.systems[options.system](**_parameters(options.set))
    _tell(
        options, lambda: pi.compare(system, *_start(options, system), **run),
        lambda found: found.plot()[0, 0],
    )  # fmt: skip


def _tell(options, make, draw):
    """The table of what is made, as text or as JSON for scripts, and its picture in a file."""
    if options.output:
        _check_writable(options.output)
    found = make()
    (as_json if options.json else show)(found.table())
    if options.output:
        import matplotlib

        matplotlib.use("Agg")  # for a file: no window, and no display needed
        draw(found).figure.savefig(options.output, dpi=160)
        told = sys.stderr if options.json else sys.stdout
        print(f"picture written to {options.output}", file=told)


def _stability(options):
    names, more = options.names, options.methods
    asked = names if more is None else [*(names or ()), *more]

    def make():
        spring = pi.systems.spring(b=options.b)
        methods = [method.name for method in pi.analysis.suitable_methods(spring, asked)]
        return pi.analysis.max_stiffness(methods, spring, dt=options.dt)

    _tell(options, make, lambda found: pi.plots.stability_region([*found]))


def _convergence(options):
    def make():
        system = pi.systems[options.system](**_parameters(options.set))
        start = _start(options, system)
        return pi.analysis.convergence(system, options.methods, *start, t_end=options.t_end)

    _tell(options, make, lambda found: found.plot())


def _figures(options):
    from pyintegrate.plots import gallery, matplotlib

    matplotlib.use("Agg")
    for drawn in gallery.write(options.out, options.only):
        print(drawn.path, flush=True)


def _lab(options):
    import webbrowser

    from pyintegrate.laboratory import front_end

    page = front_end.page()
    print(f"the lab is {page}")
    webbrowser.open(page.as_uri())


def _check_writable(path):
    """Refuse, before the work is done, a file that could not be written."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise ValueError(f"--output: there is no folder {folder!r}")
    if os.path.splitext(path)[1].lower() not in (".png", ".pdf", ".svg"):
        raise ValueError(f"--output must end in .png, .pdf or .svg, got {path!r}")
    __import__("pyintegrate.plots")  # says what to install if Matplotlib is missing


if __name__ == "__main__":
    sys.exit(main())
