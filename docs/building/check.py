"""`make docs-check`: links, alternative texts, nothing from elsewhere, nothing wider than its page.

    python docs/building/check.py [--shots FOLDER PAGE ...]

The pages are read as they were built. Chromium, where it is installed, then opens each of them in
frames of 360 and 1280 pixels and says what overflows; with `--shots` it takes pictures of some
pages instead, in both widths, light and dark.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import quote, unquote, urlsplit

BUILT = Path(__file__).resolve().parent.parent / "_build" / "html"
WIDTHS = (360, 1280)
PATIENCE = 900.0  # seconds for all pages
HARNESS = """<!doctype html><body style="margin:0"><script>
const jobs = JOBS, found = [];
const wait = ms => new Promise(r => setTimeout(r, ms));
async function measure([page, width]) {
  const frame = document.createElement("iframe");
  frame.style = `width:${width}px;height:900px;border:0`;
  const loaded = new Promise(r => frame.onload = r);
  frame.src = page;
  document.body.append(frame);
  await loaded;
  await wait(30);
  const root = frame.contentDocument.documentElement, seen = [];
  if (root.scrollWidth > root.clientWidth + 1)
    for (const one of frame.contentDocument.querySelectorAll("main *")) {
      const box = one.getBoundingClientRect();
      if (box.right > width + 1 && seen.length < 3)
        seen.push(`${one.tagName.toLowerCase()}.${one.className} to ${Math.round(box.right)}`);
    }
  if (root.scrollWidth > root.clientWidth + 1) found.push([page, width, root.scrollWidth, seen]);
  frame.remove();
}
(async () => {
  for (const job of jobs) await measure(job);
  await fetch("/found", {method: "POST", body: JSON.stringify(found)});
})();
</script>"""
SHOT = """<!doctype html><body style="margin:0"><script>
localStorage.setItem("mode", "THEME"); localStorage.setItem("theme", "THEME");
const frame = document.createElement("iframe");
frame.style = "width:WIDTHpx;height:HEIGHTpx;border:0";
frame.src = "/PAGE"; document.body.append(frame);
</script>"""


class Page(HTMLParser):
    """What a page links to, what it defines, and what it shows."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.shown, self.silent = set(), [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            self.ids.add(given["id"])
        if tag == "a" and given.get("name"):
            self.ids.add(given["name"])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("img", "script", "source", "iframe", "video") and given.get("src"):
            self.shown.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon"):
            self.shown.append(given["href"])
        alternative = given.get("alt", given.get("aria-label", ""))
        if given.get("aria-hidden") == "true":
            return
        spoken = tag == "img" or (tag == "svg" and given.get("role") == "img")
        if spoken and (len(alternative) < 4 or alternative.endswith((".png", ".svg", ".gif"))):
            self.silent.append(given.get("src", "a picture"))


def read(folder):
    """What is wrong on the pages as files: a list of sentences."""
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if not {"_static", "lab"} & set(path.relative_to(folder).parts)
    }
    wrong = []
    for path, page in pages.items():
        name = path.relative_to(folder)
        wrong += [f"{name}: {src} has no alternative text" for src in page.silent]
        for target in page.shown + page.links:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.shown and parts.scheme != "data":
                    wrong.append(f"{name}: {target} is from elsewhere")
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if there.is_dir():
                there /= "index.html"
            if not there.is_file():
                wrong.append(f"{name}: there is no {target}")
            elif (
                parts.fragment
                and there in pages
                and unquote(parts.fragment) not in pages[there].ids
            ):
                wrong.append(f"{name}: {target} names no place of that page")
    return wrong, [str(path.relative_to(folder)) for path in pages]


class _Server(SimpleHTTPRequestHandler):
    """The pages, one more that opens them, and a place for what it found."""

    def __init__(self, *given, state, **named):
        self.state = state
        super().__init__(*given, **named)

    def do_GET(self):
        if self.path.split("?")[0] != "/harness":
            return super().do_GET()
        body = self.state["harness"].encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.state["found"] = json.loads(self.rfile.read(length))
        self.state["done"].set()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *given):
        pass


def serve(folder, state):
    """A server of a folder on a free port, in a thread."""
    handler = partial(_Server, state=state, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


def command(chromium, profile):
    return [
        chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        "--no-first-run", f"--user-data-dir={profile}",
    ]  # fmt: skip


def measure(chromium, folder, names):
    """What overflows: sentences."""
    jobs = [[f"/{quote(name)}", width] for name in names for width in WIDTHS]
    state = {"harness": HARNESS.replace("JOBS", json.dumps(jobs)), "done": Event()}
    server, address = serve(folder, state)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [*command(chromium, profile), "--remote-debugging-port=0", f"{address}/harness"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        arrived = state["done"].wait(PATIENCE)
        browser.terminate()
        browser.wait()
    server.shutdown()
    if not arrived:
        return [f"the browser did not answer within {PATIENCE:g} s"]
    return [
        f"{page[1:]}: {wide} wide in {width} pixels: {'; '.join(seen)}"
        for page, width, wide, seen in state["found"]
    ]


def shoot(chromium, folder, target, names, height):
    """Pictures of pages, in both widths and both colour schemes."""
    target.mkdir(parents=True, exist_ok=True)
    state = {"harness": ""}
    server, address = serve(folder, state)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for name in names:
            for width in WIDTHS:
                for theme in ("light", "dark"):
                    page = SHOT.replace("THEME", theme).replace("WIDTH", str(width))
                    state["harness"] = page.replace("HEIGHT", str(height)).replace("PAGE", name)
                    path = target / f"{name.replace('/', '_')}_{width}_{theme}.png"
                    subprocess.run(
                        [*command(chromium, profile), f"--screenshot={path}", "--timeout=4000",
                         f"--window-size={max(width, 500)},{height}", f"{address}/harness"],
                        check=True, capture_output=True,
                    )  # fmt: skip
                    print(path)
    server.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shots", type=Path)
    parser.add_argument("--height", type=int, default=1400)
    parser.add_argument("pages", nargs="*")
    given = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if given.shots:
        if not chromium:
            return "pictures of pages need chromium"
        return shoot(chromium, BUILT, given.shots, given.pages, given.height)
    wrong, names = read(BUILT)
    if chromium:
        wrong += measure(chromium, BUILT, given.pages or names)
    else:
        print("no chromium: what overflows is not looked for (apt-get install chromium)")
    print(*wrong, f"{len(names)} pages, {len(wrong)} faults", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
