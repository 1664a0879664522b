"""dags: data on the edges, links, memories: the model, files, what is refused."""

import pickle

import numpy as np
import pytest

import cosched as cs
from cosched.dags import Instance

INF = float("inf")
TIMES = [[4.0, 1.0], [3.0, 2.0], [2.0, 4.0]]
EDGES = [(0, 1), (0, 2)]


def moved(**options):
    arguments = {"data": [6.0, 0.0], "bandwidth": 2.0, "latency": 0.5} | options
    return Instance(TIMES, EDGES, (2, 2), **arguments)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"data": [1.0]}, "data has 1 entries: expected one for each of the 2 edges"),
        ({"data": [1.0, -2.0]}, r"data\[1\] = -2"),
        ({"data": [float("nan"), 1.0]}, r"data\[0\] = nan"),
        ({"data": [INF, 1.0]}, r"data\[0\] = inf"),
        ({"data": ["a", "b"]}, "data: expected numbers"),
        ({"data": [[1.0, 2.0]]}, "data: expected 1 dimension"),
        ({"bandwidth": None}, "data without bandwidth"),
        ({"bandwidth": 0.0}, r"bandwidth\[0, 0\] = 0: expected bytes/s > 0"),
        ({"bandwidth": float("nan")}, r"bandwidth\[0, 0\] = nan"),
        ({"bandwidth": [1.0, 2.0]}, "bandwidth: expected 2 dimensions"),
        ({"bandwidth": [[1.0, 2.0]]}, r"bandwidth has shape \(1, 2\): expected a number, or"),
        ({"bandwidth": [[1, 2], [-3, 4]]}, r"bandwidth\[1, 0\] = -3"),
        ({"latency": -1.0}, r"latency\[0, 0\] = -1: expected finite seconds >= 0"),
        ({"latency": [[0, INF], [0, 0]]}, r"latency\[0, 1\] = inf"),
        ({"memories": "gpu"}, "memories = 'gpu': expected 'host', 'unit' or an integer a unit"),
        ({"memories": None}, "memories = None"),
        ({"memories": [0, 0, 1]}, "memories has 3 entries: expected one for each of the 4 units"),
        ({"memories": [0, 0, 1, 1.5]}, r"memories\[3\] = 1.5"),
        ({"data": [1e300, 1e300], "bandwidth": 1e-9}, "sum overflows"),
    ],
)
def test_bad_transfers_are_refused_in_one_line(options, part):
    with pytest.raises(cs.InvalidInstance, match=part) as caught:
        moved(**options)
    assert "\n" not in str(caught.value)


def test_links_are_judged_without_data_too():
    with pytest.raises(cs.InvalidInstance, match="bandwidth"):
        moved(data=None, bandwidth=-1.0)
    plain = moved(data=None)
    assert plain.data is None
    assert plain.transfer(0, 0, 3) == 0


def test_an_edge_there_twice_has_one_amount():
    twice = Instance(TIMES, [(0, 2), (0, 1), (0, 2)], (1, 1), data=[3, 5, 3], bandwidth=1.0)
    assert twice.edges.tolist() == [[0, 2], [0, 1]]  # in the order in which they came
    assert twice.data.tolist() == [3.0, 5.0]
    assert [twice.transfer(edge, 0, 1) for edge in (0, 1, (0, 1))] == [3.0, 5.0, 5.0]
    with pytest.raises(cs.InvalidInstance, match=r"data\[2\] = 4: edge \(0, 2\) was there with 3"):
        Instance(TIMES, [(0, 2), (0, 1), (0, 2)], (1, 1), data=[3, 5, 4], bandwidth=1.0)


def test_transfer_times_between_units():
    inst = moved(bandwidth=[[1, 2], [3, 4]], latency=[[0.1, 0.2], [0.3, 0.4]])
    assert inst.transfer(0, 0, 1) == 0  # the host's memory
    assert inst.transfer(0, 0, 2) == inst.transfer((0, 1), (0, 0), (1, 0)) == 0.2 + 6 / 2
    assert inst.transfer(0, 3, 1) == 0.3 + 6 / 3
    assert inst.transfer(0, 2, 3) == 0.4 + 6 / 4
    assert inst.transfer(0, 3, 3) == 0
    assert inst.transfer(1, 0, 2) == 0  # no data, no latency
    assert moved(memories="unit").transfer(0, 0, 1) == 3.5
    instance = moved(memories=[0, 1, 1, 0])
    assert [instance.transfer(0, 0, unit) for unit in range(4)] == [0, 3.5, 3.5, 0]
    assert inst.bandwidth.tolist() == [[1, 2], [3, 4]]
    assert inst.memories == "host"
    assert instance.memories == (0, 1, 1, 0)
    for edge in (2, (0, 3), (1, 0), -1):
        with pytest.raises(cs.InvalidInstance, match="edge"):
            inst.transfer(edge, 0, 1)
    for unit in (4, -1, (2, 0), (0, 2), (0, 0, 0)):
        with pytest.raises(cs.InvalidInstance, match="unit_b"):
            inst.transfer(0, 0, unit)


