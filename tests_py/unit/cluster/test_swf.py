"""Logs of the Parallel Workloads Archive: every repair, every reason to drop, the real logs."""

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import cosched as cs
from cosched import workloads
from cosched.cluster.files.swf import FIELDS
from support import data


def line(job=1, submit=0, run=60, allocated=4, requested=4, **others):
    values = dict.fromkeys(FIELDS, -1) | {"job": job, "submit": submit, "run": run}
    values |= {"allocated_procs": allocated, "requested_procs": requested} | others
    return " ".join(str(value) for value in values.values())


@pytest.fixture
def read(tmp_path):
    def read(*lines, newline="\n", pack=False):
        path = tmp_path / "log.swf"
        text = newline.join(lines).encode("latin-1")
        path.write_bytes(gzip.compress(text) if pack else text)
        return workloads.read_swf(path)

    return read


def test_a_plain_log(read):
    table, report = read("; MaxProcs: 8", line(1, 0, requested_time=100), line(2, 5, queue=3))
    assert list(table.columns) == [*FIELDS, "processors", "line"]
    assert table["submit"].tolist() == [0, 5]
    assert table["line"].tolist() == [2, 3]
    assert table["requested_time"].tolist()[0] == 100
    assert np.isnan(table["requested_time"][1])
    assert np.isnan(table["wait"]).all()
    assert report.header == {"MaxProcs": "8"}
    assert (report.kept, report.dropped, report.repaired) == (2, {}, {})
    assert "2 jobs, 2 kept, 0 dropped" in str(report)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("pack", [False, True])
def test_blank_lines_crlf_gzip_comments_in_the_middle(read, newline, pack):
    table, report = read(
        "", line(1, 0), "  ", ";", "  ; Note: two", "\t" + line(2, 1), newline=newline, pack=pack
    )
    assert table["line"].tolist() == [2, 6]
    assert report.header == {"Note": "two"}
    assert report.data_lines == 2


def test_header_keys_that_repeat_are_all_kept(read):
    _, report = read("; Note: one", "; Note: http://x: two", ";no key", line())
    assert report.header == {"Note": "one\nhttp://x: two"}


def test_fractional_and_exponent_numbers(read):
    table, _ = read(line(1, "0.1", run="1431.25"), line(2, "1e1", run="+7"))
    assert table["submit"].tolist() == [0.1, 10.0]
    assert table["run"].tolist() == [1431.25, 7.0]


def test_unsorted_submissions_are_sorted_stably_and_named(read):
    table, report = read(line(1, 10), line(2, 5), line(3, 10), line(4, 5))
    assert table["job"].tolist() == [2, 4, 1, 3]
    assert report.repaired == {"submitted before an earlier line: moved": [2, 4]}


@pytest.mark.parametrize("requested", [-1, 0])
def test_allocated_processors_where_requested_are_unknown(read, requested):
    table, report = read(line(1, requested=requested, allocated=6), line(2))
    assert table["processors"].tolist() == [6, 4]
    assert report.repaired == {"processors: requested unknown, allocated taken": [1]}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (line(run=-1), "run < 0"),
        (line(submit=-1), "submit < 0"),
        (line(submit=-5.5), "submit < 0"),
        (line(requested=0, allocated=0), "no processors"),
        (line(requested=-1, allocated=-1), "no processors"),
        (line(requested=2.5), "processors is no integer below 2^31"),
        (line(requested=2**31), "processors is no integer below 2^31"),
        ("1 2 3", "unreadable line"),
        (line() + " 1", "unreadable line"),
        (line(run="nan"), "unreadable line"),
        (line(run="inf"), "unreadable line"),
        (line(run="1e999"), "unreadable line"),
        (line(run="1_0"), "unreadable line"),
        (line(run="0x10"), "unreadable line"),
        (line(run="1-2"), "unreadable line"),
        (line(run="-"), "unreadable line"),
        (line(run="1.2.3"), "unreadable line"),
        (line(run="9" * 400), "unreadable line"),
        (line(user="alice"), "unreadable line"),
        ("\x00\xff", "unreadable line"),
    ],
)
def test_dropped(read, bad, reason):
    table, report = read("; Version: 2", line(7), bad, line(8, 3))
    assert table["job"].tolist() == [7, 8]
    assert report.kept == 2
    assert report.dropped == {reason: [3]}
    assert f"dropped 1: {reason} (line 3)" in str(report)


def test_a_line_has_one_reason(read):
    _, report = read(line(submit=-1, run=-1, requested=-1, allocated=-1), line())
    assert report.dropped == {"submit < 0": [1]}


