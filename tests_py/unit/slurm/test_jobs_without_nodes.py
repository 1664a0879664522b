"""Jobs of a log that no nodes hold: audit, tune and slurm check say the same of them."""

import json

import pytest
from note_facts import counts

import cosched as cs
from cosched import NoteKind
from cosched.cli import main

CONF = """ClusterName=c
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n[1-2] CPUs=4 Feature=old
NodeName=n3 CPUs=4 Feature=new
PartitionName=main Nodes=n[1-2] Default=YES
PartitionName=all Nodes=ALL
"""
HEADER = (
    "JobID|User|Partition|State|Submit|Eligible|Start|Elapsed|Timelimit|NNodes|NCPUS|Constraints"
)


def clock(seconds):
    minutes, rest = divmod(seconds, 60)
    return f"2026-03-01T{10 + minutes // 60:02}:{minutes % 60:02}:{rest:02}"


def row(number, submit, wait, *, nodes=1, cores=4, partition="main", constraint="", held_seconds=0):
    eligible = submit + held_seconds
    cells = [
        number, "ada", partition, "COMPLETED", clock(submit), clock(eligible),
        clock(eligible + wait), "00:05:00", "00:10:00", nodes, cores, constraint,
    ]  # fmt: skip
    return "|".join(map(str, cells))


def plain_rows(count=24):
    return [row(number, 120 * number, 1) for number in range(1, count + 1)]


@pytest.fixture
def run(tmp_path, capsys):
    (tmp_path / "slurm.conf").write_text(CONF)

    def run_command(command, rows, *options):
        log = tmp_path / "jobs.txt"
        log.write_text("\n".join([HEADER, *rows]) + "\n")
        code = main(
            [*command.split(), str(log), "--machine", str(tmp_path / "slurm.conf"), *options]
        )
        return code, capsys.readouterr()

    return run_command


def commands(folder):
    return {
        "audit": ["-o", str(folder / "a.html"), "--json", str(folder / "a.json")],
        "tune": ["-o", str(folder / "t.html"), "--vary", "bf_interval=30,60", "--draws", "1"],
        "slurm check": [],
    }


def test_a_job_wider_than_the_machine_ends_all_three_commands_in_the_same_line(run, tmp_path):
    rows = [*plain_rows(), row(77, 500, 60, nodes=3, cores=12)]
    expected = (
        "cosched: error: jobs.txt: job 77 (line 26) wants 12 cores: partition main has 8; drop it "
        "with --drop too-wide"
    )
    for command, options in commands(tmp_path).items():
        code, printed = run(command, rows, *options)
        assert code == 2
        assert printed.err.splitlines() == [expected]
        assert not any(tmp_path.glob("?.html"))
    for command, options in commands(tmp_path).items():
        code, _ = run(command, rows, *options, "--drop", "too-wide")
        assert code == 0, command


def test_slurm_check_takes_drop_for_logs_alone(capsys, tmp_path):
    assert main(["slurm", "check", str(tmp_path / "x.json"), "--drop", "too-wide"]) == 2
    assert "--drop is for sacct output" in capsys.readouterr().err


def test_an_audit_without_a_slurm_conf_is_refused_too(tmp_path, capsys):
    (tmp_path / "log.csv").write_text("submit,tasks,cpu,memory,runtime\n0,3,1,1,60\n5,1,1,1,60\n")
    command = ["audit", str(tmp_path / "log.csv"), "--nodes", "2", "-o", str(tmp_path / "a.html")]
    assert main(command) == 2
    assert "needs 3 nodes, the machine has 2; drop it with --drop too-wide" in (
        capsys.readouterr().err
    )
    assert not (tmp_path / "a.html").exists()
    assert main([*command, "--drop", "too-wide"]) == 0


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        (row(77, 500, 60, constraint="gpu"), "no node has the feature 'gpu'"),
        (row(77, 500, 60, constraint="new"), "no node of partition main has it"),
        (row(77, 500, 60, nodes=2, cores=8, partition="all", constraint="new"),
         "1 node of partition all with it, for jobs on 2"),
    ],
)  # fmt: skip
def test_a_job_that_ran_loses_a_constraint_that_too_few_nodes_meet(run, tmp_path, job, reason):
    rows = [*plain_rows(), job]
    for command, options in commands(tmp_path).items():
        code, printed = run(command, rows, *options)
        assert code == 0, printed.err
        note = next(line for line in printed.out.splitlines() if line.startswith("note: not fol"))
        assert "constraint" in note
        assert f"of 1 job: {reason}; they ran" in note


