"""All views of the page in Firefox: they work, and axe finds nothing.

Playwright drives only a Firefox of its own. Marionette, Mozilla's protocol, drives that of the
system.
"""

from __future__ import annotations

import socket
import warnings
from importlib.resources import files

import pytest
from tests.serving import CELL

with warnings.catch_warnings():
    # Mozilla's packages have warnings where they are compiled and imported.
    warnings.simplefilter("ignore")
    from marionette_driver import By, Wait
    from marionette_driver.errors import TimeoutException
    from marionette_driver.keys import Keys
    from marionette_driver.marionette import Marionette

# Marionette's client leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


class Page:
    """A page in Firefox, by the names that its user sees."""

    def __init__(self, marionette: Marionette, wait_ms: int) -> None:
        self.driver, self.wait_ms = marionette, wait_ms
        self.wait = Wait(marionette, timeout=wait_ms / 1000, interval=0.1)

    def open(self, address: str) -> None:
        self.driver.navigate(address)
        self.driver.execute_script(
            "window.faults = [];"
            "addEventListener('error', (event) => faults.push(event.message));"
            "addEventListener('unhandledrejection', (event) => faults.push(`${event.reason}`));",
            sandbox=None,
        )

    def find(self, selector: str, words: str = ""):
        """The first visible element of a selector whose text has these words."""

        def found(driver: Marionette):
            for element in driver.find_elements(By.CSS_SELECTOR, selector):
                if words in element.text and element.is_displayed():
                    return element
            return None

        try:
            return self.wait.until(found)
        except TimeoutException:
            shown = self.driver.find_element(By.CSS_SELECTOR, "main").text
            raise AssertionError(f"no {selector} with {words!r} in: {shown}") from None

    def click(self, selector: str, words: str = "") -> None:
        self.find(selector, words).click()

    def write(self, text: str) -> None:
        self.find(".cm-content")
        self.driver.execute_script(
            "const editor = document.querySelector('.cm-content');"
            "editor.focus(); document.execCommand('selectAll');"
            "document.execCommand('insertText', false, arguments[0]);",
            script_args=[text],
            sandbox=None,
        )

    def run(self, text: str, seed: int) -> None:
        self.click("nav a", "Scenario")
        self.write(text)
        box = self.find("input[type=number]")
        box.clear()
        box.send_keys(str(seed))
        # The shortcut of the editor that runs the scenario.
        self.find(".cm-content").send_keys(Keys.CONTROL + Keys.ENTER)
        self.find("a", "Open the air")

    def violations(self) -> list[str]:
        """What axe finds in the view that is shown."""
        return self.driver.execute_async_script(
            # The page's content security policy forbids a script element with its own text.
            f"if (!window.axe) {{ {AXE} }}"
            "const done = arguments[0];"
            "axe.run().then(({ violations }) => done(violations.flatMap(({ id, nodes }) =>"
            " nodes.map(({ html }) => `${id}: ${html}`))));",
            sandbox=None,
            script_timeout=self.wait_ms,
        )

    def width(self) -> int:
        return self.driver.execute_script("return document.documentElement.scrollWidth")

    def all(self, selector: str) -> list:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)


@pytest.fixture(scope="module")
def firefox(program):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    path = program("firefox-esr", "firefox", package="firefox-esr")
    driver = Marionette(bin=path, port=port, headless=True, gecko_log="-")
    driver.start_session()
    yield driver
    driver.cleanup()
    # What remains of it would be removed when Python's modules are gone.
    driver.instance.close(clean=True)
    driver.instance = None


@pytest.fixture(scope="module")
def link(tmp_path_factory, serve):
    folder = tmp_path_factory.mktemp("firefox")
    (folder / "cell.toml").write_text(CELL, encoding="utf-8")
    with serve(folder, "cell.toml") as link:
        yield link


def views(page):
    """Shows each view in turn and gives its name."""
    page.find(".cm-content", "Two stations")
    yield "scenario"
    page.run(CELL, seed=1)
    yield "run"
    page.click("summary", "Download")
    page.find(".menu button", "Report")
    yield "menu of files"
    page.find(".menu summary").send_keys(Keys.ESCAPE)
    assert not page.driver.execute_script("return document.querySelector('.menu').open")
    page.click("a", "Open the air")
    page.find(".view", " s to ")
    page.click("button", "Lost")
    page.find(".life, .details, .frame")
    yield "air"
    page.run(CELL.replace('"11b"', '"11g"'), seed=1)
    page.click("nav a", "Runs")
    page.wait.until(lambda _: len(page.all("[type=checkbox]")) == 2)
    for box in page.all("[type=checkbox]"):
        box.click()
    yield "runs"
    page.click("button", "Compare two runs")
    page.find("tr.differs")
    yield "compare"
    page.click(".pair a")
    page.click("a", "Beside theory")
    page.find(".checks")
    yield "beside theory"
    page.driver.go_back()
    page.click("a", "Why so slow?")
    page.click("button", "Explain")
    page.find(".bars")
    yield "why"


@pytest.mark.parametrize("width", [1280, 500])
def test_every_view_works_in_firefox(firefox, wait_ms, link, width):
    # A window of Firefox is no narrower than 450 pixels.
    firefox.set_window_rect(width=width, height=900)
    page = Page(firefox, wait_ms)
    page.open(link)
    shown = []
    for view in views(page):
        assert page.violations() == [], view
        assert page.width() <= width, view
        shown.append(view)
    assert shown[-1] == "why"
    assert firefox.execute_script("return window.faults", sandbox=None) == []
    # The next test finds an empty library.
    for entry in firefox.execute_async_script(
        "const done = arguments[0]; fetch('/api/runs').then((all) => all.json()).then(done);",
        sandbox=None,
    ):
        firefox.execute_async_script(
            "const [key, done] = arguments; fetch(`/api/runs/${key}`, { method: 'DELETE' })"
            ".then(() => done());",
            script_args=[entry["id"]],
            sandbox=None,
        )
