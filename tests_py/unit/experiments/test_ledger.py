"""The ledger: rules judge as they say, kept results answer, pages are what they render to."""

import hashlib
import importlib.util
import json
import math
import re

import numpy as np
import pandas as pd
import pytest

from cosched import plot
from cosched.cli import main
from cosched.errors import StudyError
from cosched.experiments import kept, ledger, measures, tolerances
from cosched.experiments.catalogue import STUDIES, claims, read_claims
from cosched.experiments.ledger import Claim, NotKept, Reading
from cosched.experiments.tolerances import (
    AGREES,
    DIFFERS,
    FAILS,
    NOT,
    ORDER,
    UNTESTED,
    Curve,
    Seen,
)
from support import REPO

KEYS = [
    "paper", "place", "claim", "study", "kind", "paper_value", "value", "low", "high", "tolerance",
    "cells", "rho", "n", "verdict", "other", "explained", "reason", "curve",
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "paper", "seen", "verdict"),
    [
        (tolerances.within(0.1, "x"), 10, 11, AGREES),
        (tolerances.within(0.1, "x"), 10, 11.2, DIFFERS),
        (tolerances.within(0.1, "x"), 10, -10, DIFFERS),
        (tolerances.within(0.1, "x"), 0, 0, AGREES),
        (tolerances.within(0.1, "x"), 0, 0.1, DIFFERS),
        (tolerances.near(0.02, "x"), 0.08, 0.0999, AGREES),
        (tolerances.near(0.02, "x"), 0.08, -0.01, DIFFERS),
        (tolerances.drawn("x"), 5, Seen(4, 3, 6), AGREES),
        (tolerances.drawn("x"), 6.5, Seen(4, 3, 6), DIFFERS),
        (tolerances.drawn("x"), 9, Seen(4, 3, 20), DIFFERS),
        (tolerances.drawn("x", slack=0.05), 0, Seen(0, 0, 0), AGREES),
        (tolerances.drawn("x", slack=0.05), 5, Seen(0, 0, 0), DIFFERS),
        (tolerances.at_most(2, "x"), math.nan, 2, AGREES),
        (tolerances.at_most(2, "x"), math.nan, 2.5, FAILS),
        (tolerances.at_least(6, "x"), math.nan, 5.7, FAILS),
        (tolerances.between(1, 2, "x"), math.nan, 3, FAILS),
        (tolerances.exactly("x"), 5, 5.0, AGREES),
        (tolerances.exactly("x"), 5, 5.1, DIFFERS),
        (tolerances.UNSAID, math.nan, 1, UNTESTED),
    ],
)
def test_rules(rule, paper, seen, verdict):
    seen = seen if isinstance(seen, Seen) else Seen(seen)
    interval = rule.interval(paper, seen)
    assert tolerances.verdict(rule.kind, seen.value, *interval, paper) == verdict


@pytest.mark.parametrize(
    ("kind", "value", "rho", "n", "verdict"),
    [
        ("number", 15, 0.95, 10, ORDER),
        ("number", 15, 0.89, 10, DIFFERS),
        ("number", 15, 0.95, 7, DIFFERS),
        ("number", 15, None, None, DIFFERS),
        ("number", 21, 0.99, 100, DIFFERS),  # farther than a factor 2
        ("drawn number", 15, 0.99, 100, DIFFERS),  # outside its own interval
        ("drawn number", 11, 0.5, 10, AGREES),
        ("sentence", 15, 0.99, 100, FAILS),
    ],
)
def test_the_order_of_a_set_of_cells(kind, value, rho, n, verdict):
    assert tolerances.verdict(kind, value, 9, 12, 10, rho, n) == verdict


def test_a_wide_interval_alone_does_not_agree():
    heavy = ("drawn number", 50, 5, 500, 10)
    assert tolerances.verdict(*heavy, 0.95, 20) == ORDER
    assert tolerances.verdict(*heavy, 0.5, 20) == DIFFERS


