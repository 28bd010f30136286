"""The gallery of the page, and variations of a text: what needs no server."""

from __future__ import annotations

from pathlib import Path

import pytest

from simoom.base.issue import ScenarioError
from simoom.cli.serve import addresses
from simoom.scenario.scenario import Scenario
from simoom.serve.drafts import Desk, Draft
from simoom.serve.gallery import HIGH, WIDE, gallery


def varied(text: str, settings: list[str], unset: list[str] | None = None) -> str:
    return Draft(text, Desk(Path.cwd())).varied(settings, unset or [])


@pytest.mark.parametrize("entry", gallery(), ids=lambda entry: entry["name"])
def test_each_entry_can_be_opened_and_tried_on_the_page(entry):
    text = entry["text"]
    assert "--" not in text, "an option of the command line"
    assert "simoom " not in text, "a command"
    scenario = Scenario.parse(text)
    for one in entry["tries"]:
        changed = varied(text, one["set"])
        assert Scenario.parse(changed) != scenario, one
        Scenario.parse(changed).check()
        assert changed.startswith(text.partition("\n")[0]), "the comment of the file stays"


def test_each_entry_has_a_picture_of_its_nodes():
    for entry in gallery():
        nodes, lines = entry["picture"]["nodes"], entry["picture"]["lines"]
        assert len(nodes) >= 2, entry["name"]
        places = {(x, y) for x, y, _ in nodes}
        assert all(0 <= x <= WIDE and 0 <= y <= HIGH for x, y in places)
        assert {end for a, b, c, d, _ in lines for end in ((a, b), (c, d))} <= places


def test_a_variation_sets_and_removes_keys_and_keeps_the_comment():
    text = '# Mine.\n\nstandard = "11g"  # old\nstations = [{ rate_mbps = 6.0, count = 2 }]\n'
    assert "# old" in varied(text, ["stations[0].rate_mbps=54"])
    changed = varied(text, ["ap.queue=fq_codel"])
    assert changed.startswith("# Mine.\n")
    assert "fq_codel" in Scenario.parse(changed).get("ap.queue")
    without = varied(text, [], ["stations[0].rate_mbps"])
    assert without.startswith("# Mine.\n")
    assert "rate_mbps" not in without
    with pytest.raises(ScenarioError, match="statoins"):
        varied(text, ["statoins=3"])


def test_links_have_addresses_that_others_can_open():
    assert addresses("127.0.0.1") == ["127.0.0.1"]
    assert addresses("Wifi.Example") == ["wifi.example"]
    assert addresses("::1") == ["[::1]"]
    for every in ("0.0.0.0", "::"):
        names = addresses(every)
        assert names
        assert not {"0.0.0.0", "[::]"} & set(names)
