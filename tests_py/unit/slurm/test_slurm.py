"""slurm.conf, and the policy slurm-backfill: rules of small cases, and the recordings kept."""

import numpy as np
import pytest
from note_facts import counts, has_note

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.slurm.recordings.agreement import agreement, read_recording, samples_off
from cosched.slurm.requests.core_job_builder import CoreJobBuilder
from cosched.slurm.requests.request import Request
from cosched.slurm.twin.host_clocks import HOST
from cosched.slurm.twin.twin import Twin
from support import FIXTURES, RECORDINGS

CONF = """
ClusterName=test   # nothing to do with scheduling
SelectType=select/linear
SchedulerParameters=bf_interval=30,bf_resolution=60,\\
bf_continue
KillWait=40
Include more.conf
NodeName=DEFAULT CPUs=4 RealMemory=2048
NodeName=n[1-10,12] Weight=5
NodeName=n11 Weight=1
PartitionName=DEFAULT MaxTime=2:00:00
PartitionName=main Nodes=ALL Default=YES
PartitionName=fast Nodes=n[1-2] MaxTime=30 PriorityTier=10
"""
#: Whole nodes or cores, no accounts: what the twin is for.
PLAIN = [
    "burst40_tight",
    "bursts40_def",
    "cores40_def",
    "kill40_def",
    "multif40_def",
    "multif40_x60",
    "one40_def",
    "param40",
    "pois40_consx",
    "pois40_def",
    "pois50_tight",
    "twopart40_def",
    "small",
]
#: Where which of two nodes was free first is decided within a second, and all that follows with it.
LEAST_REPLAYED = {"arr_a_24": 0.3, "qos_a": 0.7}
#: Share of jobs on the same nodes within 5 s; least where limits are exceeded (kill40).
LEAST_GOOD = 0.65


@pytest.fixture
def conf(tmp_path):
    (tmp_path / "more.conf").write_text("OverTimeLimit=2\nFrobnicate=7\nFrobnicate=8\n")
    path = tmp_path / "slurm.conf"
    path.write_text(CONF)
    return path


def jobs_of(*rows):
    """(submit, nodes, limit, runtime) of each job."""
    submit, tasks, limit, runtime = zip(*rows, strict=True)
    ones = [1] * len(rows)
    return {
        "submit": submit, "tasks": tasks, "cpu": ones, "memory": ones, "runtime": runtime,
        "estimate": limit,
    }  # fmt: skip


def solve(rows, nodes=4, **options):
    options = {"controller_start": -100.0, "epoch": 0, **options}
    instance = cs.cluster.Instance(jobs_of(*rows), nodes)
    result = cs.cluster.solve(instance, "slurm-backfill", **options)
    result.schedule.validate()
    return result


def test_a_slurm_conf(conf):
    machine = cs.cluster.Machine.read(conf)
    assert (machine.node_count, machine.cores) == (12, 48)
    settings = machine.slurm
    assert settings.names[9:] == ("n10", "n11", "n12")
    assert settings.lines == (((10, 11),), ((0, 10), (11, 12)))  # the lighter line first
    assert settings.parameters["OverTimeLimit"] == 120
    assert settings.parameters["KillWait"] == 40
    assert counts(settings.notes, NoteKind.NOT_READ) == {"Frobnicate": None}
    main_, fast = machine.partitions
    assert (main_.max_time, fast.max_time, fast.priority) == (7200.0, 1800.0, 10.0)
    assert fast.nodes == ((0, 2),)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("SchedulerParameters=bf_busy_nodes", "SchedulerParameters=bf_busy_nodes"),
        ("TopologyPlugin=topology/tree", "TopologyPlugin"),
        ("SchedulerParameters=sched_interval=-1", "sched_interval=-1"),
        ("PartitionName=b Nodes=n1 OverSubscribe=FORCE:4", "OverSubscribe=FORCE:4"),
        (
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
            "PartitionName=b Nodes=n1 MaxCPUsPerNode=2",
            "MaxCPUsPerNode=2",
        ),
        (
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
            "NodeName=n8 CoreSpecCount=1",
            "CoreSpecCount=1",
        ),
    ],
)
def test_what_is_not_covered_is_refused_by_name(tmp_path, line, said):
    path = tmp_path / "slurm.conf"
    path.write_text(f"{line}\nNodeName=n[1-4] CPUs=1\nPartitionName=a Nodes=ALL\n")
    machine = cs.cluster.Machine.read(path)
    instance = cs.cluster.Instance(jobs_of((0, 1, 60, 30)), machine.node_count)
    with pytest.raises(cs.InvalidInstance, match=f"does not cover .*{said}"):
        cs.cluster.solve(instance, "slurm-backfill", machine=machine)
    with pytest.raises(TypeError, match="bf_frob"):
        cs.cluster.solve(instance, "slurm-backfill", bf_frob=3)


