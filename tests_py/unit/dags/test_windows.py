"""dags: the bound windows, its certificate, and what shows it."""

import csv
import pickle
import tarfile

import numpy as np
import pytest

import cosched as cs
from cosched.dags import Instance
from support import data

INF = float("inf")


def layered(n, seed=1, units=(4, 2)):
    return cs.workloads.layered(n, seed=seed, units=units)


def test_the_default_bound_is_windows_and_at_least_the_relaxation():
    random = np.random.default_rng(3)
    two = layered(60)
    one_type = Instance(two.times[:, :1], two.edges, units=[4])
    three = Instance(random.uniform(1, 9, (40, 3)), layered(40).edges, units=(2, 1, 1))
    for inst in (two, one_type, three):
        bound = cs.dags.windows(inst)
        assert bound.complete
        assert cs.dags.bound(inst).value == bound.value == bound.certificate.bound(inst)
        assert cs.dags.bound(inst).method == "windows"
        assert bound.value >= cs.dags.bound(inst, "hlp").value
        assert bound.value <= cs.dags.solve(inst, "heft").value
        assert cs.dags.solve(inst, "heft").bound == cs.dags.bound(inst)
        assert cs.dags.solve(inst, "hlp-ols").bound.method == "hlp"
    assert cs.dags.bound(two).value > cs.dags.bound(two, "hlp").value * 1.05


def test_compare_has_one_bound_for_all_rows():
    inst = layered(40)
    frame = cs.dags.compare(inst, ["hlp-est", "hlp-ols", "heft", "eft"])
    assert set(frame.bound) == {cs.dags.bound(inst).value}


def test_the_bound_is_a_multiple_of_what_all_times_are_multiples_of():
    for times, optimum in (([3.0] * 3, 6), ([1.5] * 3, 3), ([0.25, 0.75, 0.5], 0.75)):
        inst = Instance([[time] for time in times], [], units=[2])
        assert cs.dags.windows(inst).value == optimum
        assert cs.dags.windows(inst, upper=optimum).value == optimum
    odd = Instance([[0.1 + 0.2], [0.1], [0.7]], [(0, 1)], units=[1])
    bound = cs.dags.windows(odd, upper=1.1)
    assert 1.1 * (1 - 1e-9) <= bound.value <= 1.1 * (1 + 1e-9)


def test_zero_and_infinite_times():
    nothing = Instance([[0, 0], [0, INF]], [(0, 1)], (1, 1))
    assert cs.dags.windows(nothing).value == 0
    fixed = Instance([[2, INF], [INF, 3], [2, INF]], [(0, 1), (1, 2)], (1, 1))
    assert cs.dags.windows(fixed).value == 7


@pytest.fixture(scope="module")
def proved():
    for seed in range(9):
        inst = layered(60, seed)
        bound = cs.dags.windows(inst)
        if not len(bound.certificate.fields["stages"][-1]["raise_heads"]):
            break
    assert bound.value > cs.dags.hlp(inst).value * 1.005
    return inst, bound.certificate


def changed(certificate, **fields):
    return cs.dags.Certificate("windows", {**certificate.fields, **fields})


def damaged(certificate, **fields):
    *before, last = certificate.fields["stages"]
    return changed(certificate, stages=[*before, {**last, **fields}])


def test_damaged_certificates_prove_nothing(proved):
    inst, certificate = proved
    loads = certificate.fields["stages"][-1]["loads"]
    for broken, part in (
        (changed(certificate, makespan=certificate.fields["makespan"] * 1.2), "is not refuted"),
        (changed(certificate, stages=[]), "is not refuted"),
        (changed(certificate, makespan=-1.0), "a makespan of -1"),
        (damaged(certificate, loads=-1 - loads), "expected a number >= 0"),
        (damaged(certificate, loads=loads[:1]), "wrong length"),
        (damaged(certificate, loads=0 * loads, intervals=np.zeros((0, 4))), "not refuted"),
        (damaged(certificate, intervals=[[5, 0, 1, 1]]), "a bad interval"),
        (damaged(certificate, intervals=[[0, 2, 1, 1]]), "a bad interval"),
        (damaged(certificate, raise_heads=np.array([2.0, 0.0])), "sum to 2"),
        (
            damaged(
                certificate,
                task_flow=np.ones(inst.tasks),
                edges=np.array([[inst.tasks - 1, 0]]),
                edge_flow=np.ones(1),
            ),
            "which is no edge",
        ),
    ):
        with pytest.raises(cs.SolverError, match=part):
            broken.bound(inst)


