"""dags: instances, the relaxation, algorithms by name, options, errors."""

import pickle

import numpy as np
import pytest

import cosched as cs
from cosched.dags import Instance

INF = float("inf")


@pytest.fixture
def inst():
    random = np.random.default_rng(4)
    times = random.uniform(1, 10, (30, 2))
    times[3, 1] = INF
    edges = [(i, j) for j in range(30) for i in range(j) if random.random() < 0.1]
    return Instance(times, edges, (4, 2))


@pytest.fixture
def three():
    random = np.random.default_rng(5)
    edges = [(i, j) for j in range(20) for i in range(j) if random.random() < 0.1]
    return Instance(random.uniform(1, 10, (20, 3)), edges, [3, 2, 1])


@pytest.mark.parametrize(
    ("times", "edges", "units", "part"),
    [
        ([[1, -2]], [], (1, 1), r"times\[0, 1\] = -2"),
        ([[1, float("nan")]], [], (1, 1), r"times\[0, 1\] = nan"),
        ([[INF, INF]], [], (1, 1), "task 0 can run nowhere"),
        ([[1, 2]], [], (1,), "units has 1 entries"),
        ([[1, 2]], [], (1, 0), r"units\[1\] = 0"),
        ([[1, 2]], [], (1, 1.5), r"units\[1\] = 1.5"),
        ([[1, 2]], [], 4, "expected a sequence"),
        ([[1, 2]], [], "44", "expected a sequence"),
        ([[1, 2], [1, 2]], [(0, 2)], (1, 1), r"edges\[0\] = \(0, 2\)"),
        ([[1, 2], [1, 2]], [(0, 1), (1, 0)], (1, 1), "cycle: 0 -> 1 -> 0"),
        ([[1, 2]], [(0, 0)], (1, 1), "cannot precede itself"),
        ([[1, 2]], [(0, 0.5)], (1, 1), r"edges\[0, 1\] = 0.5"),
        ([[1, 2]], [(0, 0, 0)], (1, 1), r"shape \(e, 2\)"),
        ([], [], (1, 1), "dimension"),
        ([["a", "b"]], [], (1, 1), "expected numbers"),
        ([[1e308, 1], [1e308, 1]], [], (1, 1), "overflow"),
    ],
)
def test_bad_instances_are_refused_in_one_line(times, edges, units, part):
    with pytest.raises(cs.InvalidInstance, match=part) as caught:
        Instance(times, edges, units)
    assert "\n" not in str(caught.value)


def test_names_fit_and_give_kernels():
    with pytest.raises(cs.InvalidInstance, match="names has 1 entries"):
        Instance([[1, 2], [1, 2]], [], (1, 1), names=["a"])
    inst = Instance([[1, 2]] * 4, [], (1, 1), names=["GEMM(1,2)", "potrf_3", "trsm 7", "12"])
    assert inst.kernels == ("GEMM", "potrf", "trsm", "")
    assert Instance([[1, 2]] * 2, [], (1, 1), names=["a1", "a2"]).kernels is None
    inst = Instance([[1, 2]] * 2, [], (1, 1), kernels=["x", "y"])
    assert (inst.names, inst.kernels) == (("0", "1"), ("x", "y"))
    with pytest.raises(cs.InvalidInstance, match="kernels has 1 entries"):
        Instance([[1, 2]] * 2, [], (1, 1), kernels=["x"])