def test_what_changes_nothing_is_no_reason_to_refuse(tmp_path):
    path = tmp_path / "slurm.conf"
    path.write_text(
        "SelectType=select/linear\nAccountingStorageEnforce=limits\nPreemptMode=REQUEUE\n"
        "PriorityWeightQOS=9\nSchedulerParameters=enable_user_top\nNodeName=n[1-4] CPUs=1\n"
        "PartitionName=a Nodes=ALL MinNodes=1 MaxNodes=UNLIMITED OverSubscribe=FORCE:1\n"
    )
    instance = cs.cluster.Instance(jobs_of((0, 1, 60, 30)), 4)
    machine = cs.cluster.Machine.read(path)
    assert cs.cluster.solve(instance, "slurm-backfill", machine=machine).status == "ok"
    assert [note.subject for note in machine.notes] == ["PreemptMode=REQUEUE"]


def _on(tmp_path, conf, *rows, partition="a", **options):
    """Jobs on four nodes of one core."""
    path = tmp_path / "slurm.conf"
    path.write_text(f"SelectType=select/linear\nNodeName=n[1-4] CPUs=1\n{conf}\n")
    machine = cs.cluster.Machine.read(path)
    jobs = jobs_of(*rows) | {"partition": [partition] * len(rows)}
    return cs.cluster.solve(
        cs.cluster.Instance(jobs, 4, machine=machine), "slurm-backfill", seed=1, **options
    )


def test_nodes_that_are_down_take_no_jobs(tmp_path):
    conf = "PartitionName=a Nodes=ALL\nDownNodes=n[1-2] State=DRAIN Reason=fan"
    result = _on(tmp_path, conf, (0, 2, 600, 300), (9, 2, 600, 300))
    assert [list(units) for units in result.schedule.to_frame().units] == [[2, 3]] * 2
    assert result.jobs.start[1] >= 300
    assert counts(result.instance.machine.notes, NoteKind.ASSUMED)["State=DRAIN"] == 2
    with pytest.raises(cs.InfeasibleError, match="job 0 can never start"):
        _on(tmp_path, conf, (0, 3, 600, 300))


def test_jobs_are_as_large_as_their_partition_lets_them(tmp_path):
    conf = "PartitionName=a Nodes=ALL MinNodes=2 MaxNodes=3"
    result = _on(tmp_path, conf, (0, 1, 600, 300), (9, 1, 600, 300), (18, 1, 600, 300))
    assert result.jobs.start[1] < 100 < result.jobs.start[2]  # each has two nodes
    with pytest.raises(cs.InfeasibleError, match=r"job 0 wants 4 nodes: .*MaxNodes"):
        _on(tmp_path, conf, (0, 4, 600, 300))


def test_a_partition_that_is_down(tmp_path):
    conf = "PartitionName=a Nodes=ALL State=INACTIVE\nPartitionName=b Nodes=ALL"
    assert _on(tmp_path, conf, (0, 1, 60, 30), partition="b").status == "ok"
    with pytest.raises(cs.InfeasibleError, match="State"):
        _on(tmp_path, conf, (0, 1, 60, 30))
    result = _on(tmp_path, conf, (0, 1, 60, 30), approximate=True)
    assert has_note(result.instance.notes, NoteKind.NOT_FOLLOWED, "State of partition a")


