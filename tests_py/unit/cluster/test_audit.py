"""``cosched audit``: one page about a log."""

import base64
import html
import json
import pickle
import re
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from web import assert_no_errors

import cosched as cs
from cosched import _core
from cosched.cli import main
from cosched.cluster.analysis import simulate_audit as audit_simulations
from cosched.cluster.analysis.what_if import what_if, with_nodes
from cosched.cluster.machine.node_types import NodeType
from support import REPO, data

FIXTURE = "tests_py/fixtures/sacct.txt"
MACHINE = (
    '[[nodes]]\ncount = 4\ncores = 2\n[[partitions]]\nname = "main"\n'
    '[[partitions]]\nname = "short"\nnodes = 2\n'
)


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
        assert f">{name}</td>" in text
    assert "&lt;b&gt;ada&lt;/b&gt;" in text
    assert "<b>ada</b>" not in text
    assert "more nodes in use than the machine" in text
    assert "starts within 1 min of the log" in text
    assert "Waits by user</h3>" in text
    assert "All jobs" not in text
    assert "The log does not say: partition, account, qos, group, gpu." in text
    assert not re.search(r"(src|href)=\"(?!data:|#)", text)  # needs no network


def test_no_waits_no_sharing_and_no_time(tmp_path):
    jobs = {"submit": [0, 5], "tasks": [1, 2], "cpu": [1, 1], "memory": [1, 1], "runtime": [9, 9]}
    inst = cs.cluster.Instance(jobs, 2)
    text = page_of(tmp_path, inst)
    assert "2 jobs came, and the log has no waits" in text
    assert "GreedyPM" not in text
    assert "DFRS policies are left out: every task has a whole node" in text
    assert "<td>as-logged</td>" not in text
    with pytest.raises(cs.InvalidInstance, match="html"):
        cs.cluster.audit(inst, tmp_path / "audit.txt")


def tables_of(text):
    """Rows of texts of each table."""
    return [
        [
            [html.unescape(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)]
            for row in re.findall(r"<tr[^>]*>(.*?)</tr>", table)
        ]
        for table in re.findall(r"<table>(.*?)</table>", text)
    ]


def lead_of(text):
    return html.unescape(re.search(r'<p class="lead">(.*?)</p>', text)[1])


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
    waits = {row[0]: row[-1] for row in tables_of(text)[-1][1:]}
    not_ahead = "no job ahead; 0 of 4 free at the eligible time; enough free in 0% of the wait"
    assert waits["12"] == not_ahead
    assert waits["13"] == not_ahead  # before 12
    assert waits["14"].startswith("1 job ahead; 0 of 4 free at the eligible time")
    assert "11" not in waits  # did not wait
    assert "4 cores of 2 nodes" in text
    assert "DFRS policies are left out: they know no partitions" in text


def long_log(**options):
    """Job 1 of 60 s fills both nodes; job 2 waited an hour, 58 minutes of it with room for it."""
    jobs = {"submit": [0.0, 0.0, 30.0, 600.0], "tasks": [2, 1, 1, 1], "cpu": [1] * 4,
            "memory": [1] * 4, "runtime": [60.0, 600.0, 600.0, 60.0],
            "wait": [0.0, 3600.0, 40.0, 0.0], "estimate": [100.0, 900.0, 900.0, 90.0],
            "gpus": [0, 1, 0, 0], "group": ["a", "b", "a", "a"]}  # fmt: skip
    return cs.cluster.Instance(jobs | options.pop("jobs", {}), 2, **options)


