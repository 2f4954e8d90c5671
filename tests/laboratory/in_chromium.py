"""The lab in a real browser, as a user has it: `make lab-browser` and `make test-all` run this.

The page is opened from its file, the widget in a real Jupyter server. Screenshots go to
build/lab-browser. Needs Debian's chromium and chromium-driver, selenium and jupyterlab.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest
from places import ROOT

import pyintegrate as pi

webdriver = pytest.importorskip("selenium.webdriver")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

PAGE = ROOT / "build" / "page" / "index.html"
PICTURES = ROOT / "build" / "lab-browser"
PATIENCE = 90  # s, for what depends on the machine
pytestmark = [
    pytest.mark.skipif(not shutil.which("chromium"), reason="no chromium"),
    pytest.mark.skipif(not shutil.which("chromedriver"), reason="no chromium-driver"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     "--disable-dev-shm-usage", "--force-prefers-reduced-motion"):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    made = webdriver.Chrome(options=options, service=service)
    PICTURES.mkdir(parents=True, exist_ok=True)
    yield made
    made.quit()


def resize(browser, width, height=1250):
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def until(browser, script):
    """What a script returns as soon as it is true."""
    return WebDriverWait(browser, PATIENCE, 0.1).until(lambda b: b.execute_script(script))


def open_page(browser, query="", address=""):
    if not PAGE.exists():
        pytest.skip("the page is not built: make page")
    browser.get("about:blank")
    browser.get(f"{PAGE.as_uri()}{query}#{address}" if address else f"{PAGE.as_uri()}{query}")
    until(browser, "return window.lab && lab.record && !!document.querySelector('.pl-step')")


def state(browser):
    return browser.execute_script("return lab.state")


def drag(browser, selector, start, by):
    """Drag within an element, from a place (in parts of its size) by pixels."""
    element = browser.find_element(By.CSS_SELECTOR, selector)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    size = element.size
    offset = [round((part - 0.5) * size[side]) for part, side in zip(start, ("width", "height"),
              strict=True)]  # fmt: skip
    chain = webdriver.ActionChains(browser).move_to_element_with_offset(element, *offset)
    chain.click_and_hold().move_by_offset(*by).release().perform()


def test_the_page_has_the_bits_of_the_package(browser):
    resize(browser, 1280)
    open_page(browser)
    bits = until(browser, "return document.documentElement.dataset.bits")
    assert f"{bits}, as everywhere" in browser.find_element(By.TAG_NAME, "footer").text
    assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []


def test_a_step_on_and_back_is_exact(browser):
    open_page(browser)
    shown = "return document.querySelector('.pl-stage').innerText + lab.time"
    next_, back = (
        browser.find_element(By.CSS_SELECTOR, f"[title='{title}']")
        for title in ("a step on", "a step back")
    )
    for _ in range(7):
        next_.click()
    before = until(browser, shown)
    next_.click()
    WebDriverWait(browser, PATIENCE).until(lambda b: b.execute_script(shown) != before)
    back.click()
    WebDriverWait(browser, PATIENCE).until(lambda b: b.execute_script(shown) == before)


def test_another_system_has_neither_the_story_nor_the_step_of_the_last(browser):
    open_page(browser)
    shown = "return ['#story', '.pl-steps'].map((s) => document.querySelector(s).textContent)"
    assert all(browser.execute_script(shown))
    system = browser.find_element(By.CSS_SELECTOR, ".pl-head select")
    browser.execute_script("arguments[0].value = 'logistic'", system)
    browser.execute_script("arguments[0].dispatchEvent(new Event('change'))", system)
    until(browser, "return lab.record && lab.state.system === 'logistic'")
    assert browser.execute_script(shown) == ["", ""]
    assert not browser.find_elements(By.CSS_SELECTOR, "#scenes [aria-pressed=true]")


def test_dragging_the_mass_moves_the_start_and_the_link_keeps_it(browser):
    open_page(browser)
    drag(browser, ".pl-scene", (0.86, 0.25), (-60, 0))
    moved = until(browser, "return lab.state.start[0] !== 1 && lab.state")
    assert moved["start"][0] < 1
    assert moved["start"][1] == 0
    address = until(browser, "return location.hash.includes('start=') && location.hash.slice(1)")
    open_page(browser, address=address)
    again = state(browser)
    assert {k: again[k] for k in again if k != "number"} == {
        k: moved[k] for k in moved if k != "number"
    }


def test_the_lines_of_the_page_make_its_numbers(browser):
    open_page(browser, address="system=kepler&dt=0.07&until=9&methods=rk4,velocity_verlet&work=1")
    names: dict = {}
    exec(browser.execute_script("return lab.record.python").replace("c.plot()", ""), names)
    for i, sol in enumerate(names["c"].values()):
        y = browser.execute_script(f"return Array.from(lab.record.runs[{i}].y)")
        assert np.array(y, dtype=float).tobytes() == np.ascontiguousarray(sol.y).tobytes()
        drift = pi.analysis.phase_drift(sol)
        phase = browser.execute_script(f"return Array.from(lab.record.runs[{i}].phase)")
        assert np.abs(np.array(phase, dtype=float) - drift).max() < 1e-9


# Pixels of the right half of the first strip that are drawn and not grey: of curves, beyond now.
COLOURED = """
const canvas = document.querySelector(".pl-charts canvas"), [w, h] = [canvas.width, canvas.height];
const pixels = canvas.getContext("2d").getImageData(w / 2, 0, w / 2, h).data;
let count = 0;
for (let i = 0; i < pixels.length; i += 4) {
  const [r, g, b, a] = pixels.slice(i, i + 4);
  if (a > 20 && Math.max(r, g, b) - Math.min(r, g, b) > 40) count += 1;
}
return count;
"""


def test_the_whole_run_is_drawn_before_it_is_played(browser):
    open_page(browser)
    assert browser.execute_script("return lab.time") == 0
    assert until(browser, COLOURED) > 500


def test_typed_numbers_are_taken_by_enter_and_wrong_ones_say_so(browser):
    open_page(browser)
    box = browser.find_element(By.CSS_SELECTOR, "[aria-label='step h, as a number']")
    box.send_keys(Keys.CONTROL + "a" + Keys.NULL, "1/32", Keys.ENTER)
    until(browser, "return lab.state.dt === 1 / 32")
    box.send_keys(Keys.CONTROL + "a" + Keys.NULL, "0", Keys.ENTER)
    assert box.get_attribute("aria-invalid") == "true"
    assert "above 0" in box.get_attribute("title")
    assert state(browser)["dt"] == 1 / 32
    box.send_keys(Keys.CONTROL + "a" + Keys.NULL, "0.25", Keys.TAB)
    until(browser, "return lab.state.dt === 0.25")
    assert box.get_attribute("aria-invalid") is None


def test_beyond_the_limit_the_box_lights_up(browser):
    open_page(browser, address="system=oscillator&dt=2.1&until=60&methods=rk4,semi_implicit_euler")
    browser.execute_script("lab.goTo(50)")
    blown = until(browser, "return document.querySelector('.pl-blown')?.innerText")
    assert "explodes" in blown
    assert len(browser.find_elements(By.CSS_SELECTOR, ".pl-blown")) == 1
    browser.save_screenshot(str(PICTURES / "explosion.png"))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("system", ["oscillator", "pendulum", "kepler", "lorenz"])
def test_nothing_overflows(browser, width, theme, system):
    resize(browser, width, 2000 if width < 600 else 1250)
    open_page(browser, f"?theme={theme}", f"system={system}")
    browser.execute_script("lab.goTo(lab.record.end / 3)")
    until(browser, "return document.querySelectorAll('.pl-step').length === 2")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    tall = browser.execute_script("return document.documentElement.scrollHeight")
    assert tall < 3200
    browser.save_screenshot(str(PICTURES / f"{system}_{width}_{theme}.png"))


# In every new document: when there is something to touch, and how often it is drawn.
WHEN = """
const look = () => {
  if (window.lab?.record && document.querySelector(".pl-step")) window.readyAt = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
TOUCH = """
const done = arguments[0], count = document.querySelector(".pl-count"), before = count.innerText;
const begun = performance.now();
document.querySelector("[title='a step on']").click();
const look = () => (count.innerText !== before
  ? requestAnimationFrame(() => done(performance.now() - begun)) : requestAnimationFrame(look));
look();
"""
FRAMES = """
const done = arguments[0], gaps = [];
lab.goTo(0);
lab.play(true);
let last = 0, begun = 0;
const tick = (now) => {
  if (last) gaps.push(now - last);
  last = now;
  begun ||= now;
  if (now - begun < 3000) return requestAnimationFrame(tick);
  lab.play(false);
  gaps.sort((a, b) => a - b);
  done([(1000 * gaps.length) / (now - begun), gaps[Math.floor(0.99 * gaps.length)]]);
};
requestAnimationFrame(tick);
"""


def busy(browser):
    """Seconds of a processor that the page has taken so far: scripts, layout, drawing."""
    told = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(one["value"] for one in told if one["name"] == "TaskDuration")


def test_how_soon_the_page_can_be_touched_and_how_often_it_is_drawn(browser, capsys):
    """Numbers to look at, which depend on the machine: none is asserted."""
    resize(browser, 1280)
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WHEN})
    open_page(browser)
    ready, touched = until(browser, "return window.readyAt"), browser.execute_async_script(TOUCH)
    with capsys.disabled():
        print(f"\nfirst interaction {(ready + touched) / 1000:.2f} s after the page was opened")
    methods = "rk4,semi_implicit_euler,velocity_verlet,forest_ruth4"
    for system in ("oscillator", "pendulum", "kepler", "three_body"):
        open_page(browser, address=f"system={system}&methods={methods}")
        before = busy(browser)
        per_second, slowest = browser.execute_async_script(FRAMES)
        each = 1000 * (busy(browser) - before) / (3 * per_second)
        with capsys.disabled():
            print(f"{system}, four methods: {per_second:.0f} frames a second, 99 of 100 within"
                  f" {slowest:.0f} ms, {each:.1f} ms of work in each")  # fmt: skip
        assert per_second > 0


