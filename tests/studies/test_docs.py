"""The pages follow from the stored claims of the studies, which are complete."""

import importlib.util
import re
from pathlib import Path

import pytest

from simoom.studies import Kind, Results, Verdict, headlines
from simoom.studies.claim import Claims
from simoom.studies.figure import Axis, Figure

PAGES = Path(__file__).parents[2] / "docs" / "studies"
ORIGINALS = {
    "afw_few": "Table I, Table II, Table III, Table IV, Table V, Table VI, Table VII, "
    "Fig. 1, Fig. 2",
    "full_duplex": "Table I, Fig. 1, Fig. 2, Fig. 3, Fig. 4, Fig. 5, Fig. 6",
    "http_queueing": "Table 1, Table 2, Table 3, Fig. 1, Fig. 2, Fig. 3, Fig. 4, Fig. 5, Fig. 6, "
    "Fig. 7, Fig. 8, Fig. 9, Fig. 10, Fig. 11, Fig. A.1, Fig. A.2, Fig. A.3",
    "lt_tcp": "Table I, Table II, Table III, Table IV, Table V, Table VI, "
    "Fig. 1, Fig. 2, Fig. 3, Fig. 4",
    "mcs_cubic": "Fig. 1, Fig. 2a, Fig. 2b, Fig. 3a, Fig. 3b",
}
"""All figures and tables of the papers, from their text."""
PAPERS = list(ORIGINALS)


def load_update():
    spec = importlib.util.spec_from_file_location("update", PAGES / "update.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


update = load_update()
STUDIES = update.STUDIES


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_follows_from_the_stored_claims(name):
    texts = [page.read_text(encoding="utf-8") for page in update.pages(name)]
    for text in texts:
        assert update.page(STUDIES[name], text) == text, "python docs/studies/update.py --pages"
    assert ["<!-- reasons -->" in text for text in texts].count(True) == 1
    text = texts[0]
    counts, table = headlines.counts(update.rows(name)), text.partition("<!-- /claims -->")[0]
    assert f"**{counts}.**" in table.replace("\n", " ")


def test_the_table_of_originals_follows_from_the_stored_claims():
    text = (PAGES / "README.md").read_text(encoding="utf-8")
    assert update.readme(text) == text, "python docs/studies/update.py --pages"


def test_costs_of_figures_that_were_made_apart_add_up(monkeypatch, tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("study,lab,figures,runs,cpu_s\n", encoding="utf-8")
    monkeypatch.setattr(update, "COSTS", path)
    study = STUDIES["mcs_cubic"]
    first, *rest = (Figure(key, "", Axis("x", "x"), (), ()) for key in study.keys)

    def made(figures, runs):
        update.record(Results(study, tuple(figures)), lab="full", runs=runs, cpu_s=2.0)

    made([first], 10)
    assert "| mcs_cubic | - | - | - | - |" in update.readme_costs()
    made(rest, 5)
    assert "| mcs_cubic | - | - | 15 | 4 |" in update.readme_costs()
    made([first], 20)
    assert "| mcs_cubic | - | - | 25 | 4 |" in update.readme_costs()


@pytest.mark.parametrize("name", STUDIES)
def test_counts_are_of_the_claims_of_the_paper(name):
    rows = update.rows(name)
    verdicts = headlines.verdicts(rows)
    assert sum(verdicts.values()) == sum(row["kind"] == Kind.PAPER for row in rows)
    assert len({row["claim"] for row in rows}) == len(rows)
    counted = {row["claim"] for row in rows if row["kind"] in (Kind.PAPER, Kind.LOOSE)}
    assert {row["repeats"] for row in rows} - {""} <= counted
    assert all(row["verdict"] == Verdict.REPRODUCED for row in rows if row["kind"] == Kind.LOOSE)


@pytest.mark.parametrize("name", STUDIES)
def test_each_row_of_the_claims_is_a_stored_claim(name):
    words = Claims(f"simoom_studies.{name}").rows
    stored = {row["claim"]: row for row in update.rows(name)}
    assert set(words) <= set(stored)
    for claim, row in words.items():
        assert (row["kind"] == "finding") == (stored[claim]["kind"] == Kind.FINDING)


@pytest.mark.parametrize("name", PAPERS)
def test_each_figure_and_table_of_the_paper_has_a_row(name):
    study = STUDIES[name]
    places = [each.place for each in study.originals]
    assert set(ORIGINALS[name].split(", ")) <= set(places)
    assert len(set(places)) == len(places)
    text = (PAGES / "README.md").read_text(encoding="utf-8")
    block = text.partition(f"<!-- originals {name} -->")[2].partition("<!-- /originals")[0]
    for each in study.originals:
        assert f"\n| {each.place} |" in block
        assert each.method
        assert set(each.figures) <= set(study.keys)


@pytest.mark.parametrize("name", PAPERS)
def test_each_claim_of_a_paper_has_a_place_in_it(name):
    places = {each.place for each in STUDIES[name].originals}
    of_paper = (row for row in update.rows(name) if row["kind"] != Kind.FINDING)
    assert {row["place"] for row in of_paper} <= places


@pytest.mark.parametrize("name", PAPERS)
def test_a_claim_that_is_not_reproduced_names_the_readings_that_were_tried(name):
    silent = [
        row["claim"]
        for row in update.rows(name)
        if row["kind"] == Kind.PAPER
        and row["verdict"] == Verdict.NOT_REPRODUCED
        and not row["others"]
    ]
    assert silent == []


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_begins_with_its_claims_and_has_its_pictures(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert pictures
    assert text.index("<!-- /claims -->") < text.index("![")
    for picture in pictures:
        assert (PAGES / picture).read_bytes().startswith(b"\x89PNG")
