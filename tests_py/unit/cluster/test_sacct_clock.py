"""Elapsed, Suspended, End and CPU time of sacct: what contradicts itself is said with its lines."""

import numpy as np
import pytest
from note_facts import counts, places

import cosched as cs
from cosched import NoteKind
from cosched.cluster.instance.usage import used_of

CONF = """
ClusterName=mini
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=30
NodeName=n[1-4] CPUs=4
PartitionName=batch Nodes=ALL Default=YES MaxTime=4:00:00
"""
HEADER = (
    "JobID|User|Account|Partition|State|Submit|Start|End|Elapsed|Suspended|Timelimit|NNodes|NCPUS|"
    "TotalCPU"
)
DAY = "2026-09-01T"


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    path = tmp_path_factory.mktemp("site") / "slurm.conf"
    path.write_text(CONF)
    return cs.cluster.Machine.read(path)


@pytest.fixture
def read(tmp_path, machine):
    def reads(*rows, header=HEADER, **options):
        (tmp_path / "jobs.txt").write_text("\n".join([header, *rows]) + "\n")
        return cs.cluster.from_sacct(tmp_path / "jobs.txt", machine, **options)

    return reads


def row(job=1, start="00:00:00", end="01:00:00", elapsed="01:00:00", suspended="00:00:00",
        limit="02:00:00", nodes=1, cpus=4, cpu="", state="COMPLETED", submit="00:00:00",
        user="ada", day=DAY):  # fmt: skip
    return (
        f"{job}|{user}|phy|batch|{state}|{day}{submit}|{day}{start}|{day}{end}|{elapsed}|{suspended}"
        f"|{limit}|{nodes}|{cpus}|{cpu}"
    )


def without(name, *rows):
    place = HEADER.split("|").index(name)
    return ["|".join(cells[:place] + cells[place + 1 :]) for cells in (r.split("|") for r in rows)]


#: Subjects of notes on an End that is not Start + Elapsed.
OTHER_ENDS = {"earlier End", "later End", "other End", "End by an hour"}


def subjects(inst):
    return {note.subject for note in inst.notes}


def test_a_suspended_job_holds_its_nodes_until_its_end(read):
    inst = read(
        row(1, end="03:00:00", suspended="02:00:00", limit="02:00:00", nodes=4, cpus=16,
            cpu="08:00:00"),
        row(2, submit="00:10:00", start="03:00:00", end="03:30:00", elapsed="00:30:00", nodes=4,
            cpus=16),
    )  # fmt: skip
    assert inst.column("runtime").tolist() == [10800, 1800]
    assert inst.column("suspended").tolist() == [7200, 0]
    # A limit stands still with its job: that of the partition, four hours, does not cut it either.
    assert inst.column("estimate").tolist() == [4 * 3600, 2 * 3600]
    assert inst.column("cpu_efficiency")[0] == 0.5
    assert counts(inst.notes, NoteKind.READING)["suspended jobs"] == 1
    assert not OTHER_ENDS & subjects(inst)
    for policy in ("as-logged", "FCFS", "EASY", "conservative", "slurm-backfill"):
        end = cs.cluster.solve(inst, policy).outcome["end"]
        assert end[0] == pytest.approx(10800, abs=5), policy
        assert end[1] == pytest.approx(12600, abs=65), policy
    assert used_of(inst)[0] == pytest.approx((1 + 0.5) / (2 + 2))
    use = cs.cluster.rightsize(inst, 0.05, by="user").use
    assert use.time.usage.tolist() == [3600, 1800]
    assert use.time.request.tolist() == [7200, 7200]


def test_a_suspended_job_of_the_longest_limit_is_cut_nowhere(read, tmp_path, machine):
    inst = read(row(end="07:00:00", elapsed="04:00:00", suspended="03:00:00", limit="04:00:00",
                    state="TIMEOUT"))  # fmt: skip
    assert inst.column("estimate").tolist() == [7 * 3600]
    for policy in ("as-logged", "EASY"):
        assert cs.cluster.solve(inst, policy).outcome["end"].tolist() == [7 * 3600]
    inst.write(tmp_path / "again.csv")
    reread_instance = cs.cluster.Instance.read(tmp_path / "again.csv", machine=machine)
    assert reread_instance.column("estimate").tolist() == [7 * 3600]
    assert used_of(reread_instance)[0] == used_of(inst)[0] == 1