def test_a_certificate_is_of_its_instance(proved):
    inst, certificate = proved
    assert pickle.loads(pickle.dumps(certificate)).bound(inst) == certificate.bound(inst)
    with pytest.raises(cs.SolverError):
        certificate.bound(inst.with_units((8, 4)))


def test_limits_leave_the_best_so_far():
    inst = layered(200)
    full = cs.dags.windows(inst).value
    for seconds in (0, 0.002, 0.01):
        fresh = inst.with_units(inst.units)
        bound = cs.dags.windows(fresh, time_limit=seconds)
        assert bound.certificate.bound(fresh) == bound.value <= full
        assert bound.value > 0
        assert seconds > 0 or not bound.complete
        so_far = cs.dags.bound(inst.with_units(inst.units), "hlp", time_limit=seconds).value
        assert 0 < so_far <= cs.dags.hlp(inst).value * (1 + 1e-9)
    assert "cut short" in repr(cs.dags.windows(inst.with_units(inst.units), time_limit=0))
    assert cs.dags.windows(inst, time_limit=0).complete  # kept with the instance
    with pytest.raises(cs.InvalidInstance, match="time_limit"):
        cs.dags.windows(inst, time_limit=-1)
    with pytest.raises(cs.InvalidInstance, match="upper"):
        cs.dags.windows(inst, upper=-1)


def test_small_graphs_are_solved_and_most_proved():
    proved = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        edges = [(i, j) for j in range(8) for i in range(j) if random.random() < 0.3]
        inst = Instance(random.integers(1, 9, (8, 1)).astype(float), edges, units=[2])
        optimum = cs.dags.solve(inst, "optimal").value
        bound = cs.dags.windows(inst).value
        assert bound <= optimum * (1 + 1e-9)
        assert cs.dags.solve(inst, "hlp-best").value == pytest.approx(optimum)
        proved += bound == pytest.approx(optimum)
    assert proved >= 16


@pytest.mark.data
def test_every_solved_stg_graph_of_fifty_tasks_is_solved_and_proved(tmp_path):
    with tarfile.open(data("stg", "stg_50_with_optimal.tar.gz")) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4
        archive.extractall(tmp_path)
    proved = solved = 0
    for table in sorted(tmp_path.glob("optimal_50_m*.csv")):
        for name, units, optimum, *open_interval in csv.reader(table.read_text().splitlines()):
            inst = Instance.read(tmp_path / name, units=[int(units)])
            bound = cs.dags.windows(inst).value
            if open_interval:
                assert bound <= float(open_interval[-1])
                continue
            assert bound == float(optimum)
            best = cs.dags.solve(inst, "hlp-best", evaluations=20_000)
            best.schedule.validate()
            solved += 1
            proved += best.value == best.bound.value == bound
            assert best.status == "ok"
    assert solved == 336
    assert proved >= 0.97 * solved


def test_hlp_best_stops_where_its_schedule_is_optimal():
    edges = [(0, k) for k in range(1, 11)] + [(k, 11) for k in range(1, 11)]
    inst = Instance([[1.5]] * 12, edges, units=[3])
    res = cs.dags.solve(inst, "hlp-best", time_limit=100)
    assert (res.value, res.bound.value, res.gap, res.status) == (9, 9, 0, "ok")
    frame = cs.dags.compare(inst, ["hlp-ols", "hlp-best"]).set_index("algorithm")
    assert frame.gap["hlp-best"] == 0