def test_the_first_sentence_and_the_logs_own_waits(tmp_path):
    inst = long_log(begins=datetime(2026, 3, 1, 23, 30))
    text = page_of(tmp_path, inst)
    lead = lead_of(text)
    assert lead.startswith("4 jobs waited 15 min on average: half of them at most 20 s, 5% of ")
    assert "From 1 March 2026 to 2 March 2026; 2 nodes" in text
    easy = cs.cluster.solve(inst, "EASY", estimates="requested")
    assert easy.waits.mean() == 37.5
    easy_sentence = "EASY backfilling with the requested time limits they would wait 38 s"
    assert easy_sentence in lead
    assert "(observed: 7.0, EASY: 2.0)." in lead  # (3600 + 600) / 600
    policies, *groups, longest = tables_of(text)
    rows = [row[:2] for row in policies[1:]]
    assert rows == [
        ["as-logged", "-"],
        ["FCFS", "none"],
        ["EASY", "requested"],
        ["conservative", "requested"],
        ["EASY (perfect estimates)", "perfect"],
    ]
    assert text.count('<tr class="marked"><td>EASY</td>') == 1
    (gpu,) = (table for table in groups if table[0][0] == "gpu")
    assert [(row[0], row[1], row[3]) for row in gpu[1:]] == [
        ("with", "1", "1 h 00 min"),
        ("without", "3", "13 s"),
    ]
    assert longest[1][0] == "1"  # the log's, which under EASY waited a minute only
    assert longest[1][2:5] == ["2026-03-01 23:30", "1 h 00 min", "1 min"]
    assert longest[1][-2] == "a limit, a reservation, or fragmented resources"
    assert longest[1][-1] == (
        "no job ahead; 0 of 2 free at the eligible time; enough free in 97% of the wait; "
        "2 jobs backfilled ahead of it"
    )
    assert "Waits by user group</h3>" in text


@pytest.mark.parametrize(
    ("header", "begins"),
    [
        ("", None),
        ("; UnixStartTime: -1\n", None),
        ("; UnixStartTime: 835823160\n", "1996-06-26 21:06:00+00:00"),
        ("; UnixStartTime: 835823160\n; TimeZone: 3600\n", "1996-06-26 22:06:00+01:00"),
        (
            "; UnixStartTime: 835823160\n; TimeZoneString: US/Eastern\n",
            "1996-06-26 17:06:00-04:00",
        ),
    ],
)
def test_when_an_archive_log_begins(tmp_path, header, begins):
    log = tmp_path / "log.swf"
    rows = (f"{k} {k * 86400} 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n" for k in range(9))
    log.write_text(header + "; MaxProcs: 8\n" + "".join(rows))
    inst = cs.cluster.from_swf(log, convention="rigid")
    assert (inst.begins and str(inst.begins)) == begins
    for part in ({"week": 1}, {"begin": 7 * 86400.0}):
        later = cs.cluster.from_swf(log, convention="rigid", **part)
        assert later.begins == (inst.begins and inst.begins + timedelta(days=7))
    assert inst.replace().begins == pickle.loads(pickle.dumps(inst)).begins == inst.begins


@pytest.mark.parametrize("zone", [None, "Europe/Stockholm"])
def test_when_sacct_output_begins(zone):
    machine = cs.cluster.Machine((NodeType("n", 4, 2, 0.0, 0),))
    inst = cs.cluster.from_sacct(REPO / FIXTURE, machine, timezone=zone)
    assert f"{inst.begins:%Y-%m-%dT%H:%M:%S}" == "2026-11-22T08:46:13"  # as it is written there
    assert (inst.begins.tzinfo is not None) == bool(zone)


def test_a_job_that_was_blocked_says_so(tmp_path):
    inst = long_log(jobs={"eligible": [0.0, 1800.0, 30.0, 600.0]})
    text = page_of(tmp_path, inst)
    assert "limit): 1 job, on average 30 min, at most 30 min." in text
    first = tables_of(text)[-1]
    at = first[0].index("ineligible before")
    assert [row[at] for row in first[1:]] == ["30 min", "0 s"]
    assert first[1][at - 1] == "30 min"  # the wait without it


def test_a_bound_that_is_not_reached_or_weak(tmp_path):
    inst = long_log()
    assert "The lower bound is weak here" in page_of(
        tmp_path, inst.replace(submit=[0.0, 1e4, 2e4, 3e4])
    )
    text = page_of(tmp_path, inst.replace().without_bound())
    assert "Attainable is" in text
    assert "A lower bound was not reached in 15 s" in text
    assert lead_of(text).endswith("lower bound on the maximum bounded slowdown was computed.")
    inst.once("bound", lambda: cs.Bound(1.2, "max-stretch so far", "time_limit"))
    sentence = "lower maximum than 1.2, max-stretch so far: what was proved in 15 s (--time-limit)."
    assert sentence in page_of(tmp_path, inst)


