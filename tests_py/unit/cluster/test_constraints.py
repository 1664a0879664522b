"""Constraints of jobs: read as Slurm reads them, never ignored, and refused with their reason."""

from itertools import combinations

import numpy as np
import pytest
from note_facts import counts

import cosched as cs
from cosched import NoteKind
from cosched.cluster.machine.constraints import (
    InvalidConstraint,
    constraint_nodes,
    constraint_notes,
    parse_constraint,
)
from cosched.cluster.machine.node_types import NodeType, hosts
from cosched.cluster.schedule.held import with_features
from cosched.slurm.recordings.agreement import agreement, read_recording
from support import FIXTURES

POLICIES = ("FCFS", "EASY", "conservative", "slurm-backfill")
#: A node of each set of features.
ALL_SETS = [
    frozenset(feature_subset) for size in range(4) for feature_subset in combinations("abc", size)
]


def node_types(features, count=1):
    return tuple(
        NodeType(f"t{k}", count, 8, 0.0, 0, features=tuple(sorted(node_features)))
        for k, node_features in enumerate(features)
    )


@pytest.mark.parametrize(
    ("text", "meets"),
    [
        ("a", lambda a, b, c: a),
        ("a&b", lambda a, b, c: a and b),
        ("a,b", lambda a, b, c: a and b),
        ("a|b", lambda a, b, c: a or b),
        ("a&b|c", lambda a, b, c: (a and b) or c),
        ("a|b&c", lambda a, b, c: (a or b) and c),  # from left to right
        ("a|(b&c)", lambda a, b, c: a or (b and c)),
        ("(a|b)&c", lambda a, b, c: (a or b) and c),
        ("(a&b)|(b&c)", lambda a, b, c: (a and b) or (b and c)),
        ("[a|b]", lambda a, b, c: a or b),
        ("c&[a|b]", lambda a, b, c: c and (a or b)),
        ("[a|b]&c", lambda a, b, c: c and (a or b)),
        ("[(a&b)|c]", lambda a, b, c: (a and b) or c),
        ("a&", lambda a, b, c: a),
        ("a*1", lambda a, b, c: True),  # the other nodes are open
        ("[a*1&b*1]", lambda a, b, c: a or b),
        ("[a]&c", lambda a, b, c: a and c),  # brackets around one feature mean nothing
        ("a|[b]", lambda a, b, c: a or b),
        ("a|[b*1]", lambda a, b, c: True),
        ("c&[a*1]", lambda a, b, c: c),
        ("a*1|b", lambda a, b, c: True),
    ],
)
def test_which_nodes_a_constraint_allows(text, meets):
    nodes = constraint_nodes(text, node_types(ALL_SETS))
    expected = [bool(meets(*(name in feature_set for name in "abc"))) for feature_set in ALL_SETS]
    assert nodes.allowed.tolist() == expected
    assert nodes.reason == ""
    # The validator reads it for itself.
    if "*" not in text:
        assert with_features(ALL_SETS, text).any(axis=0).tolist() == expected


def test_all_nodes_of_a_bracket_are_of_one_alternative():
    nodes = constraint_nodes("c&[a|b]", node_types(ALL_SETS))
    first, second = nodes.alternatives
    assert first.tolist() == [{"a", "c"} <= feature_set for feature_set in ALL_SETS]
    assert second.tolist() == [{"b", "c"} <= feature_set for feature_set in ALL_SETS]
    assert np.array_equal(with_features(ALL_SETS, "c&[a|b]"), [first, second])


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("&a", "& without a feature"),
        ("a||b", "| without a feature"),
        ("(a", "unbalanced"),
        ("a)", "unbalanced parentheses"),
        ("((a))", "unbalanced parentheses"),
        ("[a|b", "unbalanced"),
        ("a]", "unbalanced brackets"),
        ("[a|b]&[c]", "more than one pair"),
        ("[a&b]", "without the number of nodes"),
        ("[a*2|b]", "a count in"),
        ("[a*1&b|c]", "& and | in one pair"),
        ("a*0", "N >= 1"),
        ("a*", "expected features"),
        ("(a*2)", "N >= 1"),
        ("(a)b", "expected & or |"),
        ("()", "unbalanced"),
    ],
)
def test_what_sbatch_refuses_is_refused_with_its_cause(text, cause):
    with pytest.raises(InvalidConstraint) as caught:
        parse_constraint(text)
    assert cause in str(caught.value)
    assert "Slurm does not take it" in constraint_nodes(text, node_types(ALL_SETS)).reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("z", "no node has the feature 'z'"),
        ("a|z", "no node has the feature 'z'"),  # sbatch: Invalid feature specification
        ("a&b", "no node has 'a&b'"),
        ("a*3", "2 nodes have a, and it asks for 3"),
        ("[a*2&b*3]", "2 nodes have b, and it asks for 3"),
        ("[a*2&(a|b)*3]", "4 nodes have a or (a|b), and it asks for 5"),
        ("[a*2&b*2]", ""),
        ("a|b", ""),
    ],
)
def test_why_no_nodes_satisfy_a_constraint(text, reason):
    assert constraint_nodes(text, node_types(["a", "b"], count=2)).reason == reason


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("nothing", ["", None, float("nan")])
def test_a_job_may_ask_for_nothing(read, name, nothing):
    machine = read(events("-n 8")).machine
    jobs = {"submit": [0, 0], "tasks": [8, 8], "cpu": [1, 1], "memory": [1, 1], "runtime": [9, 9]}
    inst = cs.cluster.Instance(jobs | {"constraint": ["type_c", nothing]}, 48, machine=machine)
    assert inst.column("constraint").tolist() == ["type_c", ""]
    assert len(cs.cluster.solve(inst, name).jobs) == 2


