"""The ledger: rules judge as they say, kept results answer, pages are what they render to."""

import hashlib
import json
import math
import os
import subprocess
import sys

import pandas as pd
import pytest

from cosched.cli import main
from cosched.errors import StudyError
from cosched.experiments import kept, ledger, papers, tolerances
from cosched.experiments.catalogue import CLAIMS, STUDIES
from cosched.experiments.ledger import Check, Claim, NotKept
from cosched.experiments.study import data_root
from cosched.experiments.tolerances import AGREES, DIFFERS, ORDER, Curve, Seen
from support import REPO

KEYS = [
    "paper", "place", "claim", "study", "paper_value", "value", "tolerance", "verdict",
    "explanation",
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "paper", "seen", "verdict"),
    [
        (tolerances.within(0.1, "x"), 10, 11, AGREES),
        (tolerances.within(0.1, "x"), 10, 11.2, ORDER),
        (tolerances.within(0.1, "x"), 10, 21, DIFFERS),
        (tolerances.within(0.1, "x"), 10, -10, DIFFERS),
        (tolerances.within(0.1, "x"), 0, 0, AGREES),
        (tolerances.within(0.1, "x"), 0, 0.1, DIFFERS),
        (tolerances.near(0.02, "x"), 0.08, 0.0999, AGREES),
        (tolerances.near(0.02, "x"), 0.08, 0.2, ORDER),
        (tolerances.near(0.02, "x"), 0.08, -0.01, DIFFERS),
        (tolerances.drawn("x"), 5, Seen(4, 3, 6), AGREES),
        (tolerances.drawn("x"), 6.5, Seen(4, 3, 6), ORDER),
        (tolerances.drawn("x"), 9, Seen(4, 3, 20), ORDER),
        (tolerances.drawn("x", slack=0.05), 0, Seen(0, 0, 0), AGREES),
        (tolerances.drawn("x"), 9, Seen(4, 3, 6), DIFFERS),
        (tolerances.at_most(2, "x", order=3), math.nan, 2, AGREES),
        (tolerances.at_most(2, "x", order=3), math.nan, 2.5, ORDER),
        (tolerances.at_most(2, "x"), math.nan, 2.5, DIFFERS),
        (tolerances.at_least(6, "x", order=1), math.nan, 5.7, ORDER),
        (tolerances.at_least(6, "x", order=1), math.nan, 0.7, DIFFERS),
        (tolerances.between(1, 2, "x", (0, 4)), math.nan, 3, ORDER),
        (tolerances.exactly(), 5, 5.0, AGREES),
        (tolerances.exactly(), 5, 5.1, DIFFERS),
    ],
)
def test_rules(rule, paper, seen, verdict):
    seen = seen if isinstance(seen, Seen) else Seen(seen)
    assert rule.judge(paper, seen) == verdict
    assert "x" in rule.text(seen) or "nothing" in rule.text(seen)


def toy(**changes):
    given = {
        "paper": "li2016",
        "place": "Table 1",
        "text": "a mean",
        "study": "toy",
        "paper_value": 2.0,
        "tolerance": tolerances.within(0.1, "a toy"),
        "measure": lambda frame: frame.x.mean(),
        "explanation": "Another reading.",
        "check": Check("greatest", ("toy",), lambda frame: f"at most {frame.x.max():g}"),
    }
    return Claim(**{**given, **changes})


def frames(name):
    if name != "toy":
        raise NotKept(f"no {name}")
    return pd.DataFrame({"x": [1.0, 2.0]})


def test_an_explanation_runs_where_it_differs_only():
    agrees, differs = ledger.evaluate([toy(paper_value=1.5), toy()], frames)
    assert (agrees.verdict, agrees.explanation) == ("agrees", "")
    assert differs.verdict == "order only"
    assert differs.explanation == "Another reading. Check greatest: at most 2"


def test_what_cannot_be_reproduced_says_why():
    drawn, absent = ledger.evaluate([toy(tolerance=None), toy(study="other")], frames)
    assert drawn.verdict == "cannot be reproduced: Another reading."
    assert absent.verdict == "cannot be reproduced: no other"
    assert ledger.evaluate([toy(study="other")], frames, partial=True) == []
    with pytest.raises(LookupError):
        ledger.evaluate([toy(measure=lambda frame: frame["y"].mean())], frames)


