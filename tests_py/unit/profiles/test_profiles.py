"""Completing measured profiles: what is kept, what is assumed, what is refused."""

import numpy as np
import pytest
from note_facts import counts, has_note

import cosched as cs
from cosched import NoteKind
from cosched.profiles import complete
from support import REPO, data

AMDAHL = {q: 3 + 40 / q + 0.5 * np.log2(q) for q in (1, 2, 4, 8, 16)}


@pytest.mark.parametrize("fit", ["interpolation", "amdahl", "power-law"])
def test_measured_counts_keep_their_time(fit):
    table = complete({"a": AMDAHL}, fit=fit)
    for q, t in AMDAHL.items():
        assert table.times[0, q - 1] == t
    assert (table.origin[0, [0, 1, 3, 7, 15]] == 0).all()
    assert table.origin.sum() == 11


def test_interpolation_is_a_power_law_between_neighbours():
    table = complete({"a": {2: 8.0, 8: 2.0, 32: 1.0}}, 32, extrapolate=True)
    assert table.times[0, 3] == pytest.approx(4.0)
    assert table.times[0, 15] == pytest.approx(np.sqrt(2.0))
    inside = table.times[0, 1:]
    assert (np.diff(inside) <= 0).all()


def test_amdahl_finds_its_own_law():
    table = complete({"a": AMDAHL}, 64, fit="amdahl", extrapolate=True)
    q = np.arange(1, 65)
    assert table.times[0] == pytest.approx(3 + 40 / q + 0.5 * np.log2(q), rel=1e-6)
    assert (table.origin[0, 16:] == 2).all()


def test_power_law_finds_its_own_law():
    law = {q: 30 * q**-0.7 + 0.2 * (q - 1) for q in (1, 2, 3, 5, 9, 16)}
    table = complete({"a": law}, fit="power-law")
    q = np.arange(1, 17)
    assert table.times[0] == pytest.approx(30 * q**-0.7 + 0.2 * (q - 1), rel=1e-4)


def test_extrapolation_meets_the_last_measurement():
    table = complete({"a": {1: 10.0, 2: 6.0, 4: 4.4}}, 5, extrapolate=True)
    assert table.times[0, 4] == pytest.approx(4.4, rel=0.1)
    assert table.times[0, 4] < 4.4


def test_no_silent_extrapolation():
    with pytest.raises(cs.InvalidInstance, match=r"1,2 of 1..2 .*there, or more processors$"):
        cs.profiles.complete({"a": {3: 8.0, 4: 6.0}}, 2)
    with pytest.raises(cs.InvalidInstance, match=r"'a'.* 3,4 of 1..4 are outside.*extrapolate"):
        complete({"a": {1: 3.0, 2: 2.0}}, 4)
    with pytest.raises(cs.InvalidInstance, match="at least two counts"):
        complete({"a": {1: 3.0}}, 4, extrapolate=True)
    with pytest.raises(cs.InvalidInstance, match="interpolation, amdahl, power-law"):
        complete({"a": {1: 3.0}}, fit="spline")
    with pytest.raises(cs.InvalidInstance, match="at least one task"):
        complete({})
    assert complete({"a": {1: 3.0}}).times.tolist() == [[3.0]]


def test_nothing_is_repaired():
    table = complete({"a": {1: 3.0, 2: 1.0, 3: 1.2}})
    assert table.times.tolist() == [[3.0, 1.0, 1.2]]
    assert table.notes == ()


def test_counts_that_cannot_be_used_have_no_neighbours():
    inf = np.inf
    table = complete({"a": {2: inf, 4: 8.0, 8: 4.0, 16: inf}, "b": {1: 5.0, 16: 5.0}})
    assert table.times[0, :4].tolist() == [inf, inf, inf, 8.0]
    assert np.isfinite(table.times[0, 4:8]).all()
    assert (table.times[0, 8:] == inf).all()
    assert (table.origin[0] != 0).sum() == 3
    assert counts(table.notes, NoteKind.ASSUMED) == {"times": 17}


