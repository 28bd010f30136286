"""How long the timeline of `simoom serve` takes for ten million frames, in Chromium.

    python benches/air_page.py [FRAMES]

Prints the time to the first picture of the whole run, and of the frames of a zoom from the run to a
microsecond and back, and of a pan at several lengths: JavaScript's time of each, and the time
between two frames of the browser.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import simoom as sm
from simoom.record import identity
from simoom.store import Store

ROOT = Path(__file__).parents[1]
STEPS = 120

MEASURE = """async ({ kind, steps }) => {
  const canvas = document.querySelector("#air");
  const box = canvas.getBoundingClientRect();
  const drawn = [], gaps = [];
  canvas.addEventListener("drawn", (event) => drawn.push(event.detail));
  let last = 0;
  for (let step = 0; step < steps; step++) {
    const at = { clientX: box.x + box.width * 0.6, clientY: box.y + 60, bubbles: true,
      cancelable: true };
    const by = kind === "pan" ? { deltaX: 30 } : { deltaY: kind === "in" ? -80 : 80 };
    canvas.dispatchEvent(new WheelEvent("wheel", { ...at, ...by }));
    const now = await new Promise(requestAnimationFrame);
    if (last) gaps.push(now - last);
    last = now;
  }
  return { drawn, gaps };
}"""


def main(frames: int) -> None:
    """Measure and print."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("needs Chromium: apt install chromium")
    with tempfile.TemporaryDirectory() as folder:
        key = library(Path(folder), frames)
        command = [sys.executable, "-m", "simoom", "serve", "--port", "0", "--quiet"]
        with subprocess.Popen(
            [*command, "--library", folder], stdout=subprocess.PIPE, encoding="utf-8"
        ) as server, sync_playwright() as playwright:  # fmt: skip
            assert server.stdout is not None
            link = server.stdout.readline().strip()
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(link)
            page.wait_for_selector(".cm-content")
            measure(page, key)
            browser.close()
            server.terminate()


def library(folder: Path, frames: int) -> str:
    """Make a library with a run whose timeline has so many frames; return the run's key."""
    scenario = sm.Scenario(
        standard="11b", stations=10, duration_s=1.0, flows=[{"from": "sta*", "to": "ap"}]
    )
    key = identity(scenario, seed=1, replication=0)
    Store(folder / "runs").put(key, sm.run(scenario))
    air = folder / "air" / f"{key}.air"
    air.parent.mkdir()
    cargo = ["cargo", "run", "--quiet", "--profile", "fast", "-p", "simoom-trace"]
    made = [*cargo, "--example", "air_file", "--", str(air), str(frames)]
    subprocess.run(made, cwd=ROOT, check=True)
    print(f"{frames:,} frames, {air.stat().st_size >> 20:,} MiB")
    return key


def measure(page: Page, key: str) -> None:
    """Print the times of one timeline."""
    page.evaluate("window.begun = performance.now()")
    page.evaluate(f"location.hash = '#/air/{key}'")
    page.wait_for_function(
        """() => { const c = document.querySelector("#air");
        if (!c || !c.width) return false;
        const d = c.getContext("2d").getImageData(c.width >> 1, 60, 1, c.height - 60).data;
        const blue = d.some((v, n) => n % 4 === 0 && v === 0 && d[n + 1] === 114);
        if (blue) window.painted ??= performance.now();
        return blue; }""",
        polling="raf",
    )
    first = page.evaluate("window.painted - window.begun")
    print(f"first picture       {first:7.0f} ms")
    for name, kind, steps in (
        ("zoom in", "in", STEPS), ("pan at 1 µs", "pan", STEPS), ("zoom out", "out", STEPS),
        ("pan at all", "pan", 20), ("zoom in a little", "in", 25), ("pan", "pan", STEPS),
        ("zoom in more", "in", 20), ("pan closer", "pan", STEPS),
    ):  # fmt: skip
        found = page.evaluate(MEASURE, {"kind": kind, "steps": steps})
        drawn, gaps = sorted(found["drawn"]), sorted(found["gaps"])
        print(
            f"{name:18} draw median {statistics.median(drawn):5.1f}, 95 % "
            f"{drawn[int(0.95 * len(drawn))]:5.1f}, most {drawn[-1]:5.1f} ms; frames apart median "
            f"{statistics.median(gaps):5.1f}, 95 % {gaps[int(0.95 * len(gaps))]:5.1f} ms"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