@pytest.mark.parametrize(("holds", "verdict"), [(True, ORDER), (False, DIFFERS)])
def test_a_curve_without_numbers_is_judged_by_the_order_that_is_told(holds, verdict):
    rule = tolerances.in_order("it rises")
    curve = Curve("1: 2, 2: 3", holds, "from 2 to 3")
    claim = toy(paper_value="a picture", tolerance=rule, measure=lambda _: curve, check=None)
    (row,) = ledger.evaluate([claim], frames)
    assert (row.verdict, row.value) == (verdict, "1: 2, 2: 3")
    assert row.tolerance == "no numbers to compare; order only: it rises"
    assert row.explanation == "Another reading. Check order: from 2 to 3"


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


def test_remarks_tell_numbers_of_the_kept_rows():
    for study in STUDIES.values():
        if study.remarks and study.name in kept.names():
            lines = study.remarks(kept.read(study.name))
            assert not [line for line in lines if "nan" in line.split()], study.name
    rows = kept.read("bags-fig3").pivot(index=["q", "draw"], columns="algorithm", values="value")
    worst = 100 * (rows["ttb (grid)"] / rows["tms"] - 1).min()
    assert f"{worst:+.2f}% at worst" in STUDIES["bags-fig3"].remarks(kept.read("bags-fig3"))[0]


def test_claims_are_whole():
    assert len({(c.paper, c.place, c.text, c.study) for c in CLAIMS}) == len(CLAIMS)
    for claim in CLAIMS:
        assert claim.paper in ledger.PAPERS
        assert claim.study in STUDIES
        assert set(claim.check.studies if claim.check else ()) <= set(STUDIES)
        assert claim.tolerance is not None or claim.explanation, claim.place


@pytest.fixture(scope="module")
def rows():
    return papers.ledger_rows()


def test_what_does_not_agree_has_a_check_that_ran(rows):
    for row in rows:
        assert row.short in ledger.VERDICTS
        if row.verdict in (ORDER, DIFFERS):
            assert "Check " in row.explanation, f"{row.place}: {row.claim}"
        elif row.verdict == AGREES:
            assert row.explanation == ""
            assert row.value is not None


def test_the_command(capsys, tmp_path):
    file = tmp_path / "ledger.json"
    assert main(["study", "ledger", "dags-fig6-7", "--json", "-o", str(file)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(file.read_text())
    assert all(list(row) == KEYS for row in printed)
    assert {row["paper"] for row in printed} == {"amaris2017"}
    assert main(["study", "ledger", "dags-fig6-7", "-o", str(tmp_path / "ledger.md")]) == 0
    shown = capsys.readouterr().out
    assert (tmp_path / "ledger.md").read_text() == shown.removesuffix("\n")
    assert "| amaris2017 |" in shown


def test_reduced_runs_answer_claims_of_every_paper(capsys):
    """All studies at reduced size in this process: under a minute, and half of the claims."""
    assert main(["study", "ledger", "--quick", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    real = {"li2016"} if not (data_root() / "etc_apc").exists() else set()
    assert {row["paper"] for row in found} >= set(ledger.PAPERS) - real
    assert len(found) > len(CLAIMS) / 2
    assert not [row for row in found if "at full size" in row["verdict"]]


@pytest.mark.parametrize(
    ("arguments", "part"), [(["dags-fig67"], "near: dags-fig6-7"), (["-o", "a.txt"], ".md")]
)
def test_bad_calls(arguments, part, capsys):
    assert main(["study", "ledger", *arguments]) == 2
    captured = capsys.readouterr()
    assert part in captured.err
    assert captured.err.count("\n") == 1


def test_pages_are_what_they_render_to(tmp_path):
    done = subprocess.run(
        [sys.executable, REPO / ".ci" / "results.py", "render", tmp_path],
        capture_output=True,
        text=True,
        env={**os.environ, "MPLBACKEND": "Agg"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = REPO / "docs" / "results"
    for name in ("ledger.md", "pages.sha256"):  # the digests: of every page that is not in git
        committed, rendered = ((place / name).read_text() for place in (results, tmp_path))
        assert committed == rendered, f"{name}: run `make results`"
    digests = [line.split() for line in rendered.splitlines()]
    assert {page for _, page in digests} == {f"{name}.md" for name in kept.names()}
    for digest, page in digests:
        assert hashlib.sha256((tmp_path / page).read_bytes()).hexdigest() == digest