@pytest.mark.parametrize(
    ("value", "other", "low", "high", "target", "share"),
    [
        (4, 7, 9, 11, 10, 0.5),
        (4, 13, 9, 11, 10, 0.5),  # as far beyond
        (4, 2, 9, 11, 10, 0.0),  # farther than before
        (4, 6.5, 9, math.inf, math.nan, 0.5),  # a sentence: to the end of its interval
        (4, 20, 9, math.inf, math.nan, 1.0),
        (4, math.nan, 9, 11, 10, None),
    ],
)
def test_the_share_that_a_reading_explains(value, other, low, high, target, share):
    assert tolerances.explained(value, other, low, high, target) == share


def toy(**changes):
    fields = {
        "paper": "li2016",
        "place": "Table 1",
        "text": "a mean",
        "study": "toy",
        "paper_value": 2.0,
        "tolerance": tolerances.within(0.1, "a toy"),
        "measure": lambda frame: frame.x.mean(),
        "reading": Reading("twice as much", ("toy",), lambda frame: 1.2 * frame),
    }
    return Claim(**{**fields, **changes})


def frames(name):
    if name != "toy":
        raise NotKept(f"no {name}")
    return pd.DataFrame({"x": [1.0, 2.0]})


def test_a_reading_runs_where_it_differs_only():
    agrees, differs = ledger.evaluate([toy(paper_value=1.5), toy()], frames)
    assert (agrees.verdict, agrees.reason, agrees.explained) == (AGREES, "", None)
    assert differs.verdict == DIFFERS
    assert differs.explained == pytest.approx(0.6)
    assert differs.reason == "twice as much: 1.8 then, explains 60% of the gap"


def test_what_explains_less_than_half_or_nothing_says_so():
    less = Reading("a little more", ("toy",), lambda frame: 1.1 * frame)
    little, without, lost = ledger.evaluate(
        [toy(reading=less), toy(reading=None, why="known"),
         toy(reading=Reading("other", ("other",), less.prepare))], frames,
    )  # fmt: skip
    assert little.reason.endswith("explains 30% of the gap, less than half")
    assert (without.reason, without.explained) == ("unexplained: known", None)
    assert lost.reason.startswith("unexplained here")


def test_what_cannot_be_reproduced_says_why():
    drawn, absent = ledger.evaluate(
        [toy(tolerance=None, why="Not said."), toy(study="other")], frames
    )
    assert (drawn.verdict, drawn.reason) == (NOT, "Not said.")
    assert (absent.verdict, absent.reason) == (NOT, "no other")
    assert ledger.evaluate([toy(study="other")], frames, partial=True) == []
    with pytest.raises(LookupError):
        ledger.evaluate([toy(measure=lambda frame: frame["y"].mean())], frames)


@pytest.mark.parametrize(("value", "verdict"), [(2.0, AGREES), (0.5, FAILS)])
def test_a_curve_without_numbers_is_judged_by_what_is_told_of_it(value, verdict):
    curve = Curve("1: 2, 2: 3", value, (1.0, math.inf), "from 2 to 3")
    rule = tolerances.told("it rises")
    (row,) = ledger.evaluate([toy(paper_value="a picture", tolerance=rule, reading=None,
                                  measure=lambda _: curve)], frames)  # fmt: skip
    assert (row.verdict, row.value, row.curve) == (verdict, value, "1: 2, 2: 3")
    assert row.tolerance == "it rises: from 2 to 3"


def test_keep_refuses_a_run_with_errors_or_without_a_column(tmp_path):
    frame = pd.DataFrame({"status": ["ok", "error"], "x": [1.0, 2.0]})
    with pytest.raises(StudyError, match="1 tasks ended in an error"):
        kept.keep("toy", frame, ("x",), {}, tmp_path)
    with pytest.raises(StudyError, match="no column y"):
        kept.keep("toy", frame[:1], ("x", "y"), {}, tmp_path)
    kept.keep("toy", frame[:1], ("x",), {"rows": 1}, tmp_path)
    assert kept.read("toy", tmp_path).x.tolist() == [1.0]
    assert kept.facts("toy", tmp_path) == {"rows": 1}
    assert kept.names(tmp_path) == ["toy"]
    with pytest.raises(NotKept):
        kept.read("none", tmp_path)


