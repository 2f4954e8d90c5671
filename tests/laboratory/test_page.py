"""The page of the lab: its fma is the hardware's, its core has the bits of the package's."""

import ctypes
import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from places import ROOT

import pyintegrate as pi

sys.path.insert(0, str(ROOT / "page"))
import make_page  # noqa: E402

from pyintegrate.laboratory.record import (
    drawable,  # noqa: E402
    in_bath,  # noqa: E402
    make_fan,  # noqa: E402
    make_record,  # noqa: E402
)

NODE = pytest.mark.skipif(not shutil.which("node"), reason="no node")
NATIVE = [
    "-std=gnu11",
    "-O1",
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    "-Werror",
    "-shared",
    "-fPIC",
]
CASES = 40_000  # of each kind


def patterns(rng, exponents, count=CASES):
    """Doubles of random bits with exponents (biased) in a range."""
    bits = rng.integers(0, 2**63, count, dtype=np.uint64) * np.uint64(2) + rng.integers(
        0, 2, count, dtype=np.uint64
    )
    low, high = exponents
    exponent = rng.integers(low, high, count, dtype=np.uint64)
    return ((bits & ~np.uint64(0x7FF << 52)) | (exponent << np.uint64(52))).view(float)


@pytest.fixture(scope="module")
def software_fma(tmp_path_factory):
    """fma of csrc/vmath/fma.c over arrays."""
    folder = tmp_path_factory.mktemp("fma")
    source = folder / "all.c"
    source.write_text(
        "#define PI_SOFTWARE_FMA\n#define fma software_fma\n"
        f'#include "{ROOT}/csrc/vmath/fma.c"\n#undef fma\n'
        "void software(long n, const double *a, const double *b, const double *c, double *r) {\n"
        "    for (long i = 0; i < n; i++) r[i] = software_fma(a[i], b[i], c[i]);\n}\n"
        "void pairs(long n, const double *a, const double *b, const double *c, double *r) {\n"
        "    for (long i = 0, k = n - 1; i < n; i++, k--)\n"
        "        r[i] = pi_fma((Two){a[i], a[k]}, (Two){b[i], b[k]}, (Two){c[i], c[k]})[0];\n}\n"
        "double fma(double, double, double);\n"
        "void exact(long n, const double *a, const double *b, const double *c, double *r) {\n"
        "    for (long i = 0; i < n; i++) r[i] = fma(a[i], b[i], c[i]);\n}\n"
    )
    library = folder / "fma.so"
    subprocess.run(["cc", *NATIVE, source, "-o", library, "-lm"], check=True)
    return ctypes.CDLL(library)


def call(function, *arrays):
    arrays = [np.ascontiguousarray(a, dtype=float) for a in arrays]
    out = np.empty_like(arrays[0])
    function(ctypes.c_long(out.size), *(ctypes.c_void_p(a.ctypes.data) for a in (*arrays, out)))
    return out


def test_the_software_fma_rounds_once(software_fma):
    """Bit for bit the C library's, also where all but the last bits cancel, and at the edges."""
    rng = np.random.default_rng(4)
    some = patterns(rng, (1003, 1043)), patterns(rng, (1003, 1043))
    short = [x.view(np.uint64) >> np.uint64(26) << np.uint64(26) for x in some]
    edges = [0.0, 1.0, np.inf, np.nan, 5e-324, 2.0**-1022, np.nextafter(2.0**-1022, 0),
             1.5 * 2.0**-537, np.finfo(float).max, 2.0**-538,
             1 + 2.0**-52, 1 - 2.0**-53]  # fmt: skip
    edges = np.array([*edges, *(-x for x in edges)])
    grid = [axis.ravel() for axis in np.meshgrid(edges, edges, edges)]
    with np.errstate(all="ignore"):
        product = some[0] * some[1]
        kinds = [
            (*some, patterns(rng, (943, 1103))),  # all shifts against each other
            (*some, -product),  # what the rounding of the product has left
            (*some, np.nextafter(-product, rng.choice([-np.inf, np.inf], CASES))),
            (short[0].view(float), short[1].view(float), patterns(rng, (943, 1103))),  # ties
            (patterns(rng, (300, 600)), patterns(rng, (300, 600)), patterns(rng, (0, 60))),
            (patterns(rng, (0, 2047)), patterns(rng, (0, 2047)), patterns(rng, (0, 2047))),
            (patterns(rng, (490, 560)), patterns(rng, (490, 560)), np.zeros(CASES)),  # subnormal
            tuple(grid),
        ]
    for a, b, c in kinds:
        exact = call(software_fma.exact, a, b, c)
        nan = np.isnan(exact)
        for function in (software_fma.software, software_fma.pairs):
            software = call(function, a, b, c)
            assert (np.isnan(software) == nan).all()
            assert (software.view(np.uint64) == exact.view(np.uint64))[~nan].all()