def test_instances_are_immutable_values(inst):
    with pytest.raises(AttributeError, match="immutable"):
        inst.units = (1, 1)
    with pytest.raises(ValueError, match="read-only"):
        inst.times[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        inst.edges[0, 0] = 1
    assert pickle.loads(pickle.dumps(inst)) == inst
    assert inst != inst.with_units((4, 3))
    assert inst.with_units((4, 2)) == inst
    times = inst.times
    del inst
    assert times.sum() > 0  # the view keeps its owner


def test_json_round_trip(inst, tmp_path):
    path = tmp_path / "graph.json"
    inst.write(path)
    assert Instance.read(path) == inst
    assert Instance.read(path, units=(1, 1)) == inst.with_units((1, 1))
    with pytest.raises(cs.InvalidInstance, match=r"\.json"):
        inst.write(tmp_path / "graph.txt")


def test_a_file_with_one_time_a_task_needs_the_others(tmp_path):
    path = tmp_path / "graph.dot"
    path.write_text("digraph {a [time=8]; b [time=2]; a -> b}")
    assert Instance.read(path, units=[3]).types == 1
    with pytest.raises(cs.InvalidInstance, match=r"units of 2 .* acceleration"):
        Instance.read(path, units=(16, 2))
    inst = Instance.read(path, units=(16, 2), acceleration=4)
    assert inst.times.tolist() == [[8, 2], [2, 0.5]]


def test_a_file_whose_every_task_has_a_predecessor_has_a_cycle(tmp_path):
    path = tmp_path / "cycle.txt"
    path.write_text("1 2 1 3\n2 2 1 1\n3 2 1 2\n")
    with pytest.raises(cs.InvalidInstance, match="cycle of 3 tasks"):
        Instance.read(path, units=(2, 1))
    assert Instance.read(path, units=(2, 1, 1)).times.tolist() == [[2, 1, 3], [2, 1, 1], [2, 1, 2]]
    path.write_text("1 2 1 3\n2 2 1 9\n")
    with pytest.raises(cs.InvalidInstance, match="units has 2 entries"):
        Instance.read(path, units=(2, 1))


def test_methods_of_the_relaxation_agree(inst, three):
    for instance in (inst, three):
        relaxations = {
            m: cs.dags.hlp(instance, method=m) for m in ("auto", "structured", "glpk", "highs")
        }
        best = relaxations["structured"]
        for method, relaxation in relaxations.items():
            assert relaxation.value == pytest.approx(best.value, rel=1e-7), method
            assert relaxation.x.shape == instance.times.shape
            assert relaxation.x.sum(axis=1) == pytest.approx(1)
            assert relaxation.certificate.bound(instance) == pytest.approx(best.value, rel=1e-6)
            assert relaxation.C.max() <= best.value * (1 + 1e-6)
        assert best.certificate.bound(instance) == pytest.approx(best.value, rel=1e-9)
        assert cs.dags.bound(instance, "hlp").value <= best.value * (1 + 1e-12)
    with pytest.raises(ValueError, match="structured, glpk"):
        cs.dags.hlp(inst, method="simplex")


@pytest.mark.parametrize("method", ["structured", "glpk", "highs"])
@pytest.mark.parametrize(
    ("times", "edges", "units", "value"),
    [
        ([[0, 0], [0, INF]], [(0, 1)], (1, 1), 0),  # nothing to do
        ([[4, INF], [2, INF]], [], (1, 3), 6),  # nothing runs on the second type
        ([[INF, 3, INF, INF]], [], (1, 1, 1, 1), 3),  # nothing runs on three of four
        ([[6, 3, 2, 12]] * 2, [(0, 1)], (1, 1, 1, 1), 4),  # a path of the fastest
        ([[2, 2, 2, 2]] * 4, [], (1, 1, 1, 1), 2),  # isolated tasks: the area
        ([[5, 1], [5, 1], [7, INF]], [(0, 1)], (2, 1), 7),  # two components
        ([[1, 1], [INF, 1]], [], (1, 1), 1),  # the loads are equal from the start
    ],
)
def test_small_relaxations_known_by_hand(times, edges, units, value, method):
    instance = Instance(times, edges, units)
    relaxation = cs.dags.hlp(instance, method=method)
    assert relaxation.value == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert relaxation.certificate.bound(instance) == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert (relaxation.x[np.isinf(instance.times)] == 0).all()


def test_auto_falls_back_to_glpk(inst, monkeypatch):
    from cosched.dags.bounds import relaxation

    expected = cs.dags.hlp(inst, method="glpk").value
    solve = relaxation._core.dags.hlp

    def broken(core, method):
        if method.name == "structured":
            raise cs.SolverError("hlp: stalls")
        return solve(core, method)

    monkeypatch.setattr(relaxation._core.dags, "hlp", broken)
    fresh = inst.with_units(inst.units)
    fallback = cs.dags.hlp(fresh)
    assert (fallback.method, fallback.value) == ("glpk", expected)
    with pytest.raises(cs.SolverError):
        cs.dags.hlp(fresh, method="structured")


def test_a_certificate_of_another_instance_proves_nothing(inst):
    certificate = cs.dags.hlp(inst).certificate
    with pytest.raises(cs.SolverError, match="shape"):
        certificate.bound(Instance([[1, 2]], [], (1, 1)))
    fields = certificate.fields
    broken = cs.dags.Certificate("hlp", {**fields, "weights": fields["weights"] * 2})
    with pytest.raises(cs.SolverError, match="sum to 2"):
        broken.bound(inst)


def test_bounds_by_name(inst):
    values = {name: cs.dags.bound(inst, name) for name in cs.dags.BOUNDS}
    assert {name: bound.method for name, bound in values.items()} == {n: n for n in values}
    assert values["hlp"].value >= values["area"].value * (1 - 1e-9)
    assert values["hlp"].value >= values["critical-path"].value * (1 - 1e-9)


def test_rounding():
    x = np.array([[0.5, 0.5], [0.49, 0.51], [0.0, 1.0]])
    times = [[2, 1], [2, 1], [2, INF]]
    assert cs.dags.round_allocation(times, x).tolist() == [0, 1, 0]
    assert cs.dags.round_allocation(times, x[:, 0]).tolist() == [0, 1, 0]
    assert cs.dags.round_allocation(times, x, threshold=0.6).tolist() == [1, 1, 0]
    with pytest.raises(cs.InvalidInstance, match=r"x has shape \(2, 2\)"):
        cs.dags.round_allocation(times, x[:2])
    with pytest.raises(cs.InvalidInstance, match=r"x\[0, 0\] = nan"):
        cs.dags.round_allocation(times, x * np.nan)
    with pytest.raises(cs.InvalidInstance, match="can run nowhere"):
        cs.dags.round_allocation([[INF, INF]], [[0.5, 0.5]])


def test_stages_put_together_are_the_algorithms(inst, three):
    for instance in (inst, three):
        allocation = cs.dags.round_allocation(instance.times, cs.dags.hlp(instance).x)
        for stage, name in ((cs.dags.est, "hlp-est"), (cs.dags.ols, "hlp-ols")):
            by_stage, in_one_call = stage(instance, allocation), cs.dags.solve(instance, name)
            assert by_stage.value == in_one_call.value
            assert by_stage.kind.tolist() == allocation.tolist()
            assert in_one_call.bound.method == "hlp"
    with pytest.raises(cs.InvalidInstance, match=r"allocation\[3\] = 1: the task cannot run"):
        cs.dags.est(inst, np.ones(30, dtype=int))


@pytest.mark.parametrize("method", ["structured", "glpk"])
def test_arrays_of_a_relaxation_are_read_only_and_outlive_the_instance(inst, method):
    relaxation = cs.dags.hlp(inst.with_units(inst.units), method=method)
    proof = relaxation.certificate
    flows = len(proof.fields["edges"])
    arrays = {
        "x": (relaxation.x, (30, 2), float),
        "C": (relaxation.C, (30,), float),
        "weights": (proof.fields["weights"], (3,), float),
        "task_flow": (proof.fields["task_flow"], (30,), float),
        "edges": (proof.fields["edges"], (flows, 2), np.int64),
        "edge_flow": (proof.fields["edge_flow"], (flows,), float),
    }
    for name, (array, shape, dtype) in arrays.items():
        assert array.shape == shape, name
        assert array.dtype == dtype, name
        assert not array.flags.writeable, name
        assert array.flags.c_contiguous, name
    unpickled = pickle.loads(pickle.dumps(relaxation))
    assert np.array_equal(unpickled.x, relaxation.x)
    assert unpickled.certificate.bound(inst) == proof.bound(inst)


def test_results_carry_where_and_when(inst):
    res = cs.dags.solve(inst, "heft")
    assert res.makespan == res.value == res.end.max()
    assert res.kind.shape == res.unit.shape == res.start.shape == (30,)
    assert (res.unit < np.array(inst.units)[res.kind]).all()
    assert 0 < res.utilisation <= 1
    assert 0 <= res.accelerated <= 1
    with pytest.raises(ValueError, match="read-only"):
        res.kind[0] = 1
    assert "kind" in res.schedule.to_frame()


def test_arrival_order_is_an_argument(inst):
    order = inst.order[np.argsort(inst.order >= 0, kind="stable")]
    for name in ("er-ls", "eft", "greedy", "random", "r1-ls", "r2-ls", "r3-ls"):
        assert (
            cs.dags.solve(inst, name, order=order, seed=3).value
            == cs.dags.solve(inst, name, seed=3).value
        )
        with pytest.raises(cs.InvalidInstance, match="before its predecessor"):
            cs.dags.solve(inst, name, order=order[::-1])
        with pytest.raises(cs.InvalidInstance, match="order has 2 entries"):
            cs.dags.solve(inst, name, order=[0, 1])
    with pytest.raises(cs.InvalidInstance, match="arrives twice"):
        cs.dags.solve(inst, "eft", order=np.zeros(30))


def test_er_ls_is_for_two_types(three):
    with pytest.raises(cs.InvalidInstance, match="2 resource types, the instance has 3"):
        cs.dags.solve(three, "er-ls")
    frame = cs.dags.compare(three).set_index("algorithm")
    two = ["er-ls", "heteroprio"]
    assert (frame.status[two] == "not_applicable").all()
    assert (frame.status.drop(two) == "ok").all()


def test_hlp_best_is_never_worse(inst, three):
    for instance in (inst, three):
        best = cs.dags.solve(instance, "hlp-best", seed=1)
        for name in ("hlp-ols", "heft"):
            assert best.value <= cs.dags.solve(instance, name).value
        assert best.value == cs.dags.solve(instance, "hlp-best", seed=1).value
        within = cs.dags.solve(instance, "hlp-best", work=50, time_limit=1e6)
        assert best.status == within.status == "ok"
        at_once = cs.dags.solve(instance, "hlp-best", time_limit=0)
        assert at_once.status == "time_limit"
        for name in ("hlp-ols", "heft"):
            assert at_once.value <= cs.dags.solve(instance, name).value
        assert cs.dags.solve(instance, "hlp-best", evaluations=0).value >= best.value
    with pytest.raises(cs.InvalidInstance, match="evaluations"):
        cs.dags.solve(inst, "hlp-best", evaluations=-1)


def test_hlp_best_rounds_the_x_so_far_where_the_lp_is_cut_short():
    """Not compared with HLP-OLS: the clock may end the LP of that at another x."""
    graph = cs.workloads.layered(16_000, 0.24, units=(16, 4), seed=2)  # its LP takes some 2 s
    heft = cs.dags.heft(graph).value
    for seconds in (0, 0.01, 0.1, 0.5):
        instance = graph.with_units(graph.units)  # another one: an LP that has ended is kept
        best = cs.dags.solve(instance, "hlp-best", time_limit=seconds)
        best.schedule.validate()
        assert best.status == "time_limit"
        assert best.bound.value <= best.value <= 0.9 * heft


def test_random_repeats_with_its_seed(inst):
    values = {cs.dags.solve(inst, "random", seed=s).value for s in range(10)}
    assert len(values) > 3
    assert cs.dags.solve(inst, "random").seed == 0


def test_zero_times_and_single_tasks():
    for instance in (Instance([[0, 0], [0, INF]], [(0, 1)], (1, 1)), Instance([[3]], [], [2])):
        frame = cs.dags.compare(instance)
        assert set(frame.status) <= {"ok", "not_applicable"}
        assert (frame.gap.dropna() == 0).all()
