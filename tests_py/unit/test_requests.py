"""What jobs ask of a Slurm, in words of sbatch, on a small machine."""

from __future__ import annotations

import pytest

import cosched as cs
from cosched.slurm.machines import slurm_machine
from cosched.slurm.requests.wishes import (
    Requests,
    Wishes,
    array_tasks,
    dependencies,
    gpu_types_of,
    outside,
)

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
def wishes(machine):
    return Wishes(machine)


def test_nodes(wishes):
    assert wishes.nodes("all", "x") == ((0, 4),)
    assert wishes.nodes("n[1,3-4]", "x") == ((0, 1), (2, 4))
    with pytest.raises(cs.InvalidInstance, match="x: no node 'n9'"):
        wishes.nodes("n9", "x")


@pytest.mark.parametrize(
    ("job", "wanted"),
    [
        ({}, {"memory": 100, "memory_by_core": True}),
        ({"nodes": 2}, {"nodes": 2, "max_nodes": 2, "memory": 100, "memory_by_core": True}),
        ({"exclusive": True, "mem": 5}, {"exclusive": True, "memory": 5, "memory_by_core": False}),
        ({"mem_per_cpu": 7}, {"memory": 7, "memory_by_core": True}),
        ({"mem": 5, "mem_per_cpu": 7}, {"memory": 5, "memory_by_core": False}),
        ({"mem": 0}, {"memory_all": True}),
        ({"mem": 1, "gpus": "gpu:a100:3"}, {"memory": 1, "memory_by_core": False, "gpus": 3,
                                            "gpus_by_node": False, "gpu_type": 0}),
        ({"mem": 1, "gres": "gpu:v100"}, {"memory": 1, "memory_by_core": False, "gpus": 1,
                                          "gpus_by_node": True, "gpu_type": 1}),
        ({"mem": 1, "gpus": "2"}, {"memory": 1, "memory_by_core": False, "gpus": 2,
                                   "gpus_by_node": False, "gpu_type": -1}),
        ({"mem": 1, "gres": "gpu"}, {"memory": 1, "memory_by_core": False, "gpus": 1,
                                     "gpus_by_node": True, "gpu_type": -1}),
    ],
)  # fmt: skip
def test_resources(wishes, job, wanted):
    assert wishes.resources(job, 3, "main") == {"tasks": 3, **wanted}


def test_a_type_of_gpus_that_is_not_there(machine, wishes):
    assert gpu_types_of(machine) == ["a100", "v100"]
    with pytest.raises(cs.InvalidInstance, match="GPUs 'gpu:k80:2': the machine has a100, v100"):
        wishes.resources({"gres": "gpu:k80:2"}, 1, "main")


def test_places(wishes):
    assert wishes.places({}, {"memory": 1024}) == {}
    large = wishes.places({}, {"memory": 1025})
    assert wishes.sets[large["set"]] == ((2, 4),)
    first = wishes.places({"constraint": "a&b"}, {})
    assert wishes.sets[first["set"]] == ((0, 2),)
    assert wishes.places({"constraint": "a"}, {}) == first
    either = wishes.places({"constraint": "[a|b]"}, {})
    assert [wishes.sets[one] for one in either["alternatives"]] == [((0, 2),), ((0, 4),)]
    assert wishes.sets[either["set"]] == ((0, 4),)
    assert not wishes.empty(either)
    assert not wishes.empty({})
    assert wishes.empty(wishes.places({"constraint": "a"}, {"memory": 2000}))


@pytest.mark.parametrize("text", ["a*2", "(a|b)", "[a|b][b]"])
def test_constraints_that_are_not_followed(wishes, text):
    with pytest.raises(cs.InvalidInstance, match=r"expected a, a&b, a\|b or \[a\|b\]"):
        wishes.places({"constraint": text}, {})


def test_licences_and_names(wishes):
    assert wishes.licences_of("matlab:2,fluent") == {"licences": [(1, 2), (0, 1)]}
    with pytest.raises(cs.InvalidInstance, match=r"licence 'x': .*fluent, matlab"):
        wishes.licences_of("x")
    names = [("ann", "a"), ("bob", "a"), ("ann", "a")]
    assert [wishes.singleton(*one) for one in names] == [0, 1, 0]


@pytest.mark.parametrize(
    ("text", "tasks", "most"),
    [("1-3%2", [1, 2, 3], 2), ("0-8:4,9", [0, 4, 8, 9], 0), ("7", [7], 0), ("5-4", [], 0)],
)
def test_arrays(text, tasks, most):
    assert array_tasks(text) == (tasks, most)


@pytest.mark.parametrize("text", ["", "a", "1-", "0-999999999", "1-2:0", "1%x", "9" * 30])
def test_arrays_that_are_none(text):
    with pytest.raises(cs.InvalidInstance, match=r"array '.*': expected 1-7%3"):
        array_tasks(text)


def test_dependencies():
    given = [["afterok", 2], ["singleton", 0], ["after", "3"]]
    assert dependencies(given, lambda k: [k, k]) == [(2, [2, 2]), (0, [3, 3])]
    with pytest.raises(cs.InvalidInstance, match="dependency 'x': expected after, "):
        dependencies([["x", 1]], lambda k: [k])


def test_what_an_administrator_does():
    assert outside("drain", 5.0, nodes=((0, 2),)) == (5.0, 3, -1, [(0, 2)])
    assert outside("release", 1.0, 7) == (1.0, 0, 7, [])
    assert Requests().more == {}