def test_the_module_of_the_page_is_one_text(tmp_path):
    """No import is left, no name is there twice, every place of the template is filled."""
    text = make_page.page(b"\0asm", {"systems": {}})
    for place in ("/* STYLE */", "/* MODULE */", "/* ABOUT */", "/* WASM */"):
        assert place not in text
    (module,) = re.findall(r'<script type="module">(.*?)</script>', text, re.S)
    assert not re.search(r"^(import|export) ", module, re.M)
    if shutil.which("node"):
        (tmp_path / "page.mjs").write_text(module)
        subprocess.run(["node", "--check", tmp_path / "page.mjs"], check=True)


def test_a_page_that_loads_slowly_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(make_page, "about", lambda: {"systems": {}})
    core, made = tmp_path / "lab.wasm", tmp_path / "index.html"
    core.write_bytes(bytes(make_page.LARGEST_CORE + 1))
    with pytest.raises(SystemExit, match="the core has 1,000,001 bytes: 1,000,000 at most"):
        make_page.main(core, made)
    core.write_bytes(bytes(10_000))
    monkeypatch.setattr(make_page, "LARGEST", 10_000)
    with pytest.raises(SystemExit, match="the page has .* bytes: 10,000 at most"):
        make_page.main(core, made)
    assert not made.exists()


# What the fans of a run show; of a mass that varies, the heat bath reads a thousand masses.
FANS = [
    {"noise": 0.3, "friction": 0.2},
    {"noise": 0.3, "friction": 0.2, "of": "m", "spread": 0.5},
    {"noise": 0, "of": "k", "spread": 0.2},
    {"noise": 0, "of": "v", "spread": 3.0},
]
WORK = """
import { readFileSync } from "node:fs";
import { engineOf } from "./engine.mjs";
const about = JSON.parse(readFileSync("about.json"));
const engine = await engineOf(readFileSync(process.argv[2]), about);
const state = { system: "spring", params: { k: 7.5, b: 0.1, m: 1.5 }, start: [0.7, -0.2], dt: 0.07,
  t_end: 14, methods: ["rk4", "velocity_verlet", "gauss4"], equal_work: true };
const record = await engine.run(state);
const runs = record.runs.map(({ y, dt, energy, failed }) =>
  ({ dt, failed, y: Array.from(y), energy: Array.from(energy) }));
const ghost = Array.from(record.runs[0].ghost);
const { params, start, dt } = about.systems.rigid_body;
const box = { ...state, system: "rigid_body", start, dt, methods: ["rigid_splitting2"],
  params: Object.fromEntries(Object.entries(params).map(([name, { value }]) => [name, value])) };
const [tumbled, speed] = await engine.run(box).then(({ runs, speed }) => [runs[0], speed]);
const refused = await engine.run({ ...box, methods: ["rk4"],
  params: { ...box.params, linear_factor: 0.9 } }).catch((error) => error.message);
const fans = [];
for (const fan of JSON.parse(process.argv[3])) {
  const made = (await engine.run({ ...state, fan })).fan;
  await made.done;
  const [t, rows] = [Array.from(made.t), made.rows.map((row) => Array.from(row))];
  fans.push({ t, rows, method: made.method });
}
const digest = await engine.digest();
console.log(JSON.stringify({ digest, python: record.python, ghost, runs, fans,
  box, refused, speed, tumbled: Array.from(tumbled.y), turned: Array.from(tumbled.distance) }));
"""


@pytest.fixture(scope="module")
def about():
    return make_page.about()


def built_core():
    """The core for the page, if it is that of the sources."""
    wasm = ROOT / "build" / "page" / "lab.wasm"
    newest = max(p.stat().st_mtime for p in [*ROOT.glob("csrc/**/*.[ch]"), *ROOT.glob("page/*.c")])
    if not wasm.exists() or wasm.stat().st_mtime < newest:
        pytest.skip("the core for the page is not built: make page")
    return wasm


