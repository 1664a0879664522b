"""Completing measured profiles: what is kept, what is assumed, what is refused."""

import numpy as np
import pytest

import cosched as cs
from cosched.profiles import complete
from support import data

AMDAHL = {q: 3 + 40 / q + 0.5 * np.log2(q) for q in (1, 2, 4, 8, 16)}


@pytest.mark.parametrize("fit", ["interpolation", "amdahl", "power-law"])
def test_measured_counts_keep_their_time(fit):
    table = complete({"a": AMDAHL}, fit=fit, repair=False)
    for q, t in AMDAHL.items():
        assert table.times[0, q - 1] == t
    assert (table.origin[0, [0, 1, 3, 7, 15]] == 0).all()
    assert table.origin.sum() == 11


def test_interpolation_is_a_power_law_between_neighbours():
    table = complete({"a": {2: 8.0, 8: 2.0, 32: 1.0}}, 32, extrapolate=True, repair=False)
    assert table.times[0, 3] == pytest.approx(4.0)
    assert table.times[0, 15] == pytest.approx(np.sqrt(2.0))
    inside = table.times[0, 1:]
    assert (np.diff(inside) <= 0).all()


def test_amdahl_finds_its_own_law():
    table = complete({"a": AMDAHL}, 64, fit="amdahl", extrapolate=True, repair=False)
    q = np.arange(1, 65)
    assert table.times[0] == pytest.approx(3 + 40 / q + 0.5 * np.log2(q), rel=1e-6)
    assert (table.origin[0, 16:] == 2).all()


def test_power_law_finds_its_own_law():
    law = {q: 30 * q**-0.7 + 0.2 * (q - 1) for q in (1, 2, 3, 5, 9, 16)}
    table = complete({"a": law}, fit="power-law", repair=False)
    q = np.arange(1, 17)
    assert table.times[0] == pytest.approx(30 * q**-0.7 + 0.2 * (q - 1), rel=1e-4)


def test_extrapolation_meets_the_last_measurement():
    table = complete({"a": {1: 10.0, 2: 6.0, 4: 4.4}}, 5, extrapolate=True, repair=False)
    assert table.times[0, 4] == pytest.approx(4.4, rel=0.1)
    assert table.times[0, 4] < 4.4


def test_no_silent_extrapolation():
    with pytest.raises(cs.InvalidInstance, match=r"'a'.* 3,4 of 1..4 are outside.*extrapolate"):
        complete({"a": {1: 3.0, 2: 2.0}}, 4)
    with pytest.raises(cs.InvalidInstance, match="at least two counts"):
        complete({"a": {1: 3.0}}, 4, extrapolate=True)
    with pytest.raises(cs.InvalidInstance, match="interpolation, amdahl, power-law"):
        complete({"a": {1: 3.0}}, fit="spline")
    with pytest.raises(cs.InvalidInstance, match="at least one task"):
        complete({})
    assert complete({"a": {1: 3.0}}).times.tolist() == [[3.0]]


def test_repair_is_said():
    table = complete({"a": {1: 3.0, 2: 1.0, 3: 1.2}})
    assert table.times.tolist() == [[3.0, 1.5, 1.0]]
    assert any("monotone repair changed 2 of 3" in note for note in table.notes)


def test_sparse_files(tmp_path):
    long = tmp_path / "long.csv"
    long.write_text("task,processors,seconds\na,1,8\na,4,2\na,1,9\nb,1,3\nb,4,3\n")
    wide = tmp_path / "wide.csv"
    wide.write_text("task,1,4\na,8,2\nb,3,3\n")
    for path in (long, wide):
        inst = cs.packs.Instance.read(path, 2)
        assert inst.times[0].tolist() == pytest.approx([8, 4, 8 / 3, 2])
        assert inst.times[1].tolist() == [3, 3, 3, 3]
        assert inst.origin.tolist() == [[0, 1, 1, 0]] * 2
        assert "4 times measured, 4 interpolated" in inst.notes[0]


def test_dense_files_round_trip(tmp_path):
    inst = cs.workloads.packs_ii(tasks=4, seed=2, max_tasks=3)
    for name in ("t.csv", "t.json"):
        inst.write(tmp_path / name)
        assert cs.packs.Instance.read(tmp_path / name, 3) == inst
    assert cs.packs.Instance.read(tmp_path / "t.json").max_tasks == 3
    assert cs.packs.Instance.read(tmp_path / "t.csv", procs=5).procs == 5
    assert cs.packs.Instance.read(tmp_path / "t.json", procs=5).procs == 5


def test_files_as_they_come(tmp_path):
    import gzip

    text = "\ufefftask,1,2\r\na,3,2\r\n\r\nb,4,3\r\n"
    (tmp_path / "w.csv").write_bytes(text.encode())
    with gzip.open(tmp_path / "w.csv.gz", "wb") as file:
        file.write(text.encode())
    for name in ("w.csv", "w.csv.gz"):
        assert cs.packs.Instance.read(tmp_path / name).times.tolist() == [[3, 2], [4, 3]]


@pytest.mark.data
def test_the_measured_codes():
    path = data("speedup", "archer_benchmarks_runs.csv")
    inst = cs.packs.Instance.read(path, 4, procs=16, extrapolate=True)
    assert inst.procs == 16
    assert {name.split("/")[0] for name in inst.names} == {
        "CASTEP",
        "VASP",
        "GROMACS",
        "CP2K",
        "NWChem",
        "OpenSBLI",
    }
    row = inst.names.index("CASTEP/al3x3")
    assert inst.times[row, [0, 3, 15]].tolist() == [396.96, 157.63, 113.81]
    assert any(note.startswith("skipped") and "CASTEP/TiN (1 count)" in note for note in inst.notes)
    with pytest.raises(cs.InvalidInstance, match="extrapolate"):
        cs.packs.Instance.read(path, 4, procs=16)
    table = cs.packs.compare(inst)
    assert (table.status[table.algorithm != "pairs"] == "ok").all()
    best = table.set_index("algorithm").loc["optimal"]
    assert best.gap == 0
    assert (table.value.dropna() >= best.value * (1 - 1e-9)).all()


def test_separators_and_unknown_fits_are_named(tmp_path):
    path = tmp_path / "t.csv"
    for text, other in (("task;1;2\na;3,5;2,5\n", ";"), ("task\t1\t2\na\t3\t2\n", r"\\t")):
        path.write_text(text)
        with pytest.raises(cs.InvalidInstance, match=rf"line 1: .* '{other}': expected commas"):
            cs.packs.Instance.read(path)
    path.write_text("task,1,2\na,3,2\n")
    with pytest.raises(cs.InvalidInstance, match=r"fit = 'spline': expected one of"):
        cs.packs.Instance.read(path, fit="spline")


def test_repair_of_a_dense_table_is_asked_for(tmp_path, capsys):
    from cosched.cli import main

    path = tmp_path / "t.csv"
    path.write_text("task,1,2\na,3,4\nb,2,1\n")
    plain = ["solve", "packs", str(path), "--algorithm", "optimal"]
    assert main(plain) == 2
    assert "--repair" in capsys.readouterr().err
    assert main([*plain, "--repair"]) == 0
    assert "monotone repair changed 1 of 4 times" in "".join(capsys.readouterr())
    # Measured times are repaired without being asked.
    path.write_text("task,processors,seconds\na,1,3\na,2,4\n")
    assert main(plain) == 0