def test_what_is_kept_has_nine_digits_and_times_have_three(tmp_path):
    exact = pd.DataFrame({"status": "ok", "x": [1 / 3, math.nan, math.inf], "seconds": 1 / 7})
    kept.keep("toy", exact, ("x", "seconds"), {}, tmp_path)
    read = kept.read("toy", tmp_path)
    assert read.x[0] == pytest.approx(1 / 3, rel=2e-10)
    assert math.isnan(read.x[1])
    assert read.x[2] == math.inf
    assert read.seconds[0] == pytest.approx(1 / 7, rel=1e-3)
    assert read.seconds[0] != 1 / 7
    keys = pd.DataFrame({"status": "ok", "gamma": [1.1, 1.12, 0.9375]})  # rows are found by them
    kept.keep("toy", keys, ("gamma",), {}, tmp_path)
    assert kept.read("toy", tmp_path).gamma.tolist() == keys.gamma.tolist()


def test_claims_are_whole():
    assert len({(c.paper, c.place, c.text, c.study) for c in claims()}) == len(claims())
    for claim in claims():
        assert claim.paper in ledger.PAPERS
        assert claim.study in STUDIES
        assert set(claim.reading.studies if claim.reading else ()) <= set(STUDIES)
        assert claim.tolerance is not None or claim.why, claim.place


ROW = """
paper = "li2016"
[names]
limit = "= at_most(2, 'twice')"
[like.toy]
study = "toy"
[[claims]]
like = "toy"
each."name, factor" = [["a", 1], ["b", 3]]
place = "Table {factor}"
text = "the mean of {name}"
value = "= factor / 2"
agrees = "limit"
ours = "factor * of('mean', name)"
"""


def claims_of(text, tmp_path):
    (tmp_path / "claims.toml").write_text(text)
    return read_claims(tmp_path / "claims.toml", measures)


def test_rows_of_a_file_for_each_value(tmp_path):
    first, two = claims_of(ROW, tmp_path)
    assert (first.place, first.text, first.paper_value) == ("Table 1", "the mean of a", 0.5)
    assert (two.place, two.text, two.paper_value) == ("Table 3", "the mean of b", 1.5)
    assert two.measure(measures.CurveTable(pd.DataFrame({"b": [1.0, 3.0]}))) == 6
    assert (two.study, two.tolerance.says) == ("toy", "at most 2 (twice)")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("agrees =", "agree =", "entry 1: unknown field agree"),
        ("of('mean', name)", "off('mean', name)", "name 'off' is not defined"),
        ("of('mean', name)", "of()", "missing a required argument: 'number'"),
        ("of('mean', name)", "of.__globals__", "a formula has no Attribute"),
        ("of('mean', name)", "of('mean'", "was never closed"),
        ("of {name}", "of {nme}", "KeyError('nme')"),
        ('like = "toy"', 'like = "toys"', "like 'toys': expected one of toy"),
        ("limit =", "limit 5", "claims.toml"),
    ],
)
def test_a_file_that_is_wrong_says_where(old, new, says, tmp_path):
    with pytest.raises(ValueError, match=re.escape(says)) as raised:
        claims_of(ROW.replace(old, new, 1), tmp_path)
    assert "claims.toml" in str(raised.value)


@pytest.fixture(scope="module")
def judged():
    return kept.ledger_rows()


@pytest.fixture(scope="module")
def rows(judged):
    return [row.plain() for row in judged]


def verdict_of(row):
    """The verdict of the numbers of a row, by rules of this test's own."""
    if row["kind"] in ("nothing", "bare curve"):
        return NOT if row["kind"] == "nothing" else UNTESTED
    value = float(row["value"])
    slack = 1e-9 * max(1, abs(row["low"] or 0), abs(row["high"] or 0))
    above = row["low"] is None or value >= row["low"] - slack
    inside = above and (row["high"] is None or value <= row["high"] + slack)
    if row["kind"] in ("sentence", "curve"):
        return AGREES if inside else FAILS
    paper = row["paper_value"]
    near = paper == 0 or 0.5 <= value / paper <= 2
    order = (row["n"] or 0) >= 8 and row["rho"] >= 0.9
    if row["kind"] == "number":
        return AGREES if inside else ORDER if near and order else DIFFERS
    assert row["kind"] == "drawn number"
    return (AGREES if near else ORDER if order else DIFFERS) if inside else DIFFERS