@NODE
def test_the_core_of_the_page_has_the_bits_of_the_package(tmp_path, about):
    """All methods on all systems of the page, and a run of the lab, digit for digit."""
    wasm = built_core()
    assert wasm.stat().st_size <= make_page.LARGEST_CORE
    (tmp_path / "about.json").write_text(json.dumps(about))
    (tmp_path / "engine.mjs").write_text((ROOT / "page" / "engine.js").read_text())
    (tmp_path / "work.mjs").write_text(WORK)
    command = ["node", "work.mjs", wasm, json.dumps(FANS)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["digest"] == about["digest"]
    names: dict = {}
    exec(made["python"].replace("c.plot()", ""), names)
    for run, sol in zip(made["runs"], names["c"].values(), strict=True):
        assert run["failed"] == -1
        assert run["dt"] == sol.dt
        assert np.array(run["y"]).tobytes() == np.ascontiguousarray(sol.y).ravel().tobytes()
        assert np.array(run["energy"]).tobytes() == sol.energy_error().tobytes()
    exact = names["c"]["rk4"].exact().ravel()
    assert np.abs(made["ghost"] - exact).max() < 1e-12  # rounding of some thousand steps
    assert pi.systems.spring(k=7.5).params["k"] == 7.5
    first = names["c"]["rk4"]
    state = {"start": [0.7, -0.2], "dt": 0.07}
    for made_fan, fan in zip(made["fans"], FANS, strict=True):
        told = make_fan(first.system, state | {"fan": fan}, first.method, first.n_steps)
        assert np.array(made_fan["rows"]).tobytes() == told["rows"].tobytes()
        assert np.array(made_fan["t"]).tobytes() == told["t"].tobytes()
        assert made_fan["method"] == told["method"]
    # A rigid body: its steps are the package's, its errors are angles, as in the notebook.
    body = drawable()["rigid_body"]
    compared, record = make_record(body, made["box"], pi.methods)
    own = compared["rigid_splitting2"].y
    assert np.array(made["tumbled"]).tobytes() == np.ascontiguousarray(own).tobytes()
    assert max(made["turned"]) > 1e-3
    # a hundred times the tolerance of the notebook's true motion: the turn is unstable
    assert np.abs(made["turned"] - record["runs"][0]["distance"]).max() < 1e-9
    assert "method rk4 knows no linear_factor" in made["refused"]
    turning = np.array(record["turning"]) @ (1, 1j)
    assert made["speed"] == pytest.approx(abs(turning).max(), rel=0.2)  # |J^16|^(1/16), at samples


MANY = """
import { readFileSync } from "node:fs";
import { engineOf } from "./engine.js";
import { kindOf, planeOf } from "./plane.js";
import { swarmOf } from "./swarm.js";
globalThis.document = { createElement: () => ({ getContext: () => ({ putImageData() {} }) }) };
globalThis.ImageData = class {
  constructor(w, h) { this.data = new Uint8ClampedArray(4 * w * h); }
};
const about = JSON.parse(readFileSync("about.json"));
const engine = await engineOf(readFileSync(process.argv[2]), about);
const valuesOf = (system) => Object.fromEntries(
  Object.entries(about.systems[system].params).map(([name, { value }]) => [name, value]));
const rows = Float64Array.from({ length: 32 }, (_, k) => ((k * 37) % 32) / 16 - 1);
const went = (system, fan, ...parts) => {
  const state = { system, params: valuesOf(system), dt: 0.05, fan };
  let moving = engine.motions(state, rows, "midpoint", { seed: 2 });
  for (const n of parts) {
    moving.advance(n);
    const { y, first, time } = moving;
    moving = engine.motions(state, y, "midpoint", { seed: 2, first, time });
  }
  return Array.from(moving.y);
};
const noisy = { noise: 0.3, friction: 0.5 };
const [driven, stirred] = [{}, noisy].map((fan) =>
  [[12], [5, 7], [1, 1, 10]].map((parts) => went("driven_pendulum", fan, ...parts)));
// A swarm.
const system = "lotka_volterra";
const state = { system, params: valuesOf(system), start: [10, 5], dt: 1 };
const record = { turn: 4, places: [0, 1], portrait: { left: 0, right: 20, bottom: 0, top: 10 } };
const swarm = swarmOf(engine);
swarm.step(state, record);
const { left, right, bottom, top } = swarm.window;
const count = swarm.motions.y.length / 2;
const inside = () => {
  let all = 0;
  const { y } = swarm.motions;
  for (let i = 0; i < count; i++) {
    all += y[i] >= left && y[i] <= right && y[count + i] >= bottom && y[count + i] <= top;
  }
  return all;
};
swarm.spread([4, 2]);
const { y } = swarm.motions;
const far = Math.max(...Array.from({ length: count }, (_, i) =>
  Math.max(Math.abs(y[i] - 4) / (right - left), Math.abs(y[count + i] - 2) / (top - bottom))));
const gathered = inside();
y[3] = NaN;
y[count + 4] = 1e9;
const drawn = ["beginPath", "moveTo", "lineTo", "stroke", "arc", "fill", "drawImage"];
const nothing = Object.fromEntries(drawn.map((name) => [name, () => {}]));
const c = { getTransform: () => ({ a: 1 }), ...nothing };
swarm.draw(c, { left: 0, top: 0, width: 30, height: 30 }, { ink: "#000000" });
const planes = JSON.parse(process.argv[3]).map(([system, params, window]) =>
  planeOf(engine, { system, params: { ...valuesOf(system), ...params } }, window));
console.log(JSON.stringify({ driven, stirred, count, gathered, far, again: inside(), planes,
  pieces: planes.map((plane) => plane && plane.lines.map((all) => all.length)),
  kinds: [[[0, 1], [0, -1]], [[-1, 0], [2, 0]], [[-1, 3], [-1, -3]]].map(kindOf) }));
"""
PLANES = [
    ("duffing", {"delta": 0.2, "gamma": 0}, (-2.0, 2.0), (-1.5, 1.5)),
    ("pendulum", {}, (-4.0, 4.0), (-5.0, 5.0)),
    ("lotka_volterra", {}, (-1.0, 20.0), (-1.0, 9.0)),
    ("van_der_pol", {}, (-3.0, 3.1), (-3.0, 3.2)),
]


@NODE
def test_many_motions_go_on_and_what_stands_still_is_found(tmp_path, about):
    """Steps in parts are the steps of Python, of noise and of a driven system; equilibria are those
    of pi.analysis.equilibria."""
    wasm = built_core()
    (tmp_path / "about.json").write_text(json.dumps(about))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    for name in ("engine", "plane", "swarm"):
        (tmp_path / f"{name}.js").write_text((ROOT / "page" / f"{name}.js").read_text())
    (tmp_path / "work.js").write_text(MANY)
    sides = ("left", "right", "bottom", "top")
    asked = [(name, params, dict(zip(sides, (*x, *y), strict=True)))
             for name, params, x, y in PLANES]  # fmt: skip
    asked.append(("duffing", {}, asked[0][2]))  # driven: nothing stands still
    command = ["node", "work.js", wasm, json.dumps(asked)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    system = pi.systems.driven_pendulum
    start = (np.arange(32) * 37 % 32 / 16 - 1).reshape(2, 16).T
    how = {"dt": 0.05, "n_steps": 12, "save": "final"}
    own = pi.integrate(system, start, method="midpoint", **how).final
    bath = pi.integrate(in_bath(system, 0.5, 0.3), start, seed=2, **how).final
    for parts, final in (("driven", own), ("stirred", bath)):
        for states in made[parts]:
            assert np.array(states).tobytes() == final.T.tobytes()
    assert made["count"] == made["gathered"] == made["again"] == 20_000
    assert made["far"] <= 0.05
    assert made["planes"][-1] is None
    for (name, params, x, y), plane in zip(PLANES, made["planes"], strict=False):
        of = pi.systems[name](**params)
        known = pi.analysis.equilibria(of, (x, y))
        found = sorted(plane["points"])
        order = np.lexsort(known.points.T[::-1])
        assert np.array([p[:2] for p in found]) == pytest.approx(known.points[order], abs=1e-9)
        kinds = {"saddle": "saddle", "centre": "centre"}
        for point, i in zip(found, order, strict=True):
            kind = known.kinds[i]
            assert kinds.get(point[2], kind) == kind
            assert (point[2] == "stable") == (np.real(known.eigenvalues[i]).max() < -1e-9)
        assert all(len(pieces) > 50 for pieces in plane["lines"])
        for component, pieces in enumerate(plane["lines"]):
            ends = np.array(pieces)[:, :2]
            rates = of.rhs(0.0, ends)
            # linear in a cell of 1/79 of the window
            assert abs(rates[:, component]).max() < 0.03 * abs(of.rhs(0.0, [x[1], y[1]])).max()
    assert made["kinds"] == ["centre", "saddle", "stable"]


SHAPES = """
const about = { systems: { rigid_body: { params: { mass: { value: 2 }, torque: { value: [1, 0, 0] },
  inertia: { value: [[1, 0, 0], [0, 2, 0], [0, 0, 3]] } }, start: [1, 0], dim: 2, dt: 1, t_end: 2,
  state: [{ name: "x" }], methods: ["rk4"], fitting: ["rk4"] } } };
const state = completed(about, { system: "rigid_body", fan: { spread: 0.25, of: "mass" } });
state.params.inertia = withNumber(state.params.inertia, 1, 5);
state.params.torque = withNumber(state.params.torque, 2, 7);
state.params.mass = withNumber(state.params.mass, 0, 4);
const read = completed(about, stateOf(addressOf(state)));
const link = "system=rigid_body&p.inertia=1,2&p.torque=x&fan=1,1,1,inertia";
const broken = completed(about, stateOf(link));
const wrong = completed(about, stateOf("system=rigid_body&fan=0,x,1,mass")).fan;
console.log(JSON.stringify({ state, read, broken: broken.params, fan: broken.fan, wrong,
  middle: numberOf(read.params.inertia, 1), last: numberOf(read.params.torque, 2) }));
"""


@NODE
def test_parameters_of_any_shape_have_sliders_and_an_address(tmp_path):
    """A matrix has a slider for each number of its diagonal, and comes back from a link."""
    text = make_page.page(b"\0asm", {"systems": {}})
    (module,) = re.findall(r'<script type="module">(.*?)const about = ', text, re.S)
    (tmp_path / "page.mjs").write_text(module + SHAPES)
    done = subprocess.run(["node", "page.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["state"]["params"] == {
        "mass": 4, "torque": [1, 0, 7], "inertia": [[1, 0, 0], [0, 5, 0], [0, 0, 3]]
    }  # fmt: skip
    assert made["read"] == made["state"]
    assert made["read"]["fan"] == {"noise": 0, "friction": 0, "of": "mass", "spread": 0.25}
    # no heat bath for it, and no spread of an array
    assert made["fan"] == {"noise": 0, "friction": 1, "of": "x", "spread": 1}
    assert made["wrong"] == {}
    assert (made["middle"], made["last"]) == (5, 7)
    assert made["broken"]["inertia"][1] == [0, 2, 0]
    assert made["broken"]["torque"] == [1, 0, 0]


@NODE
def test_the_limits_of_the_front_end_are_those_of_theory(tmp_path):
    """Marks of the slider: on an oscillation, on decay, and where R(z) leaves the disc."""
    from pyintegrate.laboratory.front_end import STATIC
    from pyintegrate.laboratory.record import stability_of

    (tmp_path / "limits.mjs").write_text((STATIC / "limits.js").read_text())
    asked = [(m, z) for m in ("rk4", "explicit_euler", "semi_implicit_euler", "gauss4")
             for z in ([0, 3.0], [-2.0, 0], [-0.5, 2.0])]  # fmt: skip
    data = json.dumps([[stability_of(pi.methods[m]), [z]] for m, z in asked])
    code = f"""import {{ stableStep }} from "./limits.mjs";
console.log(JSON.stringify({data}.map((a) => stableStep(...a))));"""
    (tmp_path / "ask.mjs").write_text(code)
    out = subprocess.run(["node", "ask.mjs"], cwd=tmp_path, capture_output=True, text=True)
    limits = dict(zip([(m, *z) for m, z in asked], json.loads(out.stdout), strict=True))
    assert limits["rk4", 0, 3.0] == pytest.approx(8**0.5 / 3)
    assert limits["rk4", -2.0, 0] == pytest.approx(2.785293563405282 / 2)
    assert limits["explicit_euler", 0, 3.0] == 0
    # |1 + h z|^2 = 1 at h = -2 Re z / |z|^2
    assert limits["explicit_euler", -0.5, 2.0] == pytest.approx(1 / 4.25)
    assert limits["semi_implicit_euler", 0, 3.0] == pytest.approx(2 / 3)
    assert limits["gauss4", 0, 3.0] is None
    assert limits["gauss4", -2.0, 0] is None


def test_the_command_opens_the_page(tmp_path, monkeypatch, capsys):
    from pyintegrate.__main__ import main
    from pyintegrate.laboratory import front_end

    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(front_end, "STATIC", tmp_path)
    with pytest.raises(SystemExit):
        main(["lab"])
    assert "make page" in capsys.readouterr().err
    (tmp_path / "page.html").write_text("a page")
    assert main(["lab"]) == 0
    assert opened == [(tmp_path / "page.html").as_uri()]


def test_the_front_end_is_in_the_wheel(tmp_path):
    from pyintegrate.laboratory.front_end import MODULES, STATIC

    command = [sys.executable, "setup.py", "-q", "build_py", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    for name in [*(f"{module}.js" for module in (*MODULES, "notebook")), "lab.css"]:
        shipped = tmp_path / "pyintegrate" / "laboratory" / "static" / name
        assert shipped.read_bytes() == (STATIC / name).read_bytes()
    assert "graft page" in (ROOT / "MANIFEST.in").read_text()