SWARM = "[...document.querySelectorAll('.pl-charts button')].find((b) => b.innerText === 'swarm')"
# Points of the swarm that are on the portrait, the darkest ink.
POINTS = """
const canvas = [...document.querySelectorAll(".pl-charts canvas")].at(-1);
const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
let count = 0;
for (let i = 0; i < data.length; i += 4) count += data[i + 3] > 100 && data[i] < 60;
return count;
"""
STEP_AND_DRAW = """
const c = document.createElement("canvas").getContext("2d"), all = [[], []];
const look = { ink: "#123456", alarm: "red", accent: "blue", card: "white" };
const place = { left: 0, top: 0, width: 300, height: 260 };
for (let i = 0; i < 60; i++) {
  const begun = performance.now();
  lab.swarm.step(lab.record.state, lab.record);
  const stepped = performance.now();
  lab.swarm.draw(c, place, look);
  all[0].push(stepped - begun);
  all[1].push(performance.now() - stepped);
}
return all.map((some) => Math.min(...some));
"""
HEAT = "system=duffing&p.delta=0&p.gamma=0&start=1.4,0&methods=velocity_verlet&fan=0.1,0.2,0,x"


def test_a_swarm_lives_on_the_phase_plane(browser, capsys):
    """Thousands of points, moving while time stands still; how long a frame takes is printed."""
    resize(browser, 1280)
    for address in ("system=pendulum&start=2.8,0", "system=van_der_pol", "system=lotka_volterra",
                    "system=driven_pendulum", "system=lorenz", HEAT):  # fmt: skip
        open_page(browser, address=address)
        until(browser, "return document.documentElement.dataset.bits")
        browser.execute_script(f"{SWARM}.click()")
        until(browser, POINTS.replace("return count", "return count > 400"))
        before = browser.execute_script("return lab.swarm.motions.first")
        until(browser, f"return lab.swarm.motions.first > {before}")
        assert browser.execute_script("return lab.time") == 0
        name = address[7:].partition("&")[0]
        browser.save_screenshot(str(PICTURES / f"swarm_{name}.png"))
        step, draw = browser.execute_script(STEP_AND_DRAW)
        with capsys.disabled():
            print(f"\nswarm, {address:.40}: {step:.1f} ms for a step of 20,000, {draw:.1f} to draw")
    browser.execute_script("document.querySelectorAll('.pl-charts button')[2].click()")
    assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []


