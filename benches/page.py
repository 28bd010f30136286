"""How long the page of `simoom serve` takes to open and to move in ten million frames, in Chromium.

    python benches/page.py [--seconds S] [--air FILE]

Runs scenarios/saturation_11b.toml for 8,300 s with a trace, or takes the trace FILE of such a run,
and drives wheel and keys by Playwright. Prints the first paint of the page, the first complete
picture of the whole run, and of each movement: the CPU time of the page's main thread for each
picture, with events, script and layout; the wall-clock time of drawing within it; and the time
between two frames of the browser.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

import simoom as sm
from simoom.results.record import identity
from simoom.serve.drafts import Desk
from simoom.serve.library import Library

ROOT = Path(__file__).parents[1]
SECONDS = 8300.0
"""Ten million frames."""
LIMIT_MIB = 16_384
TARGET_MS = 16.0
FIRST_PAINT_MS = 1000.0

RECORD = """() => {
  const canvas = document.querySelector("#air");
  window.seen = { drawn: [], frames: [] };
  canvas.addEventListener("drawn", (event) => window.seen.drawn.push(event.detail));
  const frame = (at) => { window.seen.frames.push(at); requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
}"""
TAKE = """() => {
  const { drawn, frames } = window.seen;
  window.seen.drawn = [];
  window.seen.frames = frames.slice(-1);
  return { drawn, gaps: frames.slice(1).map((at, n) => at - frames[n]) };
}"""
COMPLETE = """() => new Promise((resolve) => {
  const begin = performance.now();
  const look = () => {
    if (document.querySelector("#air[aria-busy=false]")) resolve(performance.now() - begin);
    else requestAnimationFrame(look);
  };
  look();
})"""
PAINT = """() => performance.getEntriesByName("first-contentful-paint")[0].startTime"""
NEXT = "() => new Promise((resolve) => requestAnimationFrame(() => resolve()))"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of the run")
    parser.add_argument("--air", type=Path, help="the trace of that run, if there is one")
    arguments = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("the page of simoom serve: not measured, it needs Chromium (apt install chromium)")
        return
    with tempfile.TemporaryDirectory() as folder:
        key = library(Path(folder), arguments.seconds, arguments.air)
        command = [sys.executable, "-m", "simoom", "serve", "--port", "0", "--quiet"]
        with subprocess.Popen(
            [*command, "--library", folder], stdout=subprocess.PIPE, encoding="utf-8"
        ) as server, sync_playwright() as playwright:  # fmt: skip
            assert server.stdout is not None
            link = server.stdout.readline().strip()
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            try:
                measure(browser.new_page(viewport={"width": 1440, "height": 900}), link, key)
            finally:
                browser.close()
                server.terminate()


def library(folder: Path, seconds: float, air: Path | None) -> str:
    """Make a library with the run and its timeline; return the run's key."""
    kept = Library(folder, Desk(folder))
    saturation = sm.Scenario.load(ROOT / "scenarios" / "saturation_11b.toml")
    scenario = saturation.set("duration_s", seconds)
    key = identity(scenario, seed=1, replication=0)
    own = kept.air(key)
    if air is None:
        run = sm.run(scenario, trace=[own], trace_options={"air.limit_mib": LIMIT_MIB})
    else:
        own.symlink_to(air.resolve())
        run = sm.run(saturation)
    kept.put(key, run, name="ten million frames")
    return key


def measure(page: Page, link: str, key: str) -> None:
    """Print the times of one timeline."""
    page.goto(link)
    page.wait_for_selector(".cm-content")
    print(f"first paint of the page {page.evaluate(PAINT):.0f} ms (target {FIRST_PAINT_MS:.0f})")
    page.evaluate(f"location.hash = '#/air/{key}'")
    print(f"first complete picture of the whole run {page.evaluate(COMPLETE):.0f} ms")
    print(page.locator(".air .heading .dim").inner_text())
    page.evaluate(RECORD)
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    canvas = page.locator("#air")
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 60)
    canvas.focus()
    wheel, key_press = page.mouse.wheel, page.keyboard.press
    header = ("CPU, ms", "draw, ms", "95 %", "most", "apart, ms", "95 %", "> 25 ms, %")
    print(f"{'':24}{'frames':>8}" + "".join(f"{name:>12}" for name in header))
    moves: Sequence[tuple[str, int, Callable[[], object]]] = (
        ("wheel, pan at all", 60, lambda: wheel(60, 0)),
        ("wheel, zoom in", 150, lambda: wheel(0, -80)),
        ("wheel, pan at 1 us", 60, lambda: wheel(60, 0)),
        ("wheel, zoom out", 150, lambda: wheel(0, 80)),
        ("keys, zoom in by half", 40, lambda: key_press("+")),
        ("keys, pan", 60, lambda: key_press("ArrowRight")),
        ("wheel, pan", 120, lambda: wheel(60, 0)),
        ("keys, zoom in further", 20, lambda: key_press("+")),
        ("wheel, pan at frames", 120, lambda: wheel(60, 0)),
        ("keys, zoom out", 60, lambda: key_press("-")),
    )
    for name, steps, move in moves:
        show(name, page, devtools, steps, move)


def show(
    name: str, page: Page, devtools: CDPSession, steps: int, move: Callable[[], object]
) -> None:
    """Make a movement step by step, one at each frame of the browser, and print its times."""
    page.evaluate(TAKE)
    before = busy_s(devtools)
    for _ in range(steps):
        move()
        page.evaluate(NEXT)
    cpu_s = busy_s(devtools) - before
    found = page.evaluate(TAKE)
    gaps, drawn = sorted(found["gaps"]), sorted(found["drawn"]) or [0.0]
    late = 100 * sum(gap > 25.0 for gap in gaps) / len(gaps)
    # Frames of the browser in which nothing is drawn cost little.
    values = (
        1e3 * cpu_s / max(len(found["drawn"]), 1),
        statistics.median(drawn), quantile(drawn, 0.95), drawn[-1],
        statistics.median(gaps), quantile(gaps, 0.95), late,
    )  # fmt: skip
    print(f"{name:24}{len(gaps):8}" + "".join(f"{value:12.1f}" for value in values), flush=True)


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of values that are in order."""
    return ordered[int(share * (len(ordered) - 1))]


def busy_s(devtools: CDPSession) -> float:
    """Return the CPU time of the page's main thread, in tasks."""
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    return float(next(own["value"] for own in metrics if own["name"] == "TaskDuration"))


if __name__ == "__main__":
    main()