@pytest.mark.parametrize(
    "line", ["SchedulerType=sched/builtin", "SchedulerParameters=bf_interval=-1"]
)
def test_without_backfill_no_job_passes_the_first_that_waits(tmp_path, line):
    conf = "PartitionName=a Nodes=ALL"
    rows = ((0, 3, 600, 300), (9, 4, 600, 300), (18, 1, 100, 50))
    assert _on(tmp_path, conf, *rows).jobs.start[2] < 100
    assert _on(tmp_path, f"{line}\n{conf}", *rows).jobs.start[2] > 600


def test_partitions_of_one_tier_preempt_nobody(tmp_path):
    conf = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nPartitionName=a Nodes=ALL"
    notes = _on(tmp_path, conf, (0, 1, 60, 30)).instance.machine.notes
    assert any("no partition can preempt another" in note for note in notes)


def test_a_value_that_slurm_would_not_take_has_no_row_of_its_own(tmp_path):
    instance = cs.cluster.Instance(jobs_of((0, 1, 60, 30)), 1)
    for bad in ({"bf_interval": -1}, {"bf_interval": 20000}, {"bf_window": 0}):
        with pytest.raises(cs.InvalidInstance, match=f"{next(iter(bad))} = .*expected 1.."):
            cs.cluster.solve(instance, "slurm-backfill", **bad)
    path = tmp_path / "slurm.conf"
    path.write_text(
        "SelectType=select/linear\nSchedulerParameters=bf_interval=20000\nNodeName=n[1-4]\n"
        "PartitionName=a Nodes=ALL\n"
    )
    machine = cs.cluster.Machine.read(path)
    assert "bf_interval" not in machine.slurm.parameters
    (note,) = machine.notes
    assert "bf_interval=20000 (outside 1..10800: Slurm takes its default, 30)" in note


@pytest.mark.parametrize(
    ("row", "said"), [((1e11, 1, 60, 30), "submit"), ((3, 1, 60, 1e11), "runtime")]
)
def test_clocks_do_not_tick_for_ever(row, said):
    instance = cs.cluster.Instance(jobs_of((0, 1, 60, 30), row), 1)
    with pytest.raises(cs.InvalidInstance, match=f"job 1: {said} = 100000000000: expected"):
        cs.cluster.solve(instance, "slurm-backfill")


def test_options_are_in_the_units_of_slurm(tmp_path):
    """A job that runs past its limit of 60 s: two minutes of OverTimeLimit let it end."""
    instance = cs.cluster.Instance(jobs_of((0, 1, 60, 150)), 1)
    killed = [
        cs.cluster.solve(instance, "slurm-backfill", OverTimeLimit=minutes).metrics()["killed"]
        for minutes in (0, 2)
    ]
    assert killed == [1, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NodeName=n[1-\nPartitionName=a Nodes=ALL\n", "slurm.conf:1"),
        ("NodeName=n1\nPartitionName=a Nodes=n2\n", "n2"),
        ("NodeName=n1\n", "PartitionName"),
        ("nonsense\n", "Key=Value"),
    ],
)
def test_a_bad_slurm_conf_is_one_line(tmp_path, text, said):
    path = tmp_path / "slurm.conf"
    path.write_text(text)
    with pytest.raises(cs.InvalidInstance, match=said) as error:
        cs.cluster.Machine.read(path)
    assert "\n" not in str(error.value)


def test_the_limit_check_is_every_thirty_seconds_of_the_controller():
    # Started at -100: checks at 20 + 30 k seconds.
    result = solve([(0, 4, 60, 600)])
    start, end = result.jobs.start[0], result.jobs.end[0]
    assert start == 0
    assert end in (80, 81)
    assert result.metrics()["killed"] == 1