def test_a_job_that_the_machine_does_not_hold_ends_the_audit(tmp_path):
    log = long_log().replace(tasks=[3, 1, 1, 1])
    with pytest.raises(cs.InfeasibleError, match=r"job 0: needs 3 nodes.* with --drop too-wide"):
        page_of(tmp_path, log)
    assert not (tmp_path / "audit.html").exists()


def test_a_log_of_ages_has_a_picture_without_dates(tmp_path):
    inst = long_log(jobs={"submit": [0.0, 0.0, 30.0, 1e13]}, begins=datetime(2026, 3, 1))
    text = page_of(tmp_path, inst)
    assert "days since the begin of the log" in text
    assert "From 1 March 2026 to day " in text


def test_what_if(tmp_path):
    (tmp_path / "m.toml").write_text(
        '[[nodes]]\nname = "thin"\ncount = 2\ncores = 1\n[[nodes]]\nname = "fat"\ncount = 1\n'
        'cores = 1\n[[partitions]]\nname = "a"\nnodes = ["thin"]\nmax_time = 1000\n'
        '[[partitions]]\nname = "b"\n'
    )
    machine = cs.cluster.Machine.read(tmp_path / "m.toml")
    jobs = {"submit": [0.0] * 4, "tasks": [1] * 4, "cpu": [1] * 4, "memory": [1] * 4,
            "runtime": [100.0, 200, 300, 400], "estimate": [150.0, 250, 350, 450],
            "partition": ["a"] * 4}  # fmt: skip
    inst = cs.cluster.Instance(jobs, 3, machine=machine)
    changes = ["nodes=+2", "nodes=4", "nodes.thin=-1", "partition.a.nodes=0-2",
               "partition.a.nodes=fat", "partition.b.priority=3",
               "partition.a.max_time=0:03:20"]  # fmt: skip
    text = page_of(tmp_path, inst, what_if=changes)
    (table,) = (table for table in tables_of(text) if table[0][0] == "scenario")
    rows = {row[0]: row for row in table[1:]}
    assert list(rows) == ["current configuration", *changes]
    waits = {  # on two nodes (0, 0, 100, 200), and so on
        "current configuration": "1 min 15 s", "nodes=+2": "0 s", "nodes=4": "0 s",
        "nodes.thin=-1": "4 min 10 s", "partition.a.nodes=0-2": "25 s",
        "partition.a.nodes=fat": "4 min 10 s", "partition.b.priority=3": "1 min 15 s",
        "partition.a.max_time=0:03:20": "1 min 15 s",
    }  # fmt: skip
    assert {name: row[1] for name, row in rows.items()} == waits
    assert rows["partition.b.priority=3"][-1] == (
        "no effect: no job starts at another time under EASY"
    )
    assert rows["partition.a.max_time=0:03:20"][-1] == (
        "simulated: jobs that ran longer and end at the new limit: 2"
    )
    assert "Users would change what they submit" in text
    assert inst.machine is machine
    assert machine.cores == 3


def test_what_if_of_several_changes(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "SelectType=select/cons_tres\nNodeName=n[1-4] CPUs=2\nNodeName=g[1-2] CPUs=8\n"
        "PartitionName=a Nodes=n[1-4] MaxTime=10\nPartitionName=all Nodes=ALL\n"
    )
    jobs = {"submit": [0.0] * 4, "tasks": [4] * 4, "cpu": [1] * 4, "memory": [1] * 4,
            "runtime": [300.0, 600, 300, 300], "estimate": [350.0, 1250, 350, 450],
            "partition": ["a"] * 4}  # fmt: skip
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    inst = cs.cluster.Instance(jobs, machine.cores, machine=machine)
    assert inst.column("estimate").tolist() == [350, 600, 350, 450]
    both, note_texts = what_if(
        inst, "partition.a.nodes=n[1-3],g2, partition.a.max_time=30:00,nodes=+1"
    )
    assert both.machine.node_count == 7
    (part,) = (part for part in both.machine.partitions if part.name == "a")
    assert part.nodes == ((1, 5),)  # of g1, g2, n1, ...
    assert both.column("estimate").tolist() == [350, 1250, 350, 450]
    assert note_texts == (
        "jobs that had asked for more than the old limit: 1; that the old limit ended, and would "
        "run on for a time unknown: 1"
    )
    undone, note_texts = what_if(both, "partition.a.max_time=500")
    assert undone.column("runtime").tolist() == [300, 540, 300, 300]  # Slurm has whole minutes
    assert note_texts.endswith("up to 9 minutes; jobs that ran longer and end at the new limit: 1")
    assert what_if(inst, "partition.all.max_time=1-0")[1] == ""
    for change, wrong in (("partition.a.nodes=n[1-9]", "no node 'n5'"), ("nodes=+1,", "'+1,'")):
        with pytest.raises(cs.InvalidInstance, match=re.escape(wrong)):
            what_if(inst, change)


