"""The wording of notes on what sacct printed; all other tests ask for kinds and subjects."""

import pytest

import cosched as cs

HEADER = (
    "JobID|User|Account|Partition|State|Submit|Start|End|Elapsed|Suspended|Timelimit|NCPUS|TotalCPU"
)
MACHINE = """
[[nodes]]
count = 4
cores = 4
[[partitions]]
name = "batch"
"""


def row(job, **cells):
    columns = {
        "JobID": job, "User": "ada", "Account": "phy", "Partition": "batch", "State": "COMPLETED",
        "Submit": "2026-09-01T00:00:00", "Start": "2026-09-01T00:00:00",
        "End": "2026-09-01T01:00:00", "Elapsed": "01:00:00", "Suspended": "00:00:00",
        "Timelimit": "02:00:00", "NCPUS": "4", "TotalCPU": "",
    }  # fmt: skip
    return "|".join(map(str, (columns | cells).values()))


SUSPENDED = {"End": "2026-09-01T03:00:00", "Suspended": "02:00:00"}
CASES = {
    "suspended": (
        [row(1, **SUSPENDED)],
        "  1: suspended, 2.0 h in all: they hold their nodes until End; limits and CPU efficiency "
        "leave this time out (line 2)",
    ),
    "other end": (
        [row(1, End="2026-09-01T01:00:07")],
        "  1: End is not Start + Elapsed + Suspended: Elapsed counts (line 2)",
    ),
    "earlier end": (
        [row(1, End="2026-09-01T02:00:00", Suspended="02:00:00")],
        "  1: End is before Start + Elapsed + Suspended: End counts, and the job was suspended for "
        "less (line 2)",
    ),
    "minutes": (
        [row(1, Elapsed="00:60:00")],
        "  1: Elapsed has 60 minutes or seconds (24 hours) and more, counted as written (line 2)",
    ),
    "not understood": (
        [row(1, TotalCPU="much")],
        "  1: TotalCPU not understood, taken as empty (line 2)",
    ),
    "more CPU time": (
        [row(1, TotalCPU="9-00:00:00")],
        "  1: more CPU time than its CPUs have in Elapsed: no CPU efficiency (line 2)",
    ),
    "state": ([row(1, State="FINISHED")], "  1: State is none of Slurm's (line 2)"),
    "number": ([row("seven")], "  1: JobID is no number of a job (line 2)"),
    "step": (
        [row(1), row("7.5")],
        "  dropped 1: steps of jobs that are not in the file (line 3)",
    ),
    "dropped": ([row(1), row(2, Submit="soon")], "  dropped 1: Submit is no time (line 3)"),
    "not ended": (
        [row(1), row(2, State="RUNNING", End="Unknown")],
        "  dropped 1: not ended yet (line 3)",
    ),
    "pending": (
        [row(1), row("3_[1-10,12%4]", State="PENDING", Start="Unknown", End="Unknown")],
        "  1 job still pending (11 with the tasks of arrays): they have no run time",
    ),
    "early start": (
        [row(1, Start="2026-08-31T23:59:00", End="2026-09-01T00:59:00")],
        "  repaired 1: started before its submission: wait 0 (line 2)",
    ),
    "twice": ([row(1), row(1)], "  dropped 1: the same row once more (line 3)"),
    "requeued": (
        [row(1, State="REQUEUED"), row(1, Start="2026-09-01T01:10:00", End="2026-09-01T02:10:00")],
        "  1 further runs of requeued jobs: each is a job of its own (line 3)",
    ),
    "components": (
        [row("4+0"), row("4+1")],
        "  2 components of 1 heterogeneous jobs: one job in reports, one each for policies",
    ),
    "partition": (
        [row(1), row(2, Partition="gone")],
        "  partitions that the machine does not have: gone (1 jobs) (--drop unknown-partition "
        "leaves them out)",
    ),
    "bars": (
        [row(1, Account="a"), row(2, User="b|c")],
        "  dropped 1: fields are not those of the first line (line 3)",
    ),
    "kept": ([row(1), row(2)], "jobs.txt: 2 jobs kept"),
    "drop": ([row(1)], "assumed: left out: nothing (--drop)"),
    "clock": (
        [row(1)],
        "assumed: times as written; across a change of clocks pass timezone (--timezone)",
    ),
    "machine": (
        [row(1)],
        "assumed: 16 cores of 4 nodes (machine); policies hand out cores",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_wording(tmp_path, monkeypatch, case):
    rows, text = CASES[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.toml").write_text(MACHINE)
    (tmp_path / "jobs.txt").write_text("\n".join([HEADER, *rows]) + "\n")
    assert text in cs.cluster.from_sacct("jobs.txt", "m.toml").notes