def test_plans_are_rounded_down_to_the_grid():
    # 2 of 4 nodes are busy until 650 (limit), so the wide job is planned for 650, on a grid of 60 s
    # for 600: a job that would end at 640 fits beside the first plan only.
    rows = [(0, 2, 650, 640), (1, 4, 600, 60), (20, 2, 600, 590)]
    assert solve(rows, bf_resolution=1).jobs.start[2] < 60
    assert solve(rows, bf_resolution=60).jobs.start[2] > 600


def test_priority_tiers_come_first(conf):
    machine = cs.cluster.Machine.read(conf)
    rows = jobs_of((0, 12, 600, 300), (10, 12, 600, 300), (20, 2, 600, 300))
    rows["partition"] = ["main", "main", "fast"]
    instance = cs.cluster.Instance(rows, 12)
    result = cs.cluster.solve(instance, "slurm-backfill", machine=machine, seed=3)
    start = result.jobs.start
    assert start[0] < start[2] < start[1]


def test_whole_nodes_hold_the_cores_of_a_job(conf):
    machine = cs.cluster.Machine.read(conf)
    instance = cs.cluster.Instance(jobs_of((0, 5, 600, 300), (0, 3, 600, 300)), 48, machine=machine)
    result = cs.cluster.solve(instance, "slurm-backfill", seed=1)
    result.schedule.validate()
    units = [set(np.asarray(u) // 4) for u in result.schedule.to_frame().units]
    assert [len(job_units) for job_units in units] == [2, 1]
    assert not units[0] & units[1]


def test_jobs_share_nodes_where_slurm_says_so(tmp_path):
    path = tmp_path / "slurm.conf"
    path.write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-4] CPUs=4\n"
        "PartitionName=a Nodes=ALL\n"
    )
    machine = cs.cluster.Machine.read(path)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rows = zip(
            np.sort(rng.integers(0, 900, 40)), rng.integers(1, 9, 40), 60 * rng.integers(2, 15, 40),
            rng.integers(30, 900, 40), strict=True,
        )  # fmt: skip
        instance = cs.cluster.Instance(jobs_of(*rows), 16, machine=machine)
        cs.cluster.solve(instance, "slurm-backfill", seed=seed).schedule.validate()
    # Six cores fill a node and half of the next; two fit beside them; a node alone comes first.
    instance = cs.cluster.Instance(
        jobs_of((0, 6, 600, 300), (9, 2, 600, 300), (18, 3, 600, 300)), 16
    )
    result = cs.cluster.solve(instance, "slurm-backfill", machine=machine)
    nodes = [sorted(set(np.array(units) // 4)) for units in result.schedule.to_frame().units]
    assert nodes == [[0, 1], [1], [2]]
    large = cs.cluster.Instance(jobs_of((0, 17, 60, 30)), 16)
    with pytest.raises(cs.InfeasibleError, match="17 cores"):
        cs.cluster.solve(large, "slurm-backfill", machine=machine)


def test_memory_and_gpus_are_handed_out(tmp_path):
    path = tmp_path / "slurm.conf"
    path.write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nDefMemPerCPU=500\n"
        "NodeName=n[1-4] CPUs=4 RealMemory=4096 Gres=gpu:a100:2 Weight=2\n"
        "PartitionName=a Nodes=ALL\n"
    )
    machine = cs.cluster.Machine.read(path)
    jobs = jobs_of((0, 1, 600, 300), (9, 1, 600, 300), (18, 1, 600, 300), (27, 1, 600, 300))
    jobs |= {"memory_gb": [3, 2, 1, 0], "gpus": [0, 0, 0, 2]}

    def nodes_of(**columns):
        instance = cs.cluster.Instance(jobs | columns, 16, machine=machine)
        result = cs.cluster.solve(instance, "slurm-backfill", seed=1)
        result.schedule.validate()
        return [int(units[0]) // 4 for units in result.schedule.to_frame().units], result

    # 3 GB leave 1 for job 2, and nothing for the 500 MB that job 3 has by default.
    assert nodes_of()[0] == [0, 1, 0, 1]
    assert nodes_of(gpus=[2, 2, 2, 0])[0] == [0, 1, 2, 0]
    assert nodes_of(memory_gb=[4, 4, 4, 4])[0] == [0, 1, 2, 3]
    del jobs["memory_gb"]
    assert has_note(nodes_of()[1].instance.notes, NoteKind.MEMORY_UNKNOWN, "log")
    jobs["memory_gb"] = [5, 1, 1, 1]
    with pytest.raises(cs.InfeasibleError, match="job 0 can never start"):
        nodes_of()


def test_what_has_no_rule_can_be_left_out(tmp_path, capsys):
    path = tmp_path / "slurm.conf"
    path.write_text(
        "SelectType=select/linear\nTopologyPlugin=topology/tree\nJobSubmitPlugins=lua\n"
        "NodeName=n[1-4] CPUs=1\nPartitionName=a Nodes=ALL\n"
    )
    machine = cs.cluster.Machine.read(path)
    instance = cs.cluster.Instance(jobs_of((0, 1, 60, 30)), 4)
    with pytest.raises(cs.InvalidInstance, match="approximate=True \\(--approximate\\)"):
        cs.cluster.solve(instance, "slurm-backfill", machine=machine)
    result = cs.cluster.solve(instance, "slurm-backfill", machine=machine, approximate=True)
    (note,) = result.instance.notes
    assert (note.kind, note.subject) == (NoteKind.NOT_FOLLOWED, "TopologyPlugin=topology/tree")
    notes = machine.approximated().notes
    assert any("JobSubmitPlugins" in note for note in notes)
    assert note in notes
    instance.write(tmp_path / "jobs.json")
    asked = ["solve", "cluster", str(tmp_path / "jobs.json"), "--machine", str(path)]
    asked += ["--algorithm", "slurm-backfill"]
    assert main(asked) == 2
    assert main([*asked, "--approximate"]) == 0
    assert "places differ" in capsys.readouterr().out


def test_rules_of_two_versions():
    instance = cs.cluster.Instance(jobs_of((0, 1, 60, 30)), 4)
    assert not cs.slurm.backfill(instance).instance.notes
    assert not cs.slurm.backfill(instance, version="24.11").instance.notes
    for version, rules in (("23.02", "22.05"), ("23.11", "24.11"), ("25.05", "24.11")):
        (note,) = cs.slurm.backfill(instance, version=version).instance.notes
        assert (note.kind, note.subject) == (NoteKind.OTHER_VERSION, version)
        assert rules in note
    with pytest.raises(cs.InvalidInstance, match="slurm_version = 'newest'"):
        cs.slurm.backfill(instance, version="newest")
    # Two nodes until 300; a job of 90 s over both is planned to 360, rounded up to 420: one that
    # would end at 400 passes it in 22.05 alone.
    rows = [(0, 1, 300, 290), (1, 2, 90, 60), (20, 1, 330, 300)]
    start = {v: solve(rows, nodes=2, version=v).jobs.start[2] for v in ("22.05", "24.11")}
    assert start["22.05"] < 60 or start["24.11"] > 300


def test_lines_of_equal_nodes_are_one_in_24(tmp_path):
    """Two nodes: 22.05 looks at the first line, which holds enough; 24.11 at the run of two."""
    path = tmp_path / "slurm.conf"
    path.write_text(
        "SelectType=select/linear\nNodeName=n[1-4] CPUs=1\nNodeName=n[6-7] CPUs=1\n"
        "NodeName=n5 CPUs=1 Weight=9\nPartitionName=a Nodes=ALL\n"
    )
    machine = cs.cluster.Machine.read(path)
    instance = cs.cluster.Instance(jobs_of((0, 2, 60, 30)), 7, machine=machine)
    for version, nodes in (("22.05", [0, 1]), ("24.11", [5, 6])):
        result = cs.slurm.backfill(instance, version=version)
        assert list(result.schedule.to_frame().units[0]) == nodes


def test_priorities_can_be_given():
    rows = [(0, 1, 600, 300), (5, 1, 600, 300), (6, 1, 600, 300)]
    instance = cs.cluster.Instance(jobs_of(*rows) | {"priority": [5, 7, 9]}, 1)
    options = {"controller_start": -100.0, "epoch": 0}
    for priorities, order in (("computed", [0, 1, 2]), ("given", [0, 2, 1])):
        result = cs.slurm.backfill(instance, priorities=priorities, **options)
        assert np.argsort(result.jobs.start).tolist() == order
    with pytest.raises(cs.InvalidInstance, match="a column priority"):
        cs.slurm.backfill(cs.cluster.Instance(jobs_of(*rows), 1), priorities="given")
    with pytest.raises(cs.InvalidInstance, match="expected computed or given"):
        cs.slurm.backfill(instance, priorities="guessed")


def test_checking_a_log(tmp_path, capsys):
    (tmp_path / "slurm.conf").write_text(
        "SelectType=select/linear\nNodeName=n[1-2] CPUs=1\nPartitionName=a Nodes=ALL\n"
    )
    rows = ["JobID|State|Submit|Start|Elapsed|Timelimit|NCPUS|Partition"]
    for k, (submit, start) in enumerate(((0, 1), (5, 62), (10, 900))):
        at = [f"2026-03-01T10:{s // 60:02d}:{s % 60:02d}" for s in (submit, start)]
        rows.append(f"{k}|COMPLETED|{at[0]}|{at[1]}|00:01:00|00:05:00|2|a")
    (tmp_path / "jobs.txt").write_text("\n".join(rows) + "\n")
    asked = ["slurm", "check", str(tmp_path / "jobs.txt")]
    asked += ["--machine", str(tmp_path / "slurm.conf")]
    out = tmp_path / "fit.json"
    assert main([*asked, "-o", str(out)]) == 0
    assert "within_300" in capsys.readouterr().out
    (row,) = cs.io.read_json(out)["fit"]
    assert (row["jobs"], row["partition"], row["rank_correlation"]) == (3, "all", 1.0)
    assert 0.6 < row["within_60"] < 0.7


def test_same_seed_same_schedule_and_draws_spread():
    rng = np.random.default_rng(0)
    rows = [
        (float(s), int(n), float(60 * k), float(40 * k))
        for s, n, k in zip(
            np.sort(rng.integers(0, 600, 30)), rng.integers(1, 5, 30), rng.integers(1, 9, 30),
            strict=True,
        )
    ]  # fmt: skip
    options = {"controller_start": None, "epoch": None, "draws": 20}
    first, second = solve(rows, seed=5, **options), solve(rows, seed=5, **options)
    np.testing.assert_array_equal(first.draws.starts, second.draws.starts)
    np.testing.assert_array_equal(first.draws.starts[0], first.jobs.start)
    assert first.draws.values[0] == first.value
    table = first.draws.jobs
    assert (table.start_p05 <= table.start_median).all()
    assert (table.start_p05 < table.start_p95).any()
    assert not np.array_equal(first.jobs.start, solve(rows, seed=6, **options).jobs.start)


def test_the_log_speaks_as_slurm_does():
    rows = [(0, 4, 600, 300), (5, 4, 600, 300), (6, 4, 600, 300)]
    reasons = " ".join(solve(rows, log=True).log.reason)
    for word in ("main scheduler", "Resources", "Priority", "planned start", "COMPLETED"):
        assert word in reasons


def test_fractions_of_seconds_are_valid_too():
    rng = np.random.default_rng(1)
    rows = [(float(s), 3, 100.0, float(r)) for s, r in zip(rng.random(12) * 50, 20 + rng.random(12),
            strict=True)]  # fmt: skip
    start = solve(rows, nodes=3).jobs.start
    assert (np.diff(np.sort(start)) > 20).all()


@pytest.mark.parametrize("name", RECORDINGS)
def test_recordings_of_real_slurms(name):
    recording = read_recording(RECORDINGS[name])
    for run in recording.runs:
        for replay in (False, True):
            run_agreement = agreement(recording, run, replay=replay and bool(run.cycles))
            if name in PLAIN:
                assert run_agreement.off_by_60 == 0
                assert run_agreement.good >= LEAST_GOOD * len(run.start)
            elif replay:
                assert run_agreement.good >= LEAST_REPLAYED.get(name, 0.9) * len(run.start)


@pytest.mark.parametrize("how", ["cancel", "requeue", "grace", "qos", "suspend"])
def test_preemption_of_real_slurms(how):
    """Who had to go for whom, and where and when each ran: of 3 to 5 nodes."""
    recording = read_recording(RECORDINGS[f"preempt_{how}"])
    (run,) = recording.runs
    for replay in (False, True):
        run_agreement = agreement(recording, run, replay=replay)
        assert (run_agreement.off_by_60, run_agreement.good) == (0, len(run.start))
        planned, equal = run_agreement.planned
        assert equal >= 0.8 * planned > 0


def test_the_order_of_a_queue_that_preemption_leaves_none():
    """QOS high may preempt low alone, beside normal: the sort of Slurm decides who is first."""
    recording = read_recording(RECORDINGS["preempt_order"])
    (run,) = recording.runs
    replayed = agreement(recording, run, replay=True)
    assert (replayed.off_by_60, replayed.good) == (0, len(run.start))
    assert replayed.planned == (399, 399)
    assert agreement(recording, run).off_by_60 == 0


def test_four_of_five_jobs_of_production_with_two_numbers():
    """Arrays fall far below it, and most others are all right: which is decided within a second."""
    counts = [
        (agreement(recording, run).good, len(run.start))
        for name in RECORDINGS if name not in PLAIN
        for recording in [read_recording(RECORDINGS[name])]
        for run in recording.runs if run.passes
    ]  # fmt: skip
    good, jobs = np.sum(counts, axis=0)
    assert good >= 0.8 * jobs > 1000 * 0.8


#: Of ages, whose count begins at passes that were not recorded.
OTHER_PRIORITIES = {"age_a": 8}


@pytest.mark.parametrize(
    "name",
    [name for name in RECORDINGS if name.startswith(("age_", "fairshare_", "qos_", "live_"))],
)
def test_factors_and_priorities_of_samples(name):
    """What sshare and sprio showed of real runs, number by number."""
    recording = read_recording(RECORDINGS[name])
    for run in recording.runs:
        factors, other_factors, priorities, others = samples_off(recording, run)
        assert factors > 100 < priorities
        assert other_factors == 0
        assert others <= OTHER_PRIORITIES.get(name, 0)


def test_slurm_check(capsys, tmp_path):
    path = RECORDINGS[PLAIN[0]]
    assert main(["slurm", "check", str(path), "-o", str(tmp_path / "out.json")]) == 0
    assert "within 5 s" in capsys.readouterr().out
    run = cs.io.read_json(tmp_path / "out.json")["runs"][0]
    recorded = read_recording(path).runs[0]
    assert len(run["starts"]) == len(run["nodes"]) == len(recorded.start)
    assert np.abs(np.array(run["starts"]) - recorded.start).max() <= 60 or run["off_60"] > 0
    assert 0 <= run["same_nodes_5s"] <= 1
    assert main(["slurm", "check", str(tmp_path / "out.json")]) == 2
    assert "expected a recording" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("plans", [[1, 0, 2, 3]]),
        ("plans", [[1, 0, 2, "x", "n1"]]),
        ("submit_exact", ["x"]),
        ("bf_cycles", [None]),
        ("epoch", "x"),
    ],
)
def test_a_damaged_recording_is_one_line(tmp_path, capsys, key, value):
    data = cs.io.read_json(RECORDINGS[PLAIN[0]])
    data["phases"][0][key] = value
    cs.io.write_json(data, tmp_path / "damaged.json")
    assert main(["slurm", "check", str(tmp_path / "damaged.json")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "damaged.json" in line


def test_a_cycle_that_is_not_planned_anew_would_give_the_same():
    # With plans=True every cycle is planned; else only where something can differ.
    for seed in range(60):
        rng = np.random.default_rng(seed)
        nodes, count = int(rng.integers(2, 20)), int(rng.integers(5, 40))
        rows = zip(
            np.sort(rng.integers(0, int(rng.choice([100, 2000])), count)),
            rng.integers(1, nodes + 1, count), 60 * rng.integers(1, 20, count),
            rng.integers(1, 900, count), strict=True,
        )  # fmt: skip
        parameters = {
            "bf_interval": int(rng.choice([1, 10, 30])), "bf_window": int(rng.choice([20, 1440])),
            "bf_resolution": int(rng.choice([1, 7, 60, 300])), "cons_tres": seed % 2,
            "bf_max_job_test": int(rng.choice([3, 500])), "CompleteWait": int(rng.choice([0, 20])),
            "bf_min_age_reserve": int(rng.choice([0, 200])), "bf_max_job_start": seed % 3,
        }  # fmt: skip
        twin = Twin(cs.cluster.Instance(jobs_of(*rows), nodes), None, parameters)
        clocks = {**HOST, "controller_start": -float(rng.uniform(3, 63)), "epoch": 7.0}
        often, seldom = (twin.run(clocks, with_plans=plans) for plans in (True, False))
        for column in ("start_exact", "end_exact", "cycle_times", "node"):
            np.testing.assert_array_equal(getattr(often, column), getattr(seldom, column))


def test_recording_a_trace_needs_whole_things(tmp_path, capsys):
    trace = tmp_path / "jobs.csv"
    trace.write_text("submit,tasks,cpu,memory,runtime,estimate\n0,9,1,1,60,60\n")
    asked = ["slurm", "record", str(trace), "-o", str(tmp_path / "out.json")]
    assert main([*asked, "--nodes", "4"]) == 2
    assert "wants 9 nodes" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


@pytest.mark.slurm
def test_a_fresh_recording(tmp_path):
    """Run by `make slurm`: a real Slurm on this host, some twenty times as fast as life."""
    trace = FIXTURES / "slurm" / "small.csv"
    out = tmp_path / "fresh.json"
    assert main(["slurm", "record", str(trace), "--nodes", "6", "-o", str(out)]) == 0
    recording = read_recording(out)
    for run in recording.runs:
        assert agreement(recording, run, replay=True).off_by_60 == 0
        run_agreement = agreement(recording, run)
        planned = sum(plan[1] for plan in run_agreement.plans)
        assert sum(plan[2] for plan in run_agreement.plans) >= 0.5 * planned > 0


def test_draws_cover_real_runs():
    names = ("pois40_def", "one40_def", "param40", "kill40_def", "twopart40_def", "small")
    inside = []
    for name in names:
        recording = read_recording(RECORDINGS[name])
        for run in recording.runs:
            draws = cs.slurm.backfill(recording.instance(run), draws=200).draws
            low, high = np.percentile(draws.starts, [5, 95], axis=0)
            inside.append(((low <= run.start) & (run.start <= high)).mean())
    assert np.mean(inside) >= 0.9


def test_nodes_that_a_job_may_ever_have(conf):
    """Those of others are no nodes of its test: jobs there do not decide when it is tested."""
    conf.write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n"
        "NodeName=n[1-4] CPUs=4 RealMemory=4000 Feature=a\n"
        "NodeName=n[5-6] CPUs=4 RealMemory=9000 Feature=a,b\nPartitionName=main Nodes=ALL\n"
    )
    builder = CoreJobBuilder(cs.cluster.Machine.read(conf))

    def nodes(**asked):
        node_set = builder.core_job(Request(cores=1, **asked)).node_set
        return builder.build_requests({}).sets[node_set] if node_set >= 0 else None

    assert nodes(memory=4000) is None
    assert nodes(memory=4001) == ((4, 6),)
    assert nodes(memory_per_core=4001) == ((4, 6),)
    assert nodes(constraint="a", memory=100) == ((0, 6),)
    assert nodes(constraint="a", memory=5000) == ((4, 6),)
    assert nodes(constraint="b|a", memory=9001) == ()
