"""What jobs used, of sacct's steps and of SWF; what a row does not say is missing."""

import base64
import gzip
import json

import numpy as np
import pytest
from note_facts import places

import cosched as cs
from cosched import NoteKind

HEADER = (
    "JobID|JobName|State|Submit|Start|Elapsed|Timelimit|NNodes|NCPUS|NTasks|TotalCPU|MaxRSS|"
    "TRESUsageInTot|AdminComment"
)
MACHINE = "[[nodes]]\ncount = 8\ncores = 4\nmemory_gb = 64\n"
DAY = "2026-03-01T"


def row(job, cpu="", rss="", total="", tasks="", start="10:00:00", elapsed="01:00:00", nodes=1,
        comment="", name="a", state="COMPLETED"):  # fmt: skip
    return (
        f"{job}|{name}|{state}|{DAY}10:00:00|{DAY}{start}|{elapsed}|02:00:00|{nodes}|4|{tasks}|"
        f"{cpu}|{rss}|{total}|{comment}"
    )


@pytest.fixture
def read(tmp_path):
    (tmp_path / "m.toml").write_text(MACHINE)

    def reads(*rows, header=HEADER):
        (tmp_path / "jobs.txt").write_text("\n".join([header, *rows]) + "\n")
        return cs.cluster.from_sacct(tmp_path / "jobs.txt", tmp_path / "m.toml")

    return reads


def test_steps_are_their_jobs(read):
    inst = read(
        row(1, "02:00:00"), row("1.batch", "00:30:00", "1048576K"), row("1.extern", "", "0"),
        row("1.0", "01:30:00", "2G", tasks=2),
        row("2_3", ""), row("2_3.batch", "01:00:00.004", "512M"),
        row("4+1", "04:00:00", nodes=2), row("4+1.0", "04:00:00", "1G", "mem=3G,vmem=9G", 4,
                                             nodes=2),
        row(5, "00:00:00"), row("5.batch", "00:00:00", "0"),
    )  # fmt: skip
    assert inst.jobs.id.tolist() == ["1", "2_3", "4+1", "5"]
    # The batch script is there beside its steps; 2 GB is that of the larger of two tasks.
    np.testing.assert_allclose(inst.column("used_memory_gb"), [1 + 2 * 2, 0.5, 3.0, np.nan])
    np.testing.assert_allclose(inst.column("cpu_seconds"), [7200, 3600.004, 14400, np.nan])
    np.testing.assert_allclose(inst.column("cpu_efficiency"), [0.5, 3600.004 / 14400, 1, np.nan])
    assert inst.column("job_name").tolist() == ["a"] * 4


def test_steps_that_run_at_one_time_count_together(read):
    first = row("1.0", rss="3G", start="10:00:00", elapsed="00:20:00")
    concurrent_step = row("1.1", rss="2G", start="10:10:00", elapsed="00:20:00")
    after = row("1.1", rss="2G", start="10:20:00", elapsed="00:20:00")
    assert read(row(1), first, concurrent_step).column("used_memory_gb").tolist() == [5]
    assert read(row(1), first, after).column("used_memory_gb").tolist() == [3]
    short = row("1.1", rss="9G", start="10:10:00", elapsed="00:00:00")
    assert read(row(1), first, short).column("used_memory_gb").tolist() == [12]
    unknown = row("1.1", rss="2G", start="Unknown")
    assert read(row(1), first, unknown).column("used_memory_gb").tolist() == [5]


def test_a_requeued_run_has_the_steps_below_it(read):
    inst = read(
        row(1, state="REQUEUED"), row("1.batch", rss="1G"),
        row(1, start="12:00:00"), row("1.batch", rss="4G"),
        row("9.batch", rss="8G"),
    )  # fmt: skip
    assert inst.column("used_memory_gb").tolist() == [1, 4]


def test_what_the_log_does_not_say_is_no_column(read):
    bare = HEADER.replace("|MaxRSS|TRESUsageInTot|AdminComment", "").replace("|TotalCPU", "")
    inst = read(*("|".join(row(k).split("|")[:10]) for k in (1, 2)), header=bare)
    assert not {"used_memory_gb", "cpu_seconds", "cpu_efficiency"} & inst.column_names
    with pytest.raises(cs.InvalidInstance, match="by efficiency: the log does not say it"):
        cs.cluster.solve(inst, "FCFS").by("efficiency")


def test_cells_that_cannot_be_read_are_counted(read):
    inst = read(row(1, "01:00:00"), row("1.batch", "x", "lots"))
    assert "used_memory_gb" not in inst.column_names
    assert places(inst.notes, NoteKind.REPAIRED)["MaxRSS"] == (1, "line 3")
    assert inst.column("cpu_seconds").tolist() == [3600]


def test_a_file_without_jobs_says_so(read):
    with pytest.raises(cs.InvalidInstance, match="no usable job: the file has none"):
        read()
    with pytest.raises(cs.InvalidInstance, match="no usable job"):
        read(row("1.batch", "01:00:00", "1G"))


def test_numbers_without_end_are_none(read):
    inst = read(row(1), row("1.batch", rss="9" * 400 + "K"), row(2), row("2.batch", rss="1G"))
    np.testing.assert_equal(inst.column("used_memory_gb"), [np.nan, 1])


def test_summaries_of_jobstats(read):
    nodes = {"n1": {"gpu_utilization": {"0": 80.0, "1": 20.0}}, "n2": {"cpus": 4,
             "gpu_utilization": {"0": 50}}}  # fmt: skip
    text = base64.b64encode(gzip.compress(json.dumps({"nodes": nodes}).encode())).decode()
    inst = read(row(1, comment=f"JS1:{text}"), row(2, comment="JS1:Short"), row(3),
                row(4, comment=f"JS1:{text[:30]}"))  # fmt: skip
    np.testing.assert_allclose(inst.column("gpu_efficiency"), [0.5, np.nan, np.nan, np.nan])


def test_jobs_by_efficiency(read):
    inst = read(row(1, "00:10:00"), row(2, "04:00:00"), row(3, "03:00:00"), row(4))
    table = cs.cluster.solve(inst, "FCFS").by("efficiency")
    assert table[["efficiency", "jobs"]].to_numpy().tolist() == [
        ["below 10%", 1], ["75% or more", 2], ["not said", 1],
    ]  # fmt: skip


def test_swf(tmp_path):
    (tmp_path / "log.swf").write_text(
        "; MaxProcs: 8\n"
        "1 0 5 100 4 50 524288 2 120 1048576 1 1 1 7 1 1 -1 -1\n"
        "2 9 0 100 2 -1 0 2 -1 -1 1 1 1 -1 1 1 -1 -1\n"
    )
    inst = cs.cluster.from_swf(tmp_path / "log.swf", convention="rigid")
    np.testing.assert_allclose(inst.column("used_memory_gb"), [2.0, np.nan])
    np.testing.assert_allclose(inst.column("memory_gb"), [2.0, np.nan])
    np.testing.assert_allclose(inst.column("cpu_efficiency"), [0.5, np.nan])
    np.testing.assert_allclose(inst.column("cpu_seconds"), [200, np.nan])
    assert inst.column("job_name").tolist() == ["7", ""]
