"""What jobs ask of a Slurm, in words of sbatch, on a small machine."""

from __future__ import annotations

import pytest

import cosched as cs
from cosched import _core
from cosched.cluster.files.sbatch import array_tasks
from cosched.slurm.machines import slurm_machine
from cosched.slurm.requests.core_job_builder import (
    NEVER_MADE_RESERVATION,
    CoreJobBuilder,
    Requests,
    admin_event,
)
from cosched.slurm.requests.node_sets import gpu_types_of
from cosched.slurm.requests.request import (
    Gpus,
    Owner,
    Request,
    Running,
    Waiting,
    parse_dependencies,
    parse_gpus,
)
from cosched.slurm.twin.twin import Twin

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
Licenses=fluent:4,matlab:2
NodeName=n[1-2] CPUs=4 RealMemory=1024 Feature=a,b Gres=gpu:a100:2
NodeName=n[3-4] CPUs=4 RealMemory=4096 Feature=b Gres=gpu:v100:1
PartitionName=main Nodes=ALL DefMemPerCPU=100
"""


@pytest.fixture
def machine():
    return slurm_machine(CONF, "slurm.conf", "22.05")


@pytest.fixture
def builder(machine):
    return CoreJobBuilder(machine)


def test_nodes(builder):
    assert builder.node_sets.node_ranges("all", "x") == ((0, 4),)
    assert builder.node_sets.node_ranges("n[1,3-4]", "x") == ((0, 1), (2, 4))
    with pytest.raises(cs.InvalidInstance, match="x: no node 'n9'"):
        builder.node_sets.node_ranges("n9", "x")


@pytest.mark.parametrize(
    ("job", "wanted"),
    [
        ({}, {"memory": 100, "is_memory_by_core": True}),
        ({"nodes": 2}, {"nodes": 2, "max_nodes": 2, "memory": 100, "is_memory_by_core": True}),
        ({"exclusive": True, "memory": 5},
         {"is_exclusive": True, "memory": 5, "is_memory_by_core": False}),
        ({"memory_per_core": 7}, {"memory": 7, "is_memory_by_core": True}),
        ({"memory": 5, "memory_per_core": 7}, {"memory": 5, "is_memory_by_core": False}),
        ({"memory": 0}, {"wants_all_memory": True}),
        ({"memory": 1, "gpus": Gpus(3, "a100")},
         {"memory": 1, "is_memory_by_core": False, "gpus": 3, "are_gpus_by_node": False,
          "gpu_type": 0}),
    ],
)  # fmt: skip
def test_nodes_that_are_shared(builder, job, wanted):
    request = Request(cores=3, partition="main", **job)
    assert builder.fields_of(request) == {"tasks": 3, **wanted}
    assert builder.core_job(request) == _core.slurm.Job(tasks=3, **wanted)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("gpu:a100:3", Gpus(3, "a100")), ("gpu:v100", Gpus(1, "v100")), ("2", Gpus(2)),
        ("gpu", Gpus(1)), ("gpu::2", Gpus(2)), ("gpu:2", Gpus(2)), ("v100:4", Gpus(4, "v100")),
    ],
)  # fmt: skip
def test_gpus(text, asked):
    assert parse_gpus(text, by_node=False) == asked
    assert parse_gpus(text, by_node=True).by_node


def test_whole_nodes(builder):
    assert builder.core_job(Request()) == _core.slurm.Job()
    assert builder.core_job(Request(nodes=2, exclusive=True, memory=7)) == _core.slurm.Job(nodes=2)


def test_what_else_a_job_asks_for(machine):
    builder = CoreJobBuilder(machine, memory=False, reservations=("a", "b"))
    asked = Request(
        cores=1, memory=5, owner=Owner(1, 2), array=(3, 4), held=True, fails=True, requeue=False,
        nice=2.0, reservation="b", gpus=Gpus(2), waiting=Waiting(5.0, 1.0), after=[(1, [0])],
    )  # fmt: skip
    afterany = _core.slurm.DependencyKind.afterany
    assert builder.core_job(asked) == _core.slurm.Job(
        tasks=1, association=1, qos=2, array=3, array_limit=4, is_held=True,
        exits_with_error=True, can_requeue=False, nice=2.0, reservation=1, gpus=2,
        queue_state=_core.slurm.QueueState(priority=5.0, age_since=1.0),
        dependencies=[_core.slurm.Dependency(kind=afterany, jobs=[0])],
    )  # fmt: skip
    assert builder.core_job(Request(reservation="c")).reservation == 2


def test_hosts_that_are_named(builder):
    def nodes(job):
        sets = builder.build_requests({}).sets
        return sets[job.node_set], [sets[k] for k in job.alternative_sets]

    assert nodes(builder.core_job(Request(nodelist="n[1-2]"))) == (((0, 2),), [])
    assert nodes(builder.core_job(Request(exclude="n2", constraint="[a|b]"))) == (
        ((0, 1), (2, 4)), [((0, 1),), ((0, 1), (2, 4))]
    )  # fmt: skip
    for kind in ("nodelist", "exclude"):
        with pytest.raises(cs.InvalidInstance, match=f"^{kind}: no node 'n9'"):
            builder.core_job(Request(**{kind: "n9"}))


def test_the_core_knows_all_that_a_job_can_ask_for(machine, builder):
    """A job that says everything crosses the border."""
    all_of_it = Request(
        cores=2, nodes=1, exclusive=True, memory=50, gpus=Gpus(1, "a100"), constraint="[a|b]",
        licences="fluent", owner=Owner(-1, -1, 0.5, 3), after=[(1, [0])], singleton=("ann", "a"),
        namesake=("ann", "b"), array=(0, 2), begin=5.0, held=True, fails=True, requeue=False,
        nice=3.0, reservation="r", running=Running(-1.0, [(0, 2, 50)], []),
    )  # fmt: skip
    jobs = {"submit": [0, 0], "tasks": [1, 2], "runtime": [9.0, 9.0], "estimate": [60.0, 60.0]}
    instance = cs.cluster.Instance({**jobs, "cpu": [1, 1], "memory": [1, 1]}, 16)
    Twin(
        instance,
        machine,
        {},
        requests=builder.build_requests(
            {1: builder.core_job(all_of_it)}, reservations=(NEVER_MADE_RESERVATION,)
        ),
    )


def test_a_type_of_gpus_that_is_not_there(machine, builder):
    assert gpu_types_of(machine) == ["a100", "v100"]
    with pytest.raises(cs.InvalidInstance, match="GPUs 'k80': the machine has a100, v100"):
        builder.core_job(Request(cores=1, gpus=Gpus(2, "k80")))
    messages = []
    job = builder.core_job(Request(cores=1, memory=7, gpus=Gpus(2, "k80")), messages.append)
    assert job == _core.slurm.Job(tasks=1, memory=7)
    assert len(messages) == 1


def test_places(builder):
    def nodes(asked):
        return builder.build_requests({}).sets[asked]

    assert builder.node_sets.node_set_for("", 1024) == {}
    assert nodes(builder.node_sets.node_set_for("", 1025)["node_set"]) == ((2, 4),)
    first = builder.node_sets.node_set_for("a&b", 0)
    assert nodes(first["node_set"]) == ((0, 2),)
    assert builder.node_sets.node_set_for("a", 0) == first
    assert nodes(builder.node_sets.node_set_for("a", 1024)["node_set"]) == (
        (0, 2),
    )  # all of its memory
    either = builder.node_sets.node_set_for("[a|b]", 0)
    assert [nodes(number) for number in either["alternative_sets"]] == [((0, 2),), ((0, 4),)]
    assert nodes(either["node_set"]) == ((0, 4),)
    assert not builder.node_sets.is_empty_node_set(either)
    assert not builder.node_sets.is_empty_node_set({})
    assert builder.node_sets.is_empty_node_set(builder.node_sets.node_set_for("a", 2000))


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("a*2", "the number of nodes of a feature is not followed"),
        ("[a*1&b*1]", "the number of nodes of a feature is not followed"),
        ("(a|b", "unbalanced brackets or parentheses"),
        ("[a|b]&[b]", "more than one pair"),
    ],
)
def test_constraints_that_are_not_followed_name_the_cause(builder, text, cause):
    with pytest.raises(cs.InvalidInstance, match=f"constraint .*: .*{cause}"):
        builder.core_job(Request(constraint=text))


def test_licences_and_names(builder):
    assert builder.core_job(Request(licences="matlab:12,fluent")).licences == [(1, 12), (0, 1)]
    with pytest.raises(cs.InvalidInstance, match=r"licence 'x': .*fluent, matlab"):
        builder.core_job(Request(licences="x"))
    names = [("ann", "a"), ("bob", "a"), ("ann", "a")]
    assert [builder.core_job(Request(namesake=name)).singleton_name for name in names] == [0, 1, 0]


@pytest.mark.parametrize(
    ("text", "tasks", "most"),
    [("1-3%2", [1, 2, 3], 2), ("0-8:4,9", [0, 4, 8, 9], 0), ("7", [7], 0), ("5-5", [5], 0)],
)
def test_arrays(text, tasks, most):
    assert array_tasks(text) == (tasks, most)


@pytest.mark.parametrize("text", ["", "a", "1-", "0-999999999", "1-2:0", "5-4", "1%x", "9" * 30])
def test_arrays_that_are_none(text):
    with pytest.raises(cs.InvalidInstance, match=r"array '.*': expected 1-7%3"):
        array_tasks(text)


def test_dependencies():
    dependencies = [["afterok", 2], ["singleton", 0], ["after", "3"]]
    assert parse_dependencies(dependencies, lambda k: [k, k]) == [(2, [2, 2]), (0, [3, 3])]
    with pytest.raises(cs.InvalidInstance, match="dependency 'x': expected after, "):
        parse_dependencies([["x", 1]], lambda k: [k])


def test_what_an_administrator_does():
    drain = admin_event("drain", 5.0, nodes=((0, 2),))
    assert (drain.time, drain.kind.name, drain.job, drain.nodes) == (5.0, "drain", -1, [(0, 2)])
    release = admin_event("release", 1.0, 7)
    assert (release.time, release.kind.name, release.job, release.nodes) == (1.0, "release", 7, [])
    assert Requests().jobs == {}