def test_instances_with_data_are_values(tmp_path):
    inst = moved(bandwidth=[[INF, 2], [3, 4]], memories="unit")
    with pytest.raises(ValueError, match="read-only"):
        inst.data[0] = 1
    assert pickle.loads(pickle.dumps(inst)) == inst
    assert "6 bytes" in repr(inst)
    for change in ({"data": [6, 1]}, {"bandwidth": 1.0}, {"latency": 0}, {"memories": "host"}):
        other = {"bandwidth": [[INF, 2], [3, 4]], "memories": "unit"} | change
        assert moved(**other) != inst
    path = tmp_path / "graph.json"
    inst.write(path)
    reread_instance = Instance.read(path)
    assert reread_instance == inst
    assert reread_instance.transfer(0, 0, 1) == 0.5
    faster = Instance.read(path, bandwidth=12.0, latency=0.0, memories=[0, 0, 0, 1])
    assert faster.transfer(0, 0, 3) == 0.5
    assert inst.with_units((1, 1)).data.tolist() == [6.0, 0.0]
    assert inst.with_units((1, 1)).memories == "unit"
    instance = moved(memories=[0, 0, 1, 1])
    with pytest.raises(cs.InvalidInstance, match="memories has 4 entries"):
        instance.with_units((1, 1))
    assert instance.with_units((1, 1), memories="host").units == (1, 1)


def test_schedules_are_checked_against_transfers():
    inst = moved()
    times = np.array([[0, 1], [4.5, 6.5], [1, 3]])

    def schedule(start):
        columns = [0, 1, 2], [1, 1, 0], range(4), [0, 1, 0]
        return cs.core.Schedule(inst, *map(np.asarray, columns), start, [1, start[1] + 2, 3])

    schedule(times[:, 0]).validate()
    with pytest.raises(cs.InvalidSchedule, match=r"the transfer takes 3.5 s"):
        schedule([0, 4.4, 1]).validate()
    with pytest.raises(cs.InvalidSchedule, match="before its predecessor"):
        schedule([0, 0.5, 1]).validate()


def random_instance(seed, n=14, types=2, units=(3, 2), ccr=1.0, memories="host"):
    random = np.random.default_rng(seed)
    times = random.uniform(1, 10, (n, types))
    edges = [(i, j) for j in range(n) for i in range(j) if random.random() < 0.25]
    data = random.uniform(0, 10, len(edges)) * (random.random(len(edges)) < 0.9)
    return Instance(
        times, edges, units, data=data, bandwidth=1 / ccr, latency=0.1, memories=memories
    )


@pytest.mark.parametrize("name", cs.dags.DEFAULT_COMPARE)
def test_every_algorithm_counts_transfers(name):
    for seed, memories in enumerate(["host", "unit", [0, 1, 1, 0, 2]]):
        inst = random_instance(seed, memories=memories)
        result = cs.dags.solve(inst, name)
        result.schedule.validate()
        assert result.ratio is None
        assert result.bound.value <= result.value
        values = [cs.dags.solve(inst, other).value for other in ("heft", "cpop", "peft", "hlp-ols")]
        assert name != "hlp-best" or result.value <= min(values)
        zero = Instance(inst.times, inst.edges, inst.units)
        scaled = Instance(
            inst.times,
            inst.edges,
            inst.units,
            data=inst.data * 0,
            bandwidth=inst.bandwidth,
            latency=inst.latency,
            memories=inst.memories,
        )
        plain, same = cs.dags.solve(zero, name), cs.dags.solve(scaled, name)
        for field in ("start", "end", "kind", "unit"):
            assert np.array_equal(getattr(plain, field), getattr(same, field))
        assert plain.ratio == same.ratio


def test_theorems_hold_without_data_only():
    inst = random_instance(1)
    plain = Instance(inst.times, inst.edges, inst.units)
    ratios = {"hlp-est": 6.0, "hlp-ols": 6.0, "hlp-best": 6.0, "er-ls": 4 * 1.5**0.5}
    ratios["qa"] = 2 * 1.5**0.5 + 1
    for name in cs.dags.DEFAULT_COMPARE:
        assert cs.dags.solve(plain, name).ratio == ratios.get(name)
        assert cs.dags.solve(inst, name).ratio is None
    assert cs.dags.er_ls(plain.with_units((2, 3))).ratio is None


def test_transfer_times_of_a_schedule_are_those_of_its_edges():
    for seed, memories in enumerate(["host", "unit", [0, 1, 1, 0, 2]]):
        inst = random_instance(seed, memories=memories)
        result = cs.dags.eft(inst)
        places = list(zip(result.kind.tolist(), result.unit.tolist(), strict=True))
        expected = [
            inst.transfer(edge, places[i], places[j])
            for edge, (i, j) in enumerate(inst.edges.tolist())
        ]
        assert inst.transfer_times(result.kind, result.unit).tolist() == pytest.approx(expected)
    plain = Instance(TIMES, EDGES, (2, 2))
    assert plain.transfer_times([0, 0, 1], [0, 1, 1]).tolist() == [0, 0]
    for kind, unit, part in (
        ([0, 0], [0, 0], "kind has 2 entries"),
        ([0, 0, 2], [0, 0, 0], r"kind\[2\] = 2"),
        ([0, 0, 1], [0, 0, 2], r"unit\[2\] = 2: type 1 has 2"),
    ):
        with pytest.raises(cs.InvalidInstance, match=part):
            plain.transfer_times(kind, unit)