def test_where_slurm_suspends_jobs_by_itself_the_simulator_does_it(read, tmp_path):
    inst = read(row(end="03:00:00", suspended="02:00:00"))
    (tmp_path / "gang.conf").write_text(
        f"{CONF}PartitionName=high Nodes=ALL PriorityTier=9\n"
        "PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG\n"
    )
    gang = cs.cluster.from_sacct(tmp_path / "jobs.txt", tmp_path / "gang.conf")
    assert gang == inst
    assert cs.cluster.solve(gang, "as-logged").outcome["end"].tolist() == [3 * 3600]
    result = cs.cluster.solve(gang, "slurm-backfill")
    assert result.outcome["end"][0] == pytest.approx(3600, abs=5)
    assert counts(result.instance.notes, NoteKind.ASSUMED)["suspended jobs"] == 1


def test_an_end_that_contradicts_is_said(read):
    inst = read(row(1), row(2, end="01:00:07"), row(3, end="00:40:00"),
                row(4, end="05:00:00", suspended="02:00:00"))  # fmt: skip
    assert places(inst.notes, NoteKind.REPAIRED)["other End"] == (3, "lines 3, 4, 5")
    assert inst.column("runtime").tolist() == [3600, 3600, 3600, 10800]


def test_an_end_before_the_end_of_the_suspension_counts(read):
    inst = read(row(1, end="02:00:00", suspended="02:00:00"), row(2))
    assert inst.column("suspended").tolist() == [3600, 0]
    assert places(inst.notes, NoteKind.REPAIRED)["earlier End"] == (1, "line 2")
    assert OTHER_ENDS & subjects(inst) == {"earlier End"}


def test_without_the_column_an_end_that_is_later_tells_of_a_suspension(read):
    rows = [row(1, end="03:00:00"), row(2), row(3, end="00:40:00")]
    header, *rows = without("Suspended", HEADER, *rows)
    inst = read(*rows, header=header)
    assert inst.column("runtime").tolist() == [10800, 3600, 3600]
    assert inst.column("suspended").tolist() == [7200, 0, 0]
    assert places(inst.notes, NoteKind.ASSUMED)["later End"] == (1, "line 2")
    assert places(inst.notes, NoteKind.REPAIRED)["other End"] == (1, "line 4")


def test_an_hour_may_be_a_change_of_clocks(read):
    autumn = "2026-10-25T"
    rows = [row(1, end="05:00:00", elapsed="06:00:00", day=autumn),
            row(2, start="01:50:00", end="02:10:00", elapsed="01:20:00", day=autumn)]  # fmt: skip
    plain = read(*rows)
    assert counts(plain.notes, NoteKind.REPAIRED)["End by an hour"] == 2
    assert plain.column("runtime").tolist() == [21600, 4800]
    zoned = read(*rows, timezone="Europe/Stockholm")
    assert not OTHER_ENDS & subjects(zoned)
    header, *spring = without(
        "Suspended", HEADER, row(1, end="05:00:00", elapsed="04:00:00", day="2026-03-29T")
    )
    assert "suspended" not in read(*spring, header=header).column_names


def test_a_start_in_the_hour_that_comes_twice_is_the_one_that_its_end_tells(read):
    """02:40 comes twice; a job that ends at 03:40 after an hour began at the second of them."""
    autumn = "2026-10-25T"
    rows = [
        row(1, submit="01:50:00", start="02:40:00", end="03:40:00", day=autumn),
        row(2, submit="01:50:00", start="02:40:00", end="03:40:00", elapsed="02:00:00", day=autumn),
        row(3, submit="01:50:00", start="02:40:00", end="03:20:00", elapsed="01:10:00",
            suspended="00:30:00", day=autumn),
    ]  # fmt: skip
    inst = read(*rows, timezone="Europe/Stockholm")
    assert inst.column("wait").tolist() == [110 * 60, 50 * 60, 50 * 60]
    assert not OTHER_ENDS & subjects(inst)


def test_durations_that_sacct_does_not_print_are_said(read):
    inst = read(row(1, end="03:40:39", elapsed="02:99:99"), row(2, limit="1-25:00:00"), row(3))
    assert inst.column("runtime").tolist() == [2 * 3600 + 99 * 60 + 99, 3600, 3600]
    assert counts(inst.notes, NoteKind.UNUSUAL) == {"Elapsed": 1, "Timelimit": 1}