def test_without_a_machine_constraints_are_counted_as_not_followed():
    jobs = {"submit": [0, 0], "tasks": [1, 1], "cpu": [1, 1], "memory": [1, 1], "runtime": [9, 9]}
    inst = cs.cluster.Instance(jobs | {"constraint": ["a", "b|c"]}, 2)
    assert counts(inst.notes, NoteKind.NOT_FOLLOWED) == {"constraints": 2}


def test_notes_have_the_number_of_jobs():
    texts = ["a*2", "a*2", "[a|b]", "a", "", "z", "[a|b]*2"]
    notes = constraint_notes(texts, node_types(["a", "b"], count=2))
    assert [(note.kind, note.subject, note.count) for note in notes] == [
        (NoteKind.NOT_FOLLOWED, "constraint a*2", 2),
        (NoteKind.ASSUMED, "constraint [a|b]", 1),
        (NoteKind.NOT_FOLLOWED, "constraint [a|b]*2", 1),
    ]


@pytest.mark.parametrize(("text", "count"), [("[a|b]*2", 2), ("[a|b]*3&c", 3), ("a&[b|c]*4", 4)])
def test_a_count_behind_brackets_is_not_lost(text, count):
    constraint = parse_constraint(text)
    assert constraint.count_of_brackets == count
    assert constraint.counts_nodes
    assert not parse_constraint(text.replace(f"*{count}", "")).counts_nodes


@pytest.mark.parametrize("text", ["[a|b]*0", "[a|b]*2*3", "[a|b]*"])
def test_a_wrong_count_behind_brackets_is_refused(text):
    with pytest.raises(InvalidConstraint):
        parse_constraint(text)


CONF = """SelectType=select/cons_tres
NodeName=a[1-2] CPUs=8 Feature=type_a
NodeName=b[1-2] CPUs=8 Feature=type_b
NodeName=c[1-2] CPUs=8 Feature=type_c
PartitionName=main Nodes=ALL Default=YES
PartitionName=only_c Nodes=c[1-2]
"""
EVENT = "-dt {} -e submit_batch_job | -jid {} -sim-walltime 100 --uid=u -t 60 {} job.sh\n"


@pytest.fixture
def read(tmp_path):
    """Reads submissions, sacct output or a table on the machine above."""

    def reading(text, suffix="events", **options):
        (tmp_path / "slurm.conf").write_text(CONF)
        path = tmp_path / f"log.{suffix}"
        path.write_text(text)
        return cs.cluster.Instance.read(path, machine=tmp_path / "slurm.conf", **options)

    return reading


def events(*options):
    return "".join(EVENT.format(k, k + 1, each) for k, each in enumerate(options))


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("-n 8 -C type_z", "no node has the feature 'type_z'"),
        ("-n 8 -C 'type_a&type_b'", "no node has 'type_a&type_b'"),
        ("-n 8 -C 'type_a|type_z'", "no node has the feature 'type_z'"),
        ("-N 5 -n 40 -C '[type_a*3&type_b*2]'", "2 nodes have type_a, and it asks for 3"),
        ("-n 8 -C '[type_a'", "unbalanced brackets"),
        ("-n 40 -C 'type_a|type_b'", "have 32 cores"),
        ("-N 3 -n 24 -C type_a", ""),
        ("-p only_c -n 8 -C type_a", "partition only_c has 2 nodes, none with type_a"),
    ],
)
def test_a_constraint_that_no_nodes_satisfy_is_refused_with_its_reason(read, name, options, reason):
    inst = read(events("-n 8", options, options))
    with pytest.raises(cs.InfeasibleError) as caught:
        cs.cluster.solve(inst, name)
    assert reason in str(caught.value)
    assert "job 2" in str(caught.value)
    assert "and 1 other job that cannot start: 3" in str(caught.value)
    remaining_log = read(events("-n 8", options, options), drop="too-wide")
    assert [str(job_id) for job_id in remaining_log.ids] == ["1"]
    assert counts(remaining_log.notes, NoteKind.DROPPED) == {"drop": 2}


