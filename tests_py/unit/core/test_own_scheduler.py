"""A scheduler of one's own: by hand, registered, imported on the command line, in a study."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cosched as cs
from cosched.cli import main
from support import with_toy_studies

COSCHED = [str(Path(sys.executable).with_name("cosched"))]
MINE = """
import numpy as np
import cosched as cs

def in_order(instance, *, seed):
    return cs.packs.co_schedule(instance, np.arange(instance.tasks) // instance.max_tasks)

cs.register("packs", "in-order", in_order)
"""


@pytest.fixture
def inst():
    return cs.workloads.packs_ii(tasks=6, nodes=8, seed=1, max_tasks=3)


def test_co_schedule_is_what_the_packs_cost(inst):
    result = cs.packs.co_schedule(inst, [7, 3, 7, 3, 7, 3])
    result.schedule.validate()
    by_hand = 0.0
    for members in ([0, 2, 4], [1, 3, 5]):
        counts = cs.packs.one_pack(inst.times[members], inst.procs)
        by_hand += inst.times[members, counts - 1].max()
    assert result.value == pytest.approx(by_hand, rel=1e-12)
    assert result.pack_of.tolist() == [1, 0, 1, 0, 1, 0]
    same_packs = cs.packs.co_schedule(inst, result.pack_of, result.procs)
    assert same_packs.value == result.value


@pytest.mark.parametrize(
    ("pack_of", "procs", "part"),
    [
        ([0, 0], None, "pack_of has 2 entries: expected 6"),
        ([0, 0, 0, 0, 1, 1], None, "pack 0 has 4 tasks: expected at most 3"),
        ([0, 0, 1, 1, 2, 2], [8, 1, 1, 1, 1, 1], "pack 0 uses 9 processors"),
        ([0, 0, 1, 1, 2, 2], [9, 1, 1, 1, 1, 1], "procs"),
        ([0, 0, 1, 1, 2, 2], [1, 1], "procs has 2 entries"),
        ([-1, 0, 1, 1, 2, 2], None, "pack_of"),
        ([0.5, 0, 1, 1, 2, 2], None, "pack_of"),
    ],
)
def test_co_schedule_refusals(inst, pack_of, procs, part):
    with pytest.raises(cs.InvalidInstance, match=part):
        cs.packs.co_schedule(inst, pack_of, procs)


def test_schedule_from_a_table(inst):
    schedule = cs.packs.solve(inst, "pack-by-pack-9").schedule
    restored_schedule = cs.Schedule.from_frame(inst, schedule.to_frame())
    restored_schedule.validate()
    pd.testing.assert_frame_equal(restored_schedule.to_frame(), schedule.to_frame())
    without_kind = cs.Schedule.from_frame(inst, schedule.to_frame().drop(columns="kind"))
    without_kind.validate()
    with pytest.raises(cs.InvalidSchedule, match=r"placements\[0\].*units"):
        cs.Schedule.from_frame(inst, schedule.to_frame().drop(columns="units"))
    frame = schedule.to_frame()
    frame.loc[2, "start"] = np.nan
    with pytest.raises(cs.InvalidSchedule, match="task 2"):
        cs.Schedule.from_frame(inst, frame).validate()


def test_a_wrong_table_never_passes(inst, own_algorithm):
    def all_at_once(instance, *, seed):
        everyone = tuple(range(instance.procs))
        rows = [
            {"task": i, "units": everyone, "start": 0.0, "end": instance.times[i, -1]}
            for i in range(instance.tasks)
        ]
        return cs.Schedule.from_frame(instance, pd.DataFrame(rows))

    own_algorithm("packs", "all at once", all_at_once)
    table = cs.packs.compare(inst, ["all at once", "pack-by-pack-1"]).set_index("algorithm")
    assert table.status.tolist() == ["error", "ok"]
    assert "InvalidSchedule" in table.loc["all at once", "message"]


def test_import_on_the_command_line(inst, tmp_path):
    inst.write(tmp_path / "times.csv")
    (tmp_path / "mine.py").write_text(MINE)
    for how in ("mine.py", "mine"):
        done = subprocess.run(
            [*COSCHED, "--import", how, "compare", "packs", "times.csv", "--max-tasks", "3"]
            + ["--algorithms", "in-order", "pack-by-pack-9", "-o", "table.csv"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        table = pd.read_csv(tmp_path / "table.csv").set_index("algorithm")
        assert table.loc["in-order", "status"] == "ok"


def test_a_value_below_a_bound_names_its_algorithm(tmp_path, capsys):
    own_module = "import dataclasses, cosched as cs\ndef too_good(inst, *, seed):\n"
    own_module += "    return dataclasses.replace(cs.packs.sequential(inst), value=0.5)\n"
    (tmp_path / "own_bound.py").write_text(
        own_module + "cs.register('packs', 'too-good', too_good)\n"
    )
    (tmp_path / "times.csv").write_text("task,1,2\na,8,4\nb,6,3\n")
    command = ["--import", str(tmp_path / "own_bound.py"), "solve", "packs"]
    assert main([*command, str(tmp_path / "times.csv"), "--algorithm", "too-good"]) == 2
    assert "error: too-good: value 0.5 is below the lower bound" in capsys.readouterr().err


def test_an_imported_algorithm_reaches_the_workers_of_a_study(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    done = subprocess.run(
        [*COSCHED, "--import", str(tmp_path / "mine.py"), "study", "run"]
        + ["toy_studies:PACKS", "--quick", "--workers", "1", "--out", str(tmp_path / "out")],
        cwd="/", env=with_toy_studies(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    frame = pd.read_parquet(tmp_path / "out" / "results.parquet")
    own_rows = frame[frame.algorithm == "in-order"]
    assert len(own_rows) > 0
    assert (own_rows.status == "ok").all()


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("none.py", None, "no such file"),
        ("bad.py", "1 / 0", "division by zero"),
        ("no_such_module_here", None, "No module named"),
        ("json.py", "x = 1", "loaded already"),
        ("taken.py", "import cosched as cs\ncs.register('packs', 'ilp', print)", "built-in"),
    ],
)
def test_import_refusals(tmp_path, monkeypatch, capsys, name, text, part):
    import json  # noqa: F401 - it is loaded, as the fourth case needs

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    if text is not None:
        (tmp_path / name).write_text(text)
    assert main(["--import", name, "study", "list"]) == 2
    error = capsys.readouterr().err
    assert part in error
    assert len(error.splitlines()) == 1