def test_measured_counts_only():
    table = complete({"a": {1: 8.0, 4: 2.0}, "b": {2: 3.0}}, 5, counts="measured")
    inf = np.inf
    assert table.times.tolist() == [[8, inf, inf, 2, inf], [inf, 3, inf, inf, inf]]
    assert not table.origin.any()
    assert table.notes == ()
    with pytest.raises(cs.InvalidInstance, match="counts = 'some': expected one of all, measured"):
        complete({"a": {1: 1.0}}, counts="some")
    with pytest.raises(cs.InvalidInstance, match="exclude each other"):
        complete({"a": {1: 1.0}}, counts="measured", extrapolate=True)
    with pytest.raises(cs.InvalidInstance, match=r"measured on 8,16 processors, on none of 1..4"):
        complete({"a": {8: 1.0, 16: 1.0}}, 4, counts="measured")


def test_several_runs_of_a_count():
    table = complete({"a": {1: [8.0, 10.0, 9.0], 2: [4.0, 5.0], 4: 3.0}, "b": {1: 2.0, 4: [1.0]}})
    assert table.times[0, [0, 1, 3]].tolist() == [9.0, 4.5, 3.0]
    assert table.spread[0, :2].tolist() == [pytest.approx(2 / 9), pytest.approx(1 / 4.5)]
    assert np.isnan(table.spread).sum() == 6
    assert counts(table.notes, NoteKind.PRECISION) == {"repeated runs": 2}


def test_sparse_files(tmp_path):
    long = tmp_path / "long.csv"
    long.write_text("task,processors,seconds\na,1,8\na,4,2\na,1,9\nb,1,3\nb,4,3\n")
    wide = tmp_path / "wide.csv"
    wide.write_text("task,1,4\na,8,2\nb,3,3\n")
    for path in (long, wide):
        inst = cs.packs.Instance.read(path, 2)
        first = 8.5 if path is long else 8  # the median of two runs
        assert inst.times[0, [0, 3]].tolist() == [first, 2]
        assert inst.times[0, 1] == pytest.approx(np.sqrt(2 * first))
        assert inst.times[1].tolist() == [3, 3, 3, 3]
        assert inst.origin.tolist() == [[0, 1, 1, 0]] * 2
        assert counts(inst.notes, NoteKind.ASSUMED) == {"times": 4}


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


MEASURED = REPO / "notebooks" / "data" / "measured_codes.csv"


@pytest.mark.data
def test_the_measured_codes_are_those_of_the_archive():
    path = data("speedup", "archer_benchmarks_runs.csv")
    inst = cs.packs.Instance.read(path, 4, procs=16, extrapolate=True)
    assert inst == cs.packs.Instance.read(MEASURED, 4, procs=16, extrapolate=True)
    subject = "applications with fewer than two measured counts"
    assert has_note(inst.notes, NoteKind.DROPPED, subject)


def test_the_measured_codes():
    path = MEASURED
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
    medians = [(396.96 + 398.13) / 2, (157.63 + 185.89) / 2, 113.81]
    assert inst.times[row, [0, 3, 15]].tolist() == medians
    spread = [(398.13 - 396.96) / medians[0], (185.89 - 157.63) / medians[1], np.nan]
    assert inst.spread[row, [0, 3, 15]] == pytest.approx(spread, nan_ok=True)
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


@pytest.mark.parametrize("family", ["packs", "moldable"])
def test_an_index_of_pandas_is_no_column_of_times(family, tmp_path):
    import pandas as pd

    path = tmp_path / "times.csv"
    read = getattr(cs, family).Instance.read
    wide = pd.DataFrame([[8.0, 5.0], [6.0, 4.0]], ["fft", "lu"], [1, 2])
    wide.to_csv(path)  # names as the index, without a title
    assert path.read_text().startswith(",1,2\nfft,")
    assert (read(path).names, read(path).times.tolist()) == (("fft", "lu"), wide.values.tolist())
    runs = pd.DataFrame({"task": ["fft", "lu"], "processors": 1, "seconds": [8.0, 6.0]})
    for table in (wide.rename_axis("task").reset_index(), runs):
        table.to_csv(path)  # an index of numbers before the column of names
        assert path.read_text().startswith(",task,")
        inst = read(path)
        assert inst.names == ("fft", "lu")
        assert inst.times[:, 0].tolist() == [8.0, 6.0]
        assert not counts(inst.notes, NoteKind.NOT_READ)


def test_what_is_shared_is_a_mapping():
    cs.profiles.require_plain("times.csv", None)
    with pytest.raises(cs.InvalidInstance, match="expected a mapping"):
        cs.profiles.require_plain("times.csv", range(2**62))