@pytest.mark.parametrize("name", POLICIES)
def test_constraints_that_nodes_satisfy_are_followed(read, name):
    wanted = ["-C type_a|type_b", "-C (type_a|type_c)&type_c", "-C [type_a|type_b]", "-C type_c"]
    inst = read(events(*(f"-N 1 -n 8 '{each.split()[0]}' '{each.split()[1]}'" for each in wanted)))
    result = cs.cluster.solve(inst, name)
    result.schedule.validate()
    names = result.schedule.to_frame().set_index("task").sort_index().hosts.tolist()
    assert [set(job_nodes) <= set(may) for job_nodes, may in zip(
        names, (["a1", "a2", "b1", "b2"], ["c1", "c2"], ["a1", "a2", "b1", "b2"], ["c1", "c2"]),
        strict=True,
    )] == [True] * 4  # fmt: skip


@pytest.mark.parametrize("name", ["EASY", "slurm-backfill"])
def test_five_jobs_wait_for_four_nodes_with_their_features(read, name):
    inst = read(events(*["-N 1 -n 8 -C '(type_a|type_b)'"] * 5))
    start = cs.cluster.solve(inst, name, **({} if name == "EASY" else {"seed": 1})).jobs.start
    assert (start[:4] < 90).all()
    assert start[4] >= 100


SACCT = """JobID|Partition|State|Submit|Start|Elapsed|Timelimit|NNodes|NCPUS|Constraints
1|main|COMPLETED|2025-08-12T08:00:00|2025-08-12T08:00:01|01:00:00|02:00:00|1|8|type_z
2|main|COMPLETED|2025-08-12T08:00:00|2025-08-12T08:00:01|01:00:00|02:00:00|1|8|type_a&type_b
3|main|COMPLETED|2025-08-12T08:00:00|2025-08-12T08:00:01|01:00:00|02:00:00|1|8|type_z
4|only_c|COMPLETED|2025-08-12T08:00:00|2025-08-12T08:00:01|01:00:00|02:00:00|1|8|type_a
5|main|COMPLETED|2025-08-12T08:00:00|2025-08-12T08:00:01|01:00:00|02:00:00|1|8|type_b
"""


@pytest.mark.parametrize("options", [{}, {"drop": "too-wide"}])
def test_a_job_that_ran_had_nodes_and_its_lost_features_are_counted(read, options):
    inst = read(SACCT, "txt", **options)
    assert len(inst) == 5
    notes = [note for note in inst.notes if note.kind is NoteKind.NOT_FOLLOWED]
    assert [(note.subject, note.count) for note in notes] == [
        ("constraint type_z", 2), ("constraint type_a&type_b", 1), ("constraint type_a", 1),
    ]  # fmt: skip
    for name in POLICIES:
        cs.cluster.solve(inst, name).schedule.validate()


def test_a_table_of_jobs_that_did_not_run_keeps_its_constraints(read):
    header = "id,submit,tasks,cpu,memory,runtime,constraint"
    inst = read(f"{header}\n1,0,8,1,1,9,type_a\n2,0,8,1,1,9,type_z\n", "csv")
    with pytest.raises(cs.InfeasibleError, match="job 2: wants constraint 'type_z': no node has"):
        cs.cluster.solve(inst, "EASY")
    waited_log = read(f"{header},wait\n1,0,8,1,1,9,type_a,0\n2,0,8,1,1,9,type_z,3\n", "csv")
    assert cs.cluster.solve(waited_log, "EASY").jobs.start.tolist() == [0, 0]
    assert counts(waited_log.notes, NoteKind.NOT_FOLLOWED)["constraint type_z"] == 1


def test_a_comparison_says_why_no_policy_runs_a_job(read):
    inst = read(events("-n 16 -C type_z", "-n 16 -C 'type_a&type_b'"))
    table = cs.cluster.compare(inst, ["EASY", "slurm-backfill"])
    assert table.status.tolist() == ["not_applicable"] * 2
    assert table.message.str.contains("no node has the feature 'type_z'").all()


def test_a_real_slurm_reads_constraints_so():
    """Recorded on 22.05.8: each job has nodes that its constraint allows, and sbatch refused those
    that no nodes satisfy."""
    path = FIXTURES / "slurm" / "constraints_a.json.gz"
    data = cs.io.read_json(path)
    machine = read_recording(path).machine
    names = list(machine.slurm.names)
    each = [kind for kind in machine.nodes for _ in range(kind.count)]
    refused = {int(job) for job in data["phases"][0]["refused"]}
    assert len(refused) == 4
    for number, (job, run) in enumerate(zip(data["jobs"], data["runs"][0], strict=True)):
        nodes = constraint_nodes(job["constraint"], each)
        assert bool(nodes.reason) == (number in refused), job
        if number not in refused:
            got = [names.index(name) for name in hosts(run["nodelist"], "nodelist")]
            assert nodes.allowed[got].all(), job


def test_the_simulator_gives_the_nodes_that_a_real_slurm_gave():
    recording = read_recording(FIXTURES / "slurm" / "constraints_a.json.gz")
    (run,) = recording.runs
    run_agreement = agreement(recording, run)
    assert (run_agreement.off_by_60, run_agreement.good) == (0, len(run.start))