def test_every_verdict_derives_from_numbers_in_its_row(rows):
    assert {row["verdict"] for row in rows} == set(tolerances.VERDICTS)
    for row in rows:
        assert row["verdict"] == verdict_of(row), (row["place"], row["claim"])


def test_rank_correlations_are_of_the_cells_in_the_rows(rows):
    cells = [row for row in rows if row["cells"]]
    assert len(cells) > 700
    for name in {row["cells"] for row in cells}:
        cell_rows = [row for row in cells if row["cells"] == name]
        ours, theirs = (
            rankdata([row[key] for row in cell_rows]) for key in ("value", "paper_value")
        )
        rho = np.corrcoef(ours, theirs)[0, 1]
        assert {row["n"] for row in cell_rows} == {len(cell_rows)}
        assert [row["rho"] for row in cell_rows] == pytest.approx(
            [rho] * len(cell_rows), abs=1e-9
        ), name


def rankdata(values):
    """Ranks, equal values at their mean."""
    values = np.array(values)
    return [(values < value).sum() + ((values == value).sum() + 1) / 2 for value in values]


def test_what_differs_or_fails_has_a_share_that_derives_from_its_row_or_is_unexplained(rows):
    for row in rows:
        if row["verdict"] in (AGREES, UNTESTED, NOT):
            assert row["explained"] is None
            assert row["verdict"] == AGREES or row["reason"]
            continue
        if row["explained"] is None:
            assert "unexplained" in row["reason"], row
            continue
        both = float(row["value"]), row["other"]
        if "number" in row["kind"]:
            gap, remaining_gap = (abs(each - row["paper_value"]) for each in both)
        else:
            low = -math.inf if row["low"] is None else row["low"]
            high = math.inf if row["high"] is None else row["high"]
            gap, remaining_gap = (max(low - each, each - high, 0) for each in both)
        share = max(0, 1 - remaining_gap / gap)
        assert row["explained"] == pytest.approx(share, abs=1e-6), row
        assert ("less than half" in row["reason"]) == (row["explained"] < 0.5)


def test_the_page_is_read_in_a_minute():
    lines = (REPO / "docs" / "results" / "ledger.md").read_text().splitlines()
    assert len(lines) <= 300
    assert sum(line.startswith("| ") for line in lines[:20]) >= 6  # counts come first
    assert [line[3:] for line in lines if line.startswith("## ")][:5] == list(ledger.PAPERS)


def test_the_command(capsys, tmp_path):
    file = tmp_path / "ledger.json"
    assert main(["study", "ledger", "dags-fig6-7", "--json", "-o", str(file)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(file.read_text())
    assert all(list(row) == KEYS for row in printed)
    assert {row["paper"] for row in printed} == {"amaris2017"}
    assert main(["study", "ledger", "dags-fig6-7", "-o", str(tmp_path / "ledger.md")]) == 0
    output = capsys.readouterr().out
    assert (tmp_path / "ledger.md").read_text() == output.removesuffix("\n")
    assert "| amaris2017 |" in output


@pytest.mark.parametrize(
    ("arguments", "part"), [(["dags-fig67"], "near: dags-fig6-7"), (["-o", "a.txt"], ".md")]
)
def test_bad_calls(arguments, part, capsys):
    assert main(["study", "ledger", *arguments]) == 2
    captured = capsys.readouterr()
    assert part in captured.err
    assert captured.err.count("\n") == 1


def test_pages_are_what_they_render_to(judged, tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("results", REPO / ".ci" / "results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(ledger, "evaluate", lambda *_: judged)
    # No digest is of a picture: it is drawn and not saved, which takes most of the time. The site
    # of test_site.py saves them.
    monkeypatch.setattr(plot, "save", lambda figure, path: path.touch())
    module.render(tmp_path)
    results = REPO / "docs" / "results"
    for name in ("ledger.md", "pages.sha256"):  # the digests: of every page that is not in git
        committed, rendered = ((place / name).read_text() for place in (results, tmp_path))
        assert committed == rendered, f"{name}: run `make results`"
    digests = [line.split() for line in rendered.splitlines()]
    assert {page for _, page in digests} == {f"{name}.md" for name in kept.names()}
    for digest, page in digests:
        assert hashlib.sha256((tmp_path / page).read_bytes()).hexdigest() == digest