def test_memory_and_gpus_on_the_page(tmp_path):
    kinds = (NodeType("thin", 2, 8, 16.0, 0), NodeType("fat", 1, 8, 64.0, 4, gpu_type="a100"))
    jobs = {"submit": [0.0] * 3, "tasks": [1] * 3, "cpu": [1] * 3, "memory": [1] * 3,
            "runtime": [600.0] * 3, "memory_gb": [1.0] * 3, "gpus": [4, 4, 0], "nodes": [1] * 3,
            "gpu_type": ["a100", "a100", ""], "wait": [0.0, 600, 0]}  # fmt: skip
    inst = cs.cluster.Instance(jobs, 24, machine=cs.cluster.Machine(kinds))
    text = page_of(tmp_path, inst)
    (table,) = (table for table in tables_of(text) if table[0][0] == "resource")
    assert table == [
        ["resource", "capacity", "in use, observed", "waited for, observed", "in use, EASY",
         "waited for, EASY"],
        ["cores", "24", "6%", "0%", "6%", "0%"],
        ["memory", "96 GB", "2%", "0%", "2%", "0%"],
        ["GPUs", "4", "100%", "100%", "100%", "100%"],
    ]  # fmt: skip
    assert "24 cores of 3 nodes (allocated: cores, memory, GPUs)" in text
    assert "enough free in 0% of the wait; too little GPUs a100 in 100%" in text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("nodes", "expected nodes=+20, nodes.TYPE=-4, nodes.g[1-4]=+4, partition.NAME.max_time=12"),
        ("nodes=many", "'many': expected a number of nodes: +20, -4 or 64"),
        (
            "nodes=+99999999",
            "what-if 'nodes=+99999999': 100,000,003 nodes: expected at most 1,000,000",
        ),
        ("nodes=-4", "there are 4: expected that at least one is left"),
        ("nodes.fat=+1", "no type 'fat': the machine has nodes-1"),
        ("partition.gpu.max_time=9", "no partition 'gpu': the machine has main, short"),
        ("partition.short.max_time=soon", "max_time = 'soon': expected seconds or 2-00:00:00"),
        ("partition.short.nodes=5", "nodes = 5: expected at most 4"),
        ("partition.short.colour=5", "expected nodes=+20"),
    ],
)
def test_a_what_if_that_is_none(tmp_path, capsys, change, said):
    (tmp_path / "machine.toml").write_text(MACHINE)
    out = tmp_path / "audit.html"
    command = ["audit", str(REPO / FIXTURE), "--machine", str(tmp_path / "machine.toml")]
    assert main([*command, "-o", str(out), "--what-if", change]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"what-if {change!r}: " in line
    assert said in line
    assert not out.exists()


def test_what_if_of_a_slurm_conf_and_of_plain_nodes(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "NodeName=n[1-4] CPUs=2\nNodeName=g[1-2] CPUs=8\nPartitionName=a Nodes=n[1-4]\n"
        "PartitionName=all Nodes=ALL\n"
    )
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    larger_machine, fewer = (with_nodes(machine, None, text) for text in ("+3", "-3"))
    assert (larger_machine.cores, fewer.cores) == (24 + 6, 24 - 6)
    for changed in (larger_machine, fewer):
        sizes = {part.name: sum(b - a for a, b in part.nodes) for part in changed.partitions}
        assert sizes == {"a": changed.node_count - 2, "all": changed.node_count}
        assert len(changed.slurm.names) == changed.node_count
        lines = sum(b - a for line in changed.slurm.lines for a, b in line)
        assert lines == changed.node_count
        assert [name for name in changed.slurm.names if name.startswith("g")] == ["g1", "g2"]
    text = page_of(tmp_path, long_log(), what_if=["nodes=+1"])
    assert "<td>nodes=+1</td>" in text
    with pytest.raises(cs.InvalidInstance, match="need a machine"):
        page_of(tmp_path, long_log(), what_if=["nodes.thin=+1"])


def test_the_command(tmp_path, capsys):
    (tmp_path / "machine.toml").write_text(MACHINE)
    out = tmp_path / "audit.html"
    command = ["audit", str(REPO / FIXTURE), "--machine", str(tmp_path / "machine.toml")]
    assert main([*command, "-o", str(out), "--what-if", "nodes=+2"]) == 0
    assert f"wrote {out}" in capsys.readouterr().out
    text = out.read_text()
    assert "the bound ignores partitions" in text
    assert "<h1>Audit of sacct.txt</h1>" in text
    assert "On 22 November 2026; 8 cores of 4 nodes" in text
    assert lead_of(text).startswith("15 jobs waited 8 s on average")
    assert main([*command, "-o", str(tmp_path / "audit.pdf")]) == 2
    assert ".html" in capsys.readouterr().err


def test_the_title_of_a_table_of_jobs_is_the_name_of_its_file(tmp_path):
    log, page, numbers = (tmp_path / name for name in ("queue.csv", "a.html", "a.json"))
    log.write_text("submit,tasks,cpu,memory,runtime,wait\n0,2,1,0.3,60,0\n5,1,0.5,0.1,30,60\n")
    command = ["audit", str(log), "--nodes", "2", "-o", str(page), "-o", str(numbers)]
    assert main([*command, "--what-if", "nodes=+1"]) == 0
    assert "<h1>Audit of queue.csv</h1>" in page.read_text()
    assert str(tmp_path) not in page.read_text()
    rows = json.loads(numbers.read_text())["rows"]
    assert [row["class"] for row in rows] == ["baseline", "simulated"]
    assert main([*command, "--drop", "run-0"]) == 0
    assert "<h1>Audit of queue.csv</h1>" in page.read_text()


def test_the_page_in_a_browser(tmp_path, browser):
    jobs = cs.workloads.lublin(80, 16, seed=3).assign(
        wait=30.0, user=lambda t: ["<script>alert(1)</script>", "bob"] * 40
    )
    inst = cs.cluster.Instance(jobs, 16)
    cs.cluster.audit(inst, tmp_path / "audit.html")
    browser.get((tmp_path / "audit.html").as_uri())
    assert browser.title == "Audit of jobs"
    heads = [head.text for head in browser.find_elements("tag name", "h2")]
    assert heads[0] == "Load, queue and waits"
    assert heads[-1] == "Data notes: what was ignored, and what was assumed"
    first = browser.execute_script(
        "return [...document.querySelectorAll('table')[0].rows].slice(1)"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )
    assert [row[0] for row in first[:4]] == ["as-logged", "FCFS", "EASY", "conservative"]
    header_cells = browser.execute_script(
        "return [...document.querySelectorAll('table')[0].rows[0].cells].map(c => c.textContent)"
    )
    easy = cs.cluster.solve(inst, "EASY")
    assert first[2][header_cells.index("maximum bounded slowdown")] == f"{easy.value:,.4g}"
    # The picture is there, drawn, and says what it is; text in it is of the page's own colour.
    wide, about, drawn, colours = browser.execute_script(
        "const f = document.querySelector('figure'); return [f.getBoundingClientRect().width,"
        " f.ariaLabel, f.querySelectorAll('path').length,"
        " new Set([...f.querySelectorAll('text')].map(t => getComputedStyle(t).fill)).size]"
    )
    assert wide > 500
    assert about == "Core utilization, jobs in the queue and mean wait over time"
    assert drawn > 10
    assert colours == 1
    longest = browser.execute_script(
        "return [...document.querySelectorAll('table')].at(-1).rows.length"
    )
    assert longest == 3  # a row for each of the two users
    assert "<script>alert(1)</script>" in browser.find_element("tag name", "body").text
    # No table is wider than the page.
    assert browser.execute_script("return document.body.scrollWidth <= window.innerWidth")
    browser.set_window_size(500, 900)  # as narrow as a window can be; the tables scroll
    assert browser.execute_script("return document.body.scrollWidth <= window.innerWidth")
    assert_no_errors(browser)


def test_long_names_do_not_cut_tables_off(tmp_path, browser):
    jobs = cs.workloads.lublin(60, 16, seed=3).assign(
        wait=30_000.0,
        user=lambda t: [f"somebody-with-a-long-name@{'institute' * 3}{k % 3}" for k in t.index],
        group=lambda t: ["g" * 40 + str(k % 2) for k in t.index],
        id=lambda t: [f"123456_{k}[some-array-name]" for k in t.index],
    )
    cs.cluster.audit(cs.cluster.Instance(jobs, 16), tmp_path / "audit.html", what_if=["nodes=+4"])
    browser.set_window_size(1100, 1000)
    browser.get((tmp_path / "audit.html").as_uri())
    cut = browser.execute_script(
        "return [...document.querySelectorAll('.scroll')].map(e => e.scrollWidth - e.clientWidth)"
    )
    assert len(cut) > 3
    assert set(cut) == {0}


@pytest.mark.data
def test_an_archive_log(tmp_path):
    log = data("pwa", "CTC-SP2-1996-3.1-cln.swf.gz")
    inst = cs.cluster.from_swf(log, convention="rigid", until=7 * 86400)
    text = page_of(tmp_path, inst)
    assert "338 processors (header: MaxProcs)" in text
    assert "26 June 1996 to " in text
    assert len(tables_of(text)[-1]) == 11


def made_up_week():
    folder = REPO / "notebooks" / "cluster"
    return cs.cluster.from_sacct(folder / "sacct.txt", folder / "slurm.conf")


def month_of_an_archive():
    log = data("pwa", "CTC-SP2-1996-3.1-cln.swf.gz")
    return cs.cluster.from_swf(log, convention="rigid", until=30 * 86400)


@pytest.mark.parametrize(
    "log", [made_up_week, pytest.param(month_of_an_archive, marks=pytest.mark.data)]
)
def test_three_pages_of_paper(tmp_path, browser, log):
    from selenium.webdriver.common.print_page_options import PrintOptions

    inst = log()
    cs.cluster.audit(inst, tmp_path / "audit.html", what_if=["nodes=+20", "nodes=-1"])
    browser.get((tmp_path / "audit.html").as_uri())
    a4 = PrintOptions()
    a4.set_page_size(PrintOptions.A4)
    paper = base64.b64decode(browser.print_page(a4))
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) <= 3


def test_an_audit_that_is_interrupted_twice_stops_nothing_that_follows(monkeypatch):
    class Pool(audit_simulations.ThreadPoolExecutor):
        def shutdown(self, wait=True, *, cancel_futures=False):
            super().shutdown(wait=wait, cancel_futures=cancel_futures)
            if wait:
                raise KeyboardInterrupt

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(audit_simulations, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(audit_simulations, "FAMILY", SimpleNamespace(bound_within=lambda *_: None))
    monkeypatch.setattr(audit_simulations, "_run_policies", interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            audit_simulations.simulate_audit(long_log(), [], None)
        _core.check_interrupt()
    finally:
        _core.forget_stop()


def test_an_interrupted_audit_does_not_wait_for_the_bound(monkeypatch):
    def endless(*_):
        while True:
            _core.check_interrupt()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(audit_simulations, "FAMILY", SimpleNamespace(bound_within=endless))
    monkeypatch.setattr(audit_simulations, "_run_policies", interrupted)
    with pytest.raises(KeyboardInterrupt):
        audit_simulations.simulate_audit(long_log(), [], None)
    _core.check_interrupt()  # what follows is not stopped
