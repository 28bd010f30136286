"""The pages have the results of the studies."""

import re
from pathlib import Path

import pytest

from simoom.studies import STUDIES

PAGES = Path(__file__).parents[2] / "docs" / "studies"


def written(name):
    """Return the text of a page between its markers."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    return re.search(r"<!-- claims -->\n(.*?)<!-- /claims -->", text, re.DOTALL)[1]


@pytest.mark.parametrize("name", STUDIES)
def test_every_page_has_its_claims_and_pictures(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert written(name).count("\n| ") > 10
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert pictures
    for picture in pictures:
        assert (PAGES / picture).read_bytes().startswith(b"\x89PNG")