@pytest.mark.parametrize("text", ["-00:05:00", "INVALID", "nan", "inf", "1e3", "", "00:-5:00"])
def test_an_elapsed_that_is_none_drops_its_row(read, text):
    inst = read(row(1), row(2, elapsed=text))
    assert inst.ids.tolist() == [1]
    assert places(inst.notes, NoteKind.DROPPED)["Elapsed is no time"] == (1, "line 3")
    raw = read(row(1, elapsed="3600"), row(2, elapsed=text.replace("-00:05:00", "-300")),
               header=HEADER.replace("Elapsed", "ElapsedRaw"))  # fmt: skip
    assert raw.ids.tolist() == [1]


def test_elapsed_in_seconds_counts_and_differences_are_said(read):
    inst = read(row(1) + "|3600", row(2) + "|3540", row(3) + "|x", header=HEADER + "|ElapsedRaw")
    assert inst.column("runtime").tolist() == [3600, 3540, 3600]
    assert places(inst.notes, NoteKind.REPAIRED)["ElapsedRaw"] == (1, "line 3")


def test_jobs_that_ran_to_their_limit_used_all_of_it(read):
    for end_time in ("01:00:00", "01:00:01", "01:00:15"):
        rows = [
            row(1, end="00:06:00", elapsed="00:06:00", limit="01:00:00"),
            row(2, end=end_time, elapsed=end_time, limit="01:00:00", state="TIMEOUT"),
        ]
        assert used_of(read(*rows))[0] == pytest.approx(0.55)
    limited = row(3, end="02:00:00", elapsed="02:00:00", limit="UNLIMITED")
    assert used_of(read(*rows, limited))[0] == pytest.approx(0.55)
    exactly = row(3, limit="01:00:00")
    assert used_of(read(*rows, exactly))[0] == pytest.approx(2.1 / 3)
    alone = read(row(1, limit="01:00:00", state="TIMEOUT"))
    assert used_of(alone)[0] == 1


def test_rightsize_knows_the_limit_of_a_job_that_ran_to_it(read):
    rows = [row(k, end="00:30:00", elapsed="00:30:00", limit="01:00:00") for k in range(1, 9)]
    inst = read(*rows, row(9, limit="01:00:00"), row(10, limit="UNLIMITED"))
    asked = cs.cluster.rightsize(inst, 0.05).use.time.request
    np.testing.assert_array_equal(asked, [3600.0] * 9 + [np.nan])


def test_a_job_without_a_limit_stays_one_in_files_and_parts(read, tmp_path):
    inst = read(row(1, limit="UNLIMITED"), row(2))
    for name in ("again.json", "again.csv"):
        inst.write(tmp_path / name)
        reread_instance = cs.cluster.Instance.read(tmp_path / name, machine=inst.machine)
        assert reread_instance == inst
        np.testing.assert_array_equal(
            reread_instance.raw_columns["estimate"], inst.raw_columns["estimate"]
        )
    np.testing.assert_array_equal(
        inst.take([1, 0]).raw_columns["estimate"], inst.raw_columns["estimate"][::-1]
    )


def test_more_cpu_time_than_there_is_gives_no_efficiency(read):
    inst = read(row(1, cpu="04:00:00.9"), row(2, cpu="04:00:03.999"), row(3, cpu="04:00:04.1"),
                row(4, cpu="9-00:00:00"), row(5, cpu="02:00:00"))  # fmt: skip
    np.testing.assert_allclose(
        inst.column("cpu_efficiency"), [1, 1, np.nan, np.nan, 0.5], equal_nan=True
    )
    assert places(inst.notes, NoteKind.UNUSUAL)["CPU efficiency"] == (2, "lines 4, 5")
    assert inst.column("cpu_seconds")[3] == 9 * 86400


def test_fractions_of_seconds_count_and_parts_stand_for_the_sum(read):
    inst = read(row(1, cpu="00:01.295"), row(2, cpu="01:00:00.5"))
    assert inst.column("cpu_seconds").tolist() == [1.295, 3600.5]
    header = HEADER.replace("TotalCPU", "UserCPU|SystemCPU")
    inst = read(row(1, cpu="00:01.25|00:00.5"), row(2, cpu="|"), header=header)
    np.testing.assert_array_equal(inst.column("cpu_seconds"), [1.75, np.nan])


