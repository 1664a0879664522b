"""``cosched audit``: one page about a log."""

import re

import pytest
from web import assert_no_errors

import cosched as cs
from cosched.cli import main
from support import REPO, data

FIXTURE = "tests_py/fixtures/sacct.txt"


def page_of(tmp_path, inst, **options):
    path = tmp_path / "audit.html"
    cs.cluster.audit(inst, path, **options)
    return path.read_text()


def test_a_log_with_waits(tmp_path):
    jobs = cs.workloads.lublin(80, 16, seed=3).assign(
        wait=30.0, user=lambda t: ["<b>ada</b>", "bob"] * 40, id=lambda t: range(100, 180)
    )
    inst = cs.cluster.Instance(jobs, 16)
    text = page_of(tmp_path, inst)
    for name in ("as-logged", "FCFS", "EASY", "conservative", "GreedyPM */per/opt=min/minvt=600"):
        assert f"<td>{name}</td>" in text
    assert "&lt;b&gt;ada&lt;/b&gt;" in text
    assert "<b>ada</b>" not in text
    assert "overcommitted hours" in text
    assert "within minute" in text
    easy = cs.cluster.solve(inst, "EASY")
    longest = int(easy.waits.argmax())
    assert f"job {inst.ids[longest]} waited" in text
    assert not re.search(r"(src|href)=\"(?!data:)", text)  # needs no network


def test_no_waits_no_sharing_and_no_time(tmp_path):
    jobs = {"submit": [0, 5], "tasks": [1, 2], "cpu": [1, 1], "memory": [1, 1], "runtime": [9, 9]}
    inst = cs.cluster.Instance(jobs, 2)
    text = page_of(tmp_path, inst)
    assert "the log has no waits" in text
    assert "GreedyPM" not in text
    assert "DFRS policies are left out: every task has a whole node" in text
    assert "<td>as-logged</td>" not in text
    with pytest.raises(cs.InvalidInstance, match="html"):
        cs.cluster.audit(inst, tmp_path / "audit.txt")


def test_who_is_ahead_goes_by_the_priority_of_partitions(tmp_path):
    (tmp_path / "m.toml").write_text(
        '[[nodes]]\ncount = 2\ncores = 2\n[[partitions]]\nname = "long"\n'
        '[[partitions]]\nname = "short"\npriority = 5\n'
    )
    jobs = {"submit": [0, 10, 20, 20], "tasks": [4, 4, 2, 4], "cpu": [1] * 4, "memory": [1] * 4,
            "runtime": [100.0, 50, 30, 40], "id": [11, 12, 13, 14],
            "partition": ["long", "long", "short", "short"]}  # fmt: skip
    inst = cs.cluster.Instance(jobs, 4, machine=cs.cluster.Machine.read(tmp_path / "m.toml"))
    text = page_of(tmp_path, inst)
    said = dict(re.findall(r"<li>job (1[0-9]) waited [^<]*submitted day 0 00:00: ([^<]*)<", text))
    assert said["12"] == "nobody ahead of it"
    assert said["13"] == "nobody ahead of it"  # job 12 came first, in a lower partition
    assert said["14"].startswith("1 ahead of it, the first of them job 13 (2 nodes)")
    assert "11" not in said  # did not wait
    assert "4 cores of 2 nodes" in text
    assert "DFRS policies are left out: they know no partitions" in text


def test_the_command(tmp_path, capsys):
    (tmp_path / "machine.toml").write_text(
        '[[nodes]]\ncount = 4\ncores = 2\n[[partitions]]\nname = "main"\n'
        '[[partitions]]\nname = "short"\nnodes = 2\n'
    )
    out = tmp_path / "audit.html"
    command = ["audit", str(REPO / FIXTURE), "--machine", str(tmp_path / "machine.toml")]
    assert main([*command, "-o", str(out)]) == 0
    assert f"wrote {out}" in capsys.readouterr().out
    text = out.read_text()
    assert "the bound ignores partitions" in text
    assert "sacct.txt: audit" in text
    assert main([*command, "-o", str(tmp_path / "audit.pdf")]) == 2
    assert ".html" in capsys.readouterr().err


def test_the_page_in_a_browser(tmp_path, browser):
    jobs = cs.workloads.lublin(80, 16, seed=3).assign(
        wait=30.0, user=lambda t: ["<script>alert(1)</script>", "bob"] * 40
    )
    inst = cs.cluster.Instance(jobs, 16)
    cs.cluster.audit(inst, tmp_path / "audit.html")
    browser.get((tmp_path / "audit.html").as_uri())
    assert browser.title == "jobs: audit"
    heads = [head.text for head in browser.find_elements("tag name", "h2")]
    assert len(heads) == 7
    first = browser.execute_script(
        "return [...document.querySelectorAll('table')[0].rows].slice(1)"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )
    assert [row[0] for row in first[:4]] == ["as-logged", "FCFS", "EASY", "conservative"]
    shown = browser.execute_script(
        "return [...document.querySelectorAll('table')[0].rows[0].cells].map(c => c.textContent)"
    )
    easy = cs.cluster.solve(inst, "EASY")
    assert first[2][shown.index("value")] == f"{easy.value:.4g}"
    # The picture is there, drawn, and says what it is.
    wide, about = browser.execute_script(
        "const i = document.querySelector('img'); return [i.complete && i.naturalWidth, i.alt]"
    )
    assert wide > 500
    assert about == "utilisation and queue over time"
    longest = browser.find_elements("css selector", "ol > li")
    assert len(longest) == 10
    assert all("start:" in item.text for item in longest)
    assert "<script>alert(1)</script>" in browser.find_element("tag name", "body").text
    # No table is wider than the page.
    assert browser.execute_script("return document.body.scrollWidth <= window.innerWidth")
    assert_no_errors(browser)


@pytest.mark.data
def test_an_archive_log(tmp_path):
    log = data("pwa", "CTC-SP2-1996-3.1-cln.swf.gz")
    inst = cs.cluster.from_swf(log, convention="rigid", until=7 * 86400)
    text = page_of(tmp_path, inst)
    assert "338 processors (header: MaxProcs)" in text
    assert text.count("waited") >= 10