def test_run_zero_is_kept_and_all_may_be_dropped(read):
    assert read(line(run=0))[1].kept == 1
    table, report = read(line(run=-1))
    assert len(table) == 0
    assert report.dropped == {"run < 0": [1]}


def test_huge_numbers_keep_their_value(read):
    table, _ = read(line(submit=2**62), line(submit="99999999999999999999"))
    assert table["submit"].tolist() == [float(2**62), 1e20]


@pytest.mark.parametrize("lines", [["; only: a header"], ["", "  "]])
def test_no_job_is_refused(read, lines):
    with pytest.raises(cs.InvalidInstance, match=r"log\.swf: (no job|the file is empty)"):
        read(*lines)


def test_an_empty_file_is_called_empty(read):
    with pytest.raises(cs.InvalidInstance, match=r"log\.swf: the file is empty"):
        read()


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        workloads.read_swf(tmp_path / "none.swf")
    cut = tmp_path / "cut.swf.gz"
    cut.write_bytes(gzip.compress(b"1 2 3" * 1000)[:-9])
    with pytest.raises(cs.InvalidInstance, match="gzip"):
        workloads.read_swf(cut)


def test_a_long_line_that_fails_at_its_end_fails_at_once(read):
    _, report = read(line(), " ".join(["9" * 30] * (len(FIELDS) - 1) + ["x"]))
    assert report.dropped == {"unreadable line": [2]}


TOKENS = st.one_of(
    st.integers(-2, 10**20).map(str),
    st.floats().map(repr),
    st.sampled_from(["-", ".", "1-2", "1e5", ";", "abc", "-1", "0", "\r", "\x0b", "--1", "1."]),
)
GARBAGE = st.one_of(
    st.lists(TOKENS, min_size=16, max_size=19).map(" ".join),
    st.lists(TOKENS, max_size=18).map(" ".join),
    st.text(st.characters(max_codepoint=255, exclude_characters="\n"), max_size=40),
    st.builds(line, *[st.integers(-2, 9)] * 5),
)


