"""Measured times are never changed: what is read, what a schedule gets, what is said."""

import json
import pickle

import numpy as np
import pytest
from note_facts import counts, has_note

import cosched as cs
from cosched import NoteKind
from cosched.cli import main

INF = np.inf
FAMILIES = (cs.packs, cs.moldable)


def instance(family, times, **options):
    """Of either family, each task with weight 1."""
    weights = (np.ones(len(times)),) if family is cs.moldable else ()
    return family.Instance(times, *weights, **options)


def answers(family, inst):
    for name in family.ALGORITHMS:
        if name == "pairs" and inst.max_tasks > 2:
            continue
        options = {"work": 5_000} if name in ("local-search", "demt-best") else {}
        res = family.solve(inst, name, seed=1, **options)
        res.schedule.validate()
        yield name, res


def check(family, inst):
    """Every answer: the time of each task is the one that was given for its count."""
    lower_bound = max(float(family.bound(inst, name)) for name in family.BOUNDS if name != "minsum")
    for name, res in answers(family, inst):
        frame = res.schedule.to_frame()
        counts = frame.units.map(len).to_numpy()
        assert counts.tolist() == res.procs[frame.task].tolist(), name
        expected_times = inst.times[frame.task, counts - 1]
        assert np.allclose(frame.end - frame.start, expected_times, rtol=1e-9), name
        assert lower_bound <= res.value * (1 + 1e-9), name


def test_super_linear_codes(tmp_path):
    """Caches: 40 s on two processors, 15 s on four. One after the other takes 15 s each."""
    path = tmp_path / "runs.csv"
    path.write_text("task,processors,seconds\na,1,100\na,2,40\na,4,15\n")
    for family in FAMILIES:
        inst = family.Instance.read(path)
        assert inst.times[0, [0, 1, 3]].tolist() == [100, 40, 15]
        for _, res in answers(family, inst):
            cut = ("sequential", "list-lp", "list-local")  # to few processors, by their rules
            assert res.value == 15 or res.algorithm in cut
        rows = [f"{name},{q},{t}\n" for name in "ab" for q, t in ((1, 100), (2, 40), (4, 15))]
        two = tmp_path / "two.csv"
        two.write_text("task,processors,seconds\n" + "".join(rows))
        inst = family.Instance.read(two)
        check(family, inst)
        assert min(res.value for _, res in answers(family, inst)) == 30
        assert float(family.bound(inst)) == pytest.approx(30)
        assert counts(inst.notes, NoteKind.UNUSUAL)["super-linear tasks"] == 2
        assert has_note(inst.notes, NoteKind.UNKNOWN, "guarantee")


def test_a_task_gets_the_count_that_attains_its_time(tmp_path, capsys):
    path, plan = tmp_path / "runs.csv", tmp_path / "plan.json"
    path.write_text("task,processors,seconds\na,1,100\na,2,60\na,4,80\n")
    for family in FAMILIES:
        inst = family.Instance.read(path)
        assert inst.times[0, 3] == 80
        check(family, inst)
        name = {cs.packs: "optimal", cs.moldable: "dual-approximation"}[family]
        res = family.solve(inst, name)
        assert (res.value, res.procs.tolist()) == (60, [2])
        assert res.schedule.to_frame().units.tolist() == [(0, 1)]
        subject = "tasks that are slower on more processors"
        assert has_note(inst.notes, NoteKind.UNUSUAL, subject)
        command = ["solve", family.FAMILY.name, str(path), "--algorithm", name, "-o", str(plan)]
        assert main(command) == 0
        assert len(json.loads(plan.read_text())["placements"][0]["units"]) == 2
        assert "the fewer are used" in "".join(capsys.readouterr())


def test_counts_that_a_task_cannot_run_on(tmp_path):
    wide = tmp_path / "wide.csv"
    wide.write_text("task,1,2,3,4\na,,9,,5\nb,6,4,,\n")
    table = [[INF, 9, INF, 5], [6, 4, INF, INF]]
    files = {}
    for family in FAMILIES:
        inst = family.Instance.read(wide)
        assert inst.times.tolist() == table
        assert counts(inst.notes, NoteKind.UNUSUAL)["infinite times"] == 4
        check(family, inst)
        for name in ("t.csv", "t.json"):
            inst.write(tmp_path / name)
            assert family.Instance.read(tmp_path / name) == inst
        files[family] = json.loads((tmp_path / "t.json").read_text())
    assert files[cs.packs]["times"][0] == [None, 9, None, 5]
    assert files[cs.moldable]["jobs"][1]["processingTimes"] == [6, 4, None, None]


def test_a_task_that_can_run_nowhere_is_refused(tmp_path):
    for family in FAMILIES:
        with pytest.raises(cs.InvalidInstance, match=r"times\[1\] has no finite entry"):
            instance(family, [[1, 2], [INF, INF]])
        with pytest.raises(cs.InvalidInstance, match=r"times\[0, 1\] = nan"):
            instance(family, [[1, np.nan]])
        path = tmp_path / "t.json"
        path.write_text('{"times": [[null, null]]}')
        with pytest.raises(cs.InvalidInstance, match=r"t.json: times"):
            family.Instance.read(path)
    with pytest.raises(cs.InvalidInstance, match=r"can run on none of 1..1 processors"):
        instance(cs.moldable, [[INF, 3.0]], machines=1)