def test_a_fan_grows_on_the_page_and_its_noise_has_a_slider(browser):
    open_page(browser, address=HEAT)
    until(browser, "return lab.record.fan.made === lab.record.fan.t.length")
    shown = "return document.querySelector('.pl-fan').hidden"
    assert not browser.execute_script(shown)
    browser.save_screenshot(str(PICTURES / "fan.png"))
    box = browser.find_element(By.CSS_SELECTOR, "[aria-label='noise kT, as a number']")
    box.send_keys(Keys.CONTROL + "a" + Keys.NULL, "-1", Keys.ENTER)
    assert "from 0 on" in box.get_attribute("title")
    box.send_keys(Keys.CONTROL + "a" + Keys.NULL, "0", Keys.ENTER)
    until(browser, shown)
    open_page(browser, address="system=lorenz")
    assert not browser.find_elements(By.CSS_SELECTOR, "[aria-label='noise kT']")


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory):
    """The address of a Jupyter server with a notebook."""
    if not shutil.which("jupyter-lab", path=os.path.dirname(sys.executable)):
        pytest.skip("no jupyterlab")
    folder = tmp_path_factory.mktemp("jupyter")
    cells = [
        "import pyintegrate as pi\nlab = pi.lab(dt=0.1)\nlab",
        "print(lab.state['start'])",
        "lab",
    ]
    notebook = {
        "cells": [{"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [],
                   "source": text, "id": f"cell{i}"} for i, text in enumerate(cells)],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    (folder / "lab.ipynb").write_text(json.dumps(notebook))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = {"HOME": str(folder), "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(folder / "data"), "PYTHONPATH": str(ROOT)}  # fmt: skip
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
               "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}",
               "--LabApp.news_url=", "--LabApp.expose_app_in_browser=True"]  # fmt: skip
    with (folder / "log.txt").open("w") as log:
        server = subprocess.Popen(
            command, env={**os.environ, **home}, stdout=log, stderr=log, start_new_session=True
        )
    yield f"http://127.0.0.1:{port}/lab/tree/lab.ipynb?reset"
    os.killpg(server.pid, signal.SIGKILL)
    server.wait()


# Every canvas of the labs has a size.
WHOLE = """
const all = [...document.querySelectorAll(".pi-lab canvas")];
return all.length > 2 && all.every((c) => c.width > 20 && c.height > 20);
"""
UNTIL = "[aria-label='until, as a number']"
CELLS = "return document.querySelectorAll('.jp-Notebook .jp-CodeCell').length"
LABS = "return document.querySelectorAll('.pi-lab .pl-card').length"


def run_cell(browser, number):
    browser.find_elements(By.CSS_SELECTOR, ".jp-Notebook .jp-CodeCell .cm-content")[number].click()
    browser.switch_to.active_element.send_keys(Keys.SHIFT + Keys.ENTER)


@pytest.fixture
def notebook(browser, jupyter):
    """The notebook in the browser, its first cell run: a lab with two methods."""
    resize(browser, 1280, 1500)

    def is_there(b):
        try:
            b.get(jupyter)
        except Exception:  # the server is not up yet
            return False
        return True

    WebDriverWait(browser, PATIENCE, 1).until(is_there)
    until(browser, "return !location.search.includes('reset')")
    until(browser, CELLS + " === 3")
    until(browser, "return document.querySelector('#jp-main-statusbar').innerText.includes('Idle')")
    run_cell(browser, 0)
    until(browser, LABS + " === 2")


def test_the_widget_in_a_notebook(browser, notebook):
    """Run the cell, go a step, drag the mass: the kernel has the start that was dragged to."""
    browser.find_element(By.CSS_SELECTOR, "[title='a step on']").click()
    until(browser, "return document.querySelectorAll('.pl-step div').length >= 7")
    first = browser.find_element(By.CSS_SELECTOR, ".pl-readings").text
    drag(browser, ".pl-scene", (0.78, 0.25), (-40, 0))
    WebDriverWait(browser, PATIENCE).until(
        lambda b: b.find_element(By.CSS_SELECTOR, ".pl-readings").text != first
    )
    browser.save_screenshot(str(PICTURES / "notebook.png"))
    run_cell(browser, 1)
    printed = "return [...document.querySelectorAll('.jp-OutputArea-output pre')].at(-1)?.innerText"
    text = until(browser, printed)
    x, v = json.loads(text)
    assert 0.1 < x < 0.95
    assert v == 0


def test_the_notebook_shows_a_fan_of_noise(browser, notebook):
    """The kernel makes it from a number typed at the slider."""
    box = browser.find_element(By.CSS_SELECTOR, "[aria-label='noise kT, as a number']")
    box.send_keys(Keys.CONTROL + "a" + Keys.NULL, "0.3", Keys.ENTER)
    until(browser, "return document.querySelector('.pl-fan')?.hidden === false")
    assert "BAOAB" in browser.find_element(By.CSS_SELECTOR, ".pl-fan").text
    browser.execute_script("document.querySelector('.pl-fan').scrollIntoView({block: 'center'})")
    browser.save_screenshot(str(PICTURES / "notebook_fan.png"))


def test_the_keyboard_in_a_notebook_belongs_to_the_lab(browser, notebook):
    """Arrows move its sliders; no key deletes, makes or leaves a cell."""
    slider = browser.find_element(By.CSS_SELECTOR, ".pi-lab input[type=range]")
    browser.execute_script("arguments[0].focus()", slider)
    before = slider.get_property("value")
    for keys in (Keys.ARROW_RIGHT, Keys.ARROW_UP, "dd", "bxma", Keys.ARROW_DOWN):
        browser.switch_to.active_element.send_keys(keys)
    assert browser.execute_script("return document.activeElement === arguments[0]", slider)
    assert slider.get_property("value") != before
    assert browser.execute_script(CELLS) == 3
    assert browser.execute_script(LABS) == 2


def test_two_views_of_a_lab_agree(browser, notebook):
    """A number typed in one is in the other; both stay whole when the theme changes."""
    run_cell(browser, 2)
    until(browser, LABS + " === 4")
    boxes = "[...document.querySelectorAll(\"[aria-label='step h, as a number']\")]"
    for view, number in ((0, "0.2"), (1, "0.15")):
        box = browser.execute_script(f"return {boxes}[{view}]")
        box.send_keys(Keys.CONTROL + "a" + Keys.NULL, number, Keys.ENTER)
        until(browser, f"return {boxes}.map((b) => b.value).join() === '{number},{number}'")
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        browser.execute_script(
            "jupyterapp.commands.execute('apputils:change-theme', {theme: arguments[0]})", theme
        )
        until(browser, f"return document.body.dataset.jpThemeName === '{theme}'")
        until(browser, WHOLE)
    browser.save_screenshot(str(PICTURES / "two_views.png"))


def test_the_lab_says_that_a_run_is_longer_than_it_makes(browser, notebook):
    count = "return document.querySelector('.pl-count').innerText"
    assert "most" not in browser.execute_script(count)
    box = browser.execute_script("return document.querySelector(arguments[0])", UNTIL)
    box.send_keys(Keys.CONTROL + "a" + Keys.NULL, "1e6", Keys.ENTER)
    until(browser, f"{count}.includes('of 20,000, the most')")