def test_states(read):
    states = ("OUT_OF_ME+", "CANCELLED+", "CANCELLED by 7", "FINISHED", "completed", "NODE_FAIL")
    inst = read(*(row(k, state=state) for k, state in enumerate(states, 1)))
    assert inst.column("status").tolist() == [
        "out_of_memory", "cancelled", "cancelled", "finished", "completed", "node_fail",
    ]  # fmt: skip
    assert places(inst.notes, NoteKind.UNUSUAL)["State"] == (1, "line 5")


def test_numbers_of_jobs(read):
    inst = read(row(1), row("1.5"), row("7.5"), row("seven"), row("2_3"), row("4+1"))
    assert inst.ids.tolist() == ["1", "seven", "2_3", "4+1"]
    assert places(inst.notes, NoteKind.DROPPED)["steps of jobs that are not in the file"] == (
        1,
        "line 4",
    )
    assert places(inst.notes, NoteKind.UNUSUAL)["JobID"] == (1, "line 5")


def test_the_raw_number_stands_for_a_missing_one(read):
    rows = [row(1), row(2), row("2.batch", cpu="01:00:00")]
    inst = read(*rows, header=HEADER.replace("JobID", "JobIDRaw"))
    assert inst.ids.tolist() == [1, 2]
    assert inst.column("cpu_seconds")[1] == 3600
    assert counts(inst.notes, NoteKind.ASSUMED)["JobID"] is None
    both = read(row("8_1") + "|9", row("") + "|2", row("") + "|", header=HEADER + "|JobIDRaw")
    assert both.ids.tolist() == ["8_1", "2"]
    assert counts(both.notes, NoteKind.ASSUMED)["JobID"] == 1


def test_each_size_of_a_resized_job_is_a_job(read):
    inst = read(
        row(1, state="RESIZING", end="00:10:00", elapsed="00:10:00"),
        row(1, start="00:10:00", end="02:10:00", elapsed="02:00:00"),
        row(2, state="RESIZING").replace(f"{DAY}01:00:00", "Unknown"),
    )
    assert inst.ids.tolist() == [1, 1]
    assert inst.column("runtime").tolist() == [600, 7200]
    assert inst.column("eligible").tolist() == [0, 600]
    assert counts(inst.notes, NoteKind.UNUSUAL)["resized jobs"] == 1
    assert places(inst.notes, NoteKind.DROPPED)["not ended yet"] == (1, "line 4")


def test_a_number_that_comes_again(read):
    inst = read(
        row(1, state="REQUEUED"), row(1, submit="01:00:00", start="01:10:00", end="02:10:00"),
        row(2), row(2, day="2026-11-01T"),  # months later
        row(3), row(3, user="ben", submit="02:00:00", start="02:00:00", end="03:00:00"),
        row(4), row(4, start="00:30:00", end="01:30:00"),
        row(5), row(5),
    )  # fmt: skip
    assert len(inst) == 9
    assert places(inst.notes, NoteKind.UNUSUAL) == {
        "requeued jobs": (1, "line 3"),
        "reused job numbers": (2, "lines 7, 5"),
        "overlapping job numbers": (1, "line 9"),
    }
    assert places(inst.notes, NoteKind.DROPPED)["the same row once more"] == (1, "line 11")


def test_a_day_may_be_written_with_a_blank(read):
    blank, plain = row(1).replace("T0", " 0"), row(2)
    inst = read(blank, plain)
    assert inst.column("submit").tolist() == [0, 0]
    assert inst.column("runtime").tolist() == [3600, 3600]


def test_several_clusters_are_said(read):
    inst = read(row(1) + "|one", row(1, user="ben") + "|two", header=HEADER + "|Cluster")
    assert counts(inst.notes, NoteKind.ASSUMED)["clusters"] == 2


def test_jobs_of_other_partitions_than_the_only_one_are_named(tmp_path, machine):
    conf = tmp_path / "slurm.conf"
    conf.write_text("SelectType=select/cons_tres\nNodeName=n[1-4] CPUs=4\n"
                    "PartitionName=batch Nodes=ALL Default=YES\n")  # fmt: skip
    (tmp_path / "jobs.txt").write_text(
        "\n".join([HEADER, row(1), row(2).replace("|batch|", "|gone|")]) + "\n"
    )
    inst = cs.cluster.from_sacct(tmp_path / "jobs.txt", conf)
    assert counts(inst.notes, NoteKind.REPAIRED)["unknown partitions"] == 1