def test_measured_counts_only(tmp_path, capsys):
    path, plan = tmp_path / "runs.csv", tmp_path / "plan.json"
    path.write_text("task,processors,seconds\na,1,8\na,4,2.5\nb,2,5\nb,4,4\nc,1,3\n")
    for family in FAMILIES:
        with pytest.raises(cs.InvalidInstance, match="--counts measured"):
            family.Instance.read(path)
        inst = family.Instance.read(path, counts="measured")
        assert inst.times.tolist() == [[8, INF, INF, 2.5], [INF, 5, INF, 4], [3, INF, INF, INF]]
        assert not inst.origin.any() if inst.origin is not None else True
        check(family, inst)
        command = ["compare", family.FAMILY.name, str(path), "--counts", "measured"]
        assert main(command) == 0
        assert main(["solve", *command[1:3], "--algorithm", "sequential", *command[3:],
                     "-o", str(plan)]) == 0  # fmt: skip
        capsys.readouterr()
    wide = cs.moldable.Instance.read(path, machines=9, counts="measured")
    assert wide.time(0, 9) == INF
    assert set(cs.moldable.gang(wide).procs) == {1, 4}
    assert cs.moldable.gang(cs.moldable.Instance([[3, 2]], [1], machines=9)).procs.tolist() == [9]
    assert main(["solve", "packs", str(path), "--algorithm", "optimal", "--counts", "some"]) == 2
    assert "expected one of all, measured" in capsys.readouterr().err


def test_several_runs_of_a_count(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("task,processors,seconds\na,1,9\na,1,8\na,1,13\na,2,5\na,2,\nb,1,\nb,2,4\n")
    for family in FAMILIES:
        inst = family.Instance.read(path)
        assert inst.times.tolist() == [[9, 5], [INF, 4]]
        assert inst.spread[0, 0] == pytest.approx(5 / 9)
        assert np.isnan(inst.spread).tolist() == [[False, True], [True, True]]
        assert has_note(inst.notes, NoteKind.PRECISION, "repeated runs")
        unpickled = pickle.loads(pickle.dumps(inst))
        assert np.array_equal(unpickled.spread, inst.spread, equal_nan=True)
        assert unpickled.notes == inst.notes
        assert np.isnan(instance(family, [[3.0, 2.0]]).spread).all()
    formulas = cs.moldable.Instance.from_downey([8.0], [4.0], [0.0], [1], 100)
    assert formulas.spread.shape == (1, 100)
    assert inst.select([1]).spread.shape == (1, 2)


def test_columns_of_the_long_form(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(
        "task,processors,seconds,weight,release,host,Status\n"
        "a,1,8,3,,n1,ok\na,2,5,,,n1,ok\nb,1,4,,2.5,n2,ok\nb,2,3,,2.5,n2,ok\n"
    )
    inst = cs.moldable.Instance.read(path)
    assert (inst.weights.tolist(), inst.release.tolist()) == ([3, 1], [0, 2.5])
    assert counts(inst.notes, NoteKind.NOT_READ) == {"host, Status": 2}
    packs = cs.packs.Instance.read(path)
    assert [note.subject for note in packs.notes[:3]] == ["host, Status", "weight", "release"]
    for text, where in (
        ("a,1,8,3\na,2,5,4\n", "line 3, column 'weight': 4 after 3: expected one weight a task"),
        ("a,1,8,-1\n", "line 2, column 'weight': '-1'"),
        ("a,1,8,x\n", "line 2, column 'weight': 'x'"),
    ):
        path.write_text("task,processors,seconds,weight\n" + text)
        with pytest.raises(cs.InvalidInstance, match=where):
            cs.moldable.Instance.read(path)


@pytest.mark.parametrize("seed", range(40))
def test_any_table(seed):
    random = np.random.default_rng(seed)
    n, p = random.integers(1, 6, 2)
    times = random.integers(1, 9, (n, p)) * 1.0
    times[random.random((n, p)) < 0.3] = INF
    times[np.arange(n), random.integers(0, p, n)] = random.uniform(1, 5, n)
    for family in FAMILIES:
        inst = instance(family, times)
        assert np.array_equal(inst.times, times)
        check(family, inst)


def test_counts_that_one_names_are_kept():
    inst = cs.packs.Instance([[100, 60, 70, 80], [9, INF, INF, 4]], 2)
    pack = cs.packs.make_pack(inst, [4, 1], reoptimise=False)
    assert (pack.procs.tolist(), pack.value) == ([4, 1], 89)
    assert cs.packs.make_pack(inst, [4, 1]).procs.tolist() == [2, 4]
    assert cs.packs.co_schedule(inst, [0, 1]).procs.tolist() == [2, 4]
    for call in (
        lambda: cs.packs.make_pack(inst, [4, 2]),
        lambda: cs.packs.co_schedule(inst, [0, 1], [4, 2]),
    ):
        with pytest.raises(cs.InvalidInstance, match=r"procs\[1\] = 2: task 1 cannot run"):
            call()


def test_notes_are_said_once():
    inst = cs.packs.Instance([[3.0, 1.0]], notes=["mine"])
    assert inst.notes[0] == "mine"
    assert len(inst.notes) == 3  # and that it is super-linear, and what is not claimed
    assert inst.with_max_tasks(1).notes == inst.notes
    assert cs.packs.Instance([[3.0, 2.0]]).notes == ()
