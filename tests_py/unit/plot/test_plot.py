"""Pictures: what is drawn, not how it looks."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PolyCollection

import cosched as cs


def boxes(ax):
    return [path for c in ax.collections if isinstance(c, PolyCollection) for path in c.get_paths()]


@pytest.fixture
def res():
    return cs.packs.solve(cs.workloads.packs_ii(tasks=7, nodes=5, seed=3), "pack-by-pack-9")


def test_gantt_draws_the_work(res):
    ax = cs.plot.gantt(res.schedule)
    areas = [np.ptp(path.vertices[:, 0]) * np.ptp(path.vertices[:, 1]) for path in boxes(ax)]
    work = sum(res.instance.times[i, q - 1] * q for i, q in enumerate(res.procs))
    assert sum(areas) == pytest.approx(work)
    assert ax.get_xlim() == (0, res.schedule.makespan)
    assert ax.get_ylim()[0] >= res.instance.procs - 0.5 - (res.instance.procs - res.procs.max())
    assert ax.get_xlabel() == "time (s)"


def test_gantt_takes_axes_and_returns_them(res):
    _, own_axes = plt.subplots()
    assert cs.plot.gantt(res.schedule, own_axes) is own_axes
    assert cs.plot.gantt(res.schedule, ax=own_axes) is own_axes


def test_gantt_marks_what_was_not_measured():
    profiles = cs.profiles.complete({"a": {1: 8.0, 4: 2.0}, "b": {1: 3.0, 4: 1.0}})
    inst = cs.packs.Instance(profiles.times, 2, names=profiles.names, origin=profiles.origin)
    res = cs.packs.make_pack(inst, [3, 1], reoptimise=False)
    ax = cs.plot.gantt(res.schedule)
    hatched = [c for c in ax.collections if c.get_hatch()]
    assert [len(c.get_paths()) for c in hatched] == [1]
    assert {text.get_text() for text in ax.texts} <= {"a", "b"}


def test_gantt_groups_have_a_legend(res):
    ax = cs.plot.gantt(res.schedule, color_by=["x" if i % 2 else "y" for i in range(7)])
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["y", "x"]


def test_gantt_of_split_units_draws_each_run():
    inst = cs.packs.Instance([[4.0, 3.0, 2.0]])
    schedule = cs.Schedule(inst, [0], [0], [0, 2], [0, 2], [0.0], [3.0])
    schedule.validate()
    assert len(boxes(cs.plot.gantt(schedule))) == 2


def test_thousands_of_placements(res):
    inst = cs.packs.Instance(np.full((2000, 4), 2.0), 4)
    ax = cs.plot.gantt(cs.packs.solve(inst, "pack-by-pack-1").schedule)
    assert len(boxes(ax)) == 2000
    assert not ax.texts


def test_save_by_suffix(res, tmp_path):
    ax = cs.plot.gantt(res.schedule)
    for name in ("a.png", "a.svg", "a.pdf"):
        cs.plot.save(ax, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    with pytest.raises(cs.InvalidInstance, match="ends in"):
        cs.plot.save(ax, tmp_path / "a.gif")
    assert len(list(tmp_path.iterdir())) == 3


def test_transfers_are_arcs_up_to_some_hundred():
    from matplotlib.collections import PathCollection

    inst = cs.workloads.cholesky(4, units=(2, 2), tile_bytes=2**20, memories="unit")
    result = cs.dags.heft(inst)
    ax = cs.plot.gantt(result.schedule)
    arcs = [part for part in ax.collections if isinstance(part, PathCollection)]
    seconds = inst.transfer_times(result.kind, result.unit)
    moving = np.flatnonzero(seconds > 0)
    assert len(moving) > 0
    assert len(arcs) == 1
    assert len(arcs[0].get_paths()) == len(moving)
    for path, edge in zip(arcs[0].get_paths(), moving, strict=True):
        before, after = inst.edges[edge]
        lanes = np.array([0, 2])[result.kind] + result.unit
        assert path.vertices[0].tolist() == [result.end[before], lanes[before]]
        assert path.vertices[-1].tolist() == [result.end[before] + seconds[edge], lanes[after]]
        assert path.vertices[-1][0] <= result.start[after] * (1 + 1e-12)
    many = cs.workloads.cholesky(16, units=(2, 2), tile_bytes=2**20, memories="unit")
    ax = cs.plot.gantt(cs.dags.heft(many).schedule)
    assert not [part for part in ax.collections if isinstance(part, PathCollection)]