def test_from_sacct_drops_unmet_constraints_as_well(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "jobs.txt").write_text(
        "\n".join([HEADER, *plain_rows(), row(77, 500, 60, constraint="gpu")]) + "\n"
    )
    instance = cs.cluster.from_sacct(tmp_path / "jobs.txt", tmp_path / "slurm.conf")
    assert counts(instance.notes, NoteKind.NOT_FOLLOWED)["constraint gpu"] == 1
    assert cs.slurm.backfill(instance, seed=1).value >= 1


def test_a_change_under_which_a_job_has_no_nodes_has_no_result_and_all_keys(run, tmp_path):
    rows = [*plain_rows(), row(77, 500, 60, nodes=2, cores=8)]
    changes = ["--what-if", "partition.main.nodes=n1", "--what-if", "nodes=+1"]
    code, printed = run("audit", rows, *commands(tmp_path)["audit"], *changes, "--draws", "2",
                        "--reference", "slurm-backfill")  # fmt: skip
    assert code == 0
    as_is, narrow, wide = json.loads((tmp_path / "a.json").read_text())["rows"]
    assert set(as_is) == set(narrow) == set(wide)
    assert (narrow["class"], wide["class"], wide["jobs"]) == ("no result", "simulated", 25)
    assert narrow["jobs"] is narrow["mean_wait"] is narrow["difference"] is narrow["clear"] is None
    assert "job 77 (line 26) wants 8 cores: partition main has 4" in narrow["reason"]
    assert f"partition.main.nodes=n1: {narrow['reason']}" in printed.out


def test_waits_from_submission_do_not_change_the_judgement(run, tmp_path):
    rows = [
        row(number, 240 * number, 1, held_seconds=900 * (number % 3)) for number in range(1, 25)
    ]
    audit = commands(tmp_path)["audit"]
    judgements = []
    for options in ([], ["--wait-from", "submit"]):
        code, _ = run("audit", rows, *audit, *options)
        assert code == 0
        judgements.append(json.loads((tmp_path / "a.json").read_text())["judgement"])
    code, printed = run("slurm check", rows, "--json")
    judgements.append(json.loads(printed.out)["judgement"])
    assert judgements[0] == judgements[1] == judgements[2]


def test_jobs_that_run_at_the_begin_without_room_are_no_error_of_slurm_check(run, tmp_path):
    # Twelve jobs overlap on nodes for two: the log is of a larger machine.
    rows = [row(number, 60 * number, 200) for number in range(1, 13)]
    rows.append(row(77, 900, 3100))
    code, printed = run("slurm check", rows)
    assert code == 0, printed.err
    audit = run("audit", rows, *commands(tmp_path)["audit"])[1].out.splitlines()
    assert printed.out.splitlines()[0] == audit[0] == "The simulator does not explain this log."


def test_jobs_that_are_not_compared_are_counted_with_their_reason(run, tmp_path):
    # The first job had waited although nothing of the log was over; the second runs at its end.
    rows = [row(1, 100, 200), row(2, 400, 150), row(3, 650, 20)]
    rows += [row(number, 600 + 120 * number, 1) for number in range(4, 25)]
    audit = commands(tmp_path)["audit"]
    for command, options in (("audit", audit), ("slurm check", [])):
        code, printed = run(command, rows, *options)
        assert code == 0, printed.err
        (line,) = [line for line in printed.out.splitlines() if "are not compared: " in line]
        assert line == (
            "Of 24 jobs of the log 2 are not compared: 1 ended before the simulation begins, 500 s "
            "after the first submission, 1 ran when the simulation began."
        )
    judgement = json.loads((tmp_path / "a.json").read_text())["judgement"]
    assert (judgement["jobs"], judgement["jobs_not_compared"]) == (22, 2)
    assert "2 are not compared" in (tmp_path / "a.html").read_text()