@given(st.lists(GARBAGE, min_size=1, max_size=12))
def test_garbage_never_crashes_and_every_line_is_accounted_for(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("swf") / "log.swf"
    path.write_bytes("\n".join(lines).encode("latin-1"))
    kinds = [raw.encode("latin-1").split() for raw in lines]
    expected = sum(bool(words) and not words[0].startswith(b";") for words in kinds)
    if path.read_bytes()[:2] == b"\x1f\x8b" or expected == 0:
        with pytest.raises(cs.InvalidInstance):
            workloads.read_swf(path)
        return
    table, report = workloads.read_swf(path)
    dropped = [number for where in report.dropped.values() for number in where]
    assert report.kept + len(dropped) == report.data_lines == expected
    assert sorted([*table["line"], *dropped]) == sorted({*table["line"], *dropped})
    assert table["submit"].is_monotonic_increasing
    assert (table["processors"] > 0).all()
    assert (table["run"] >= 0).all()
    for row in table.itertuples():  # what was kept is what the line says
        assert float(kinds[row.line - 1][3]) == row.run


@pytest.mark.data
@pytest.mark.parametrize(
    ("log", "kept", "dropped", "repaired"),
    [
        ("HPC2N-2002-2.1-cln", 202_876, {}, {}),
        (
            "CTC-SP2-1996-3.1-cln",
            77_222,
            {},
            {"processors: requested unknown, allocated taken": 77_222},
        ),
        (
            "NASA-iPSC-1993-3.1-cln",
            18_239,
            {},
            {"processors: requested unknown, allocated taken": 18_239},
        ),
        (
            "LLNL-Atlas-2006-2.1-cln",
            39_207,
            {"no processors": 4_571},
            {"processors: requested unknown, allocated taken": 1},
        ),
    ],
)
def test_real_logs(log, kept, dropped, repaired):
    path = data("pwa", f"{log}.swf.gz")
    table, report = workloads.read_swf(path)
    assert report.kept == len(table) == kept
    assert {reason: len(where) for reason, where in report.dropped.items()} == dropped
    assert {reason: len(where) for reason, where in report.repaired.items()} == repaired
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        rows = [text.split() for text in file if text.strip() and text[0] != ";"]
    assert report.data_lines == len(rows)
    archive_table = pd.DataFrame(rows, columns=list(FIELDS)).astype(float)
    archive_table = archive_table[
        (archive_table["requested_procs"] > 0) | (archive_table["allocated_procs"] > 0)
    ]
    archive_table = archive_table.sort_values("submit", kind="stable", ignore_index=True).replace(
        -1, np.nan
    )
    pd.testing.assert_frame_equal(table[list(FIELDS)], archive_table)


# --- conversions ----------------------------------------------------------------------------


def log_table(**columns):
    n = len(columns["processors"])
    base = {"job": np.arange(1.0, n + 1), "submit": np.arange(n) * 1.0, "run": 60.0}
    base |= {"requested_time": np.nan, "used_memory": np.nan, "requested_memory": np.nan}
    return pd.DataFrame(base | columns)


def test_dfrs_rules():
    table = log_table(
        processors=[4, 4, 3, 4, 2, 1],
        used_memory=[400.0, 500.0, 400.0, np.nan, 1.0, 5000.0],
        requested_memory=[100.0, np.nan, 450.0, np.nan, np.nan, 10.0],
        requested_time=[10.0, 0.0, np.nan, 5.0, 5.0, 5.0],
    )
    jobs = workloads.dfrs_jobs(table, memory_kb=1000)
    assert jobs["tasks"].tolist() == [2, 4, 3, 2, 1, 1]
    assert jobs["cpu"].tolist() == [1, 0.5, 0.5, 1, 1, 0.5]
    assert jobs["memory"].tolist() == [0.8, 0.5, 0.45, 0.2, 0.2, 1.0]
    assert jobs["estimate"].isna().tolist() == [False, True, True, False, False, False]
    assert list(jobs.attrs["repaired"].values()) == [1, 1]
    rigid = workloads.rigid_jobs(table)
    assert rigid["tasks"].tolist() == [4, 4, 3, 4, 2, 1]
    assert (rigid[["cpu", "memory"]] == 1).all(axis=None)


def test_dfrs_refusals():
    table = log_table(processors=[1])
    for change in ({"memory_kb": 0}, {"memory_kb": np.nan}, {"least_memory": 0}):
        with pytest.raises(cs.InvalidInstance, match=next(iter(change))):
            workloads.dfrs_jobs(table, **change)
    with pytest.raises(cs.InvalidInstance, match="lacks the column processors"):
        workloads.dfrs_jobs(table.drop(columns="processors"))


def test_weeks_keep_their_number_and_count_from_their_start(tmp_path):
    path = tmp_path / "log.swf"
    week = 604800
    path.write_text("\n".join([line(1, 5), line(2, 2 * week), line(3, 3 * week - 1)]))
    weeks = workloads.hpc2n_weeks(path)
    assert [segment["submit"].tolist() for segment in weeks] == [[5.0], [], [0.0, week - 1.0]]


@pytest.mark.data
def test_hpc2n():
    path = data("pwa", "HPC2N-2002-2.1-cln.swf.gz")
    jobs = workloads.dfrs_jobs(workloads.read_swf(path)[0])
    assert list(jobs.attrs["repaired"].values()) == [2142, 0]
    assert jobs["tasks"].max() <= 120
    weeks = workloads.hpc2n_weeks(path)
    assert len(weeks) == 182
    assert sum(map(len, weeks)) == 202_876
    assert all(s["submit"].iloc[0] >= 0 and s["submit"].iloc[-1] < 604800 for s in weeks)


# --- offered load ---------------------------------------------------------------------------


@given(st.floats(0.01, 5), st.integers(1, 500), st.integers(0, 50))
def test_rescaled_load_is_the_one_asked_for(load, nodes, seed):
    jobs = workloads.lublin(50, 64, seed=seed)
    scaled = workloads.rescale_load(jobs, nodes, load)
    work = (jobs["runtime"] * jobs["tasks"]).sum()
    assert work / (nodes * np.ptp(scaled["submit"])) == pytest.approx(load, rel=1e-9)
    assert scaled["submit"][0] == jobs["submit"][0]
    pd.testing.assert_frame_equal(scaled.drop(columns="submit"), jobs.drop(columns="submit"))


@pytest.mark.parametrize(
    ("change", "nodes", "load", "named"),
    [
        ({}, 0, 0.5, "nodes"),
        ({}, 4, 0.0, "load"),
        ({}, 4, np.inf, "load"),
        ({"submit": [3.0, 3.0]}, 4, 0.5, "span"),
        ({"submit": [np.nan, 3.0]}, 4, 0.5, "submit"),
        ({"runtime": [0.0, 0.0]}, 4, 0.5, "no work"),
        ({"runtime": [1.0, -1.0]}, 4, 0.5, "runtime"),
    ],
)
def test_rescale_refusals(change, nodes, load, named):
    base = {"submit": [0.0, 1.0], "tasks": [1, 1], "runtime": [1.0, 1.0]}
    with pytest.raises(cs.InvalidInstance, match=named):
        workloads.rescale_load(pd.DataFrame(base | change), nodes, load)
    with pytest.raises(cs.InvalidInstance, match="span"):
        workloads.rescale_load(pd.DataFrame(base).iloc[:0], 4, 0.5)
