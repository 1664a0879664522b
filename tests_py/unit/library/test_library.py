"""The library: every record holds; submissions that are wrong or no better are refused."""

import json
import math
import re
import shlex
import shutil
from dataclasses import replace

import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidBound, InvalidSchedule
from cosched.library.pull_request import pull_request
from cosched.library.records import (
    FOLDER,
    Finding,
    entries,
    family_of,
    record_of,
    rows_without_names,
)
from cosched.library.table import DEFAULT_SEARCHES, gap_of, proven
from cosched.registry import FAMILIES

NAME = "packs/ii-6-p8-s1"


@pytest.fixture
def records(tmp_path):
    """A folder of records in which one is worse than what is known."""
    record = record_of(NAME)
    worse = cs.packs.solve(cs.library.load(NAME), "sequential")
    finding = Finding(worse.value, "sequential", "somebody", "2020-01-01")
    replace(record, best=finding, schedule=rows_without_names(worse.schedule)).write(tmp_path)
    return tmp_path


def test_every_record_holds():
    frame = cs.library.verify()
    assert frame.name.tolist() == list(entries())
    assert (frame.status != "wrong").all(), frame[frame.status == "wrong"].to_string()


def test_a_family_without_instances_has_no_row(monkeypatch):
    library_names = list(entries())
    monkeypatch.setattr("cosched.library.records.FAMILIES", ("knapsacks", *FAMILIES))
    assert list(entries.__wrapped__()) == library_names


def test_the_table_has_a_row_an_instance_of_every_family():
    frame = cs.library.list()
    columns = ["name", "family", "size", "value", "bound", "gap", "by", "algorithm", "since"]
    assert frame.columns.tolist() == columns
    assert (frame.groupby("family").size() >= 39).all()
    assert (frame.gap >= 0).all()
    assert len({p.relative_to(FOLDER).as_posix() for p in FOLDER.glob("*/*.json")}) == len(frame)


def test_the_best_is_a_result_with_its_bound():
    best = cs.library.best(NAME)
    assert best.value == pytest.approx(record_of(NAME).best.value, rel=1e-12)
    assert best.gap == pytest.approx(gap_of(record_of(NAME)), abs=1e-12)


def test_unknown_names_have_near_ones():
    for function in (cs.library.load, cs.library.best, cs.library.verify):
        with pytest.raises(ValueError, match=r"near: .*cholesky-12"):
            function("dags/cholesky-12-ccr2")


def test_a_schedule_that_is_not_valid_is_refused(records):
    rows = record_of(NAME).schedule
    rows["placements"][0]["end"] += 1.0
    with pytest.raises(InvalidSchedule):
        cs.library.submit(NAME, rows, by="Ada", folder=records)


def test_a_schedule_that_is_no_better_is_refused(records):
    sequential = cs.packs.solve(cs.library.load(NAME), "sequential")
    with pytest.raises(ValueError, match=r"is not better than .* which somebody has"):
        cs.library.submit(NAME, sequential, by="Ada", folder=records)


def test_what_is_no_schedule_is_refused(records, tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"rows": []}')
    with pytest.raises(InvalidSchedule, match="expected a schedule"):
        cs.library.submit(NAME, path, by="Ada", folder=records)
    with pytest.raises(ValueError, match=r"expected (who found it|a text)"):
        cs.library.submit(NAME, path, by=" ", folder=records)


def test_a_better_schedule_is_a_new_record_and_keeps_the_old_one_as_history(records):
    best = cs.library.best(NAME)
    path = cs.library.submit(NAME, best, by="Ada", folder=records)
    record = record_of(NAME, records)
    assert path == records / f"{NAME}.json"
    assert (record.best.by, record.best.value) == ("Ada", best.value)
    assert [finding.by for finding in record.history] == ["somebody"]
    with pytest.raises(ValueError, match="not better"):
        cs.library.submit(NAME, best, by="Bob", folder=records)


def test_a_new_record_prints_its_pull_request(records, tmp_path, capsys):
    path = tmp_path / "best schedule.json"
    path.write_text(json.dumps(cs.library.best(NAME).to_dict()))
    folder = tmp_path / "new records"
    shutil.copytree(records / "packs", folder / "packs")
    arguments = ["library", "submit", NAME, str(path), "--by", "Ada", "-o", str(folder)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    old, new = record_of(NAME, records).best, record_of(NAME, folder).best
    title = f"library: {NAME}: {new.value:.9g} instead of {old.value:.9g}"
    assert f"Title: {title}\n" in printed
    commands = [shlex.split(line) for line in printed.splitlines() if line.startswith("  ")]
    destination = f"python/cosched/library/records/{NAME}.json"
    assert ["cp", f"{folder}/{NAME}.json", destination] in commands
    assert ["git", "commit", "-m", title] in commands
    rows = [line.strip().split("|") for line in printed.splitlines() if "|" in line][2:]
    assert [float(row[2]) for row in rows] == pytest.approx([old.value, new.value])
    assert [row[4].strip() for row in rows] == ["somebody", "Ada"]


def test_in_a_clone_a_new_record_needs_no_copy():
    record = replace(record_of(NAME), history=(replace(record_of(NAME).best, by="somebody"),))
    commands = pull_request(record, FOLDER / f"{NAME}.json").commands
    assert not any(command.startswith("cp ") for command in commands)


def test_a_profit_rate_is_better_where_it_is_greater(tmp_path):
    name = next(name for name in entries() if name.startswith("bags/"))
    record = record_of(name)
    lower = replace(record.best, value=record.best.value / 2)
    replace(record, best=lower).write(tmp_path)
    cs.library.submit(name, cs.library.best(name), by="Ada", folder=tmp_path)
    assert record_of(name, tmp_path).best.value == pytest.approx(record.best.value)


def test_certificates_are_read_back_and_prove_the_same():
    for inst, make in (
        (cs.workloads.layered(20, units=(3, 2), seed=1), cs.dags.windows),
        (cs.workloads.layered(20, units=(3, 2), ccr=1.0, seed=1), cs.dags.transfers),
    ):
        certificate = make(inst).certificate
        read = json.loads(json.dumps({"kind": certificate.kind, **cs.io.plain(certificate.fields)}))
        assert proven(cs.dags.FAMILY, inst, read) == certificate.bound(inst)


@pytest.mark.parametrize(
    "certificate",
    [
        {},
        {"kind": "faith"},
        {"kind": "bound"},
        {"kind": "windows", "makespan": 5.0},
        {"kind": "algorithm", "algorithm": "heft"},
    ],
)
def test_what_proves_nothing_is_refused(certificate):
    inst = cs.library.load("dags/cholesky-4")
    with pytest.raises(InvalidBound, match="kind"):
        proven(cs.dags.FAMILY, inst, certificate)


def test_a_bound_that_its_certificate_does_not_prove_is_found(tmp_path, monkeypatch):
    record = record_of("dags/layered-60-ccr1")
    high = replace(record.bound, value=0.5 * (record.bound.value + record.best.value))
    replace(record, bound=high).write(tmp_path)
    monkeypatch.setattr("cosched.library.table.FOLDER", tmp_path)
    (row,) = cs.library.verify(record.name).to_dict("records")
    assert row["status"] == "wrong"
    assert "certificate proves" in row["message"]


@pytest.mark.parametrize(("part", "status"), [(0.9e-5, "ok"), (3e-5, "wrong")])
def test_a_bound_of_column_generation_is_proved_up_to_its_tolerance(tmp_path, part, status):
    """It ends within a relative 1e-5 of the relaxation: rounding decides where."""
    record = record_of("packs/ii-33-p8-s2")
    proved = proven(cs.packs.FAMILY, cs.library.load(record.name), record.certificate)
    bound = replace(record.bound, value=proved * (1 + part))
    replace(record, bound=bound).write(tmp_path)
    (row,) = cs.library.verify(folder=tmp_path).to_dict("records")
    assert row["status"] == status, row["message"]


def test_a_damaged_record_is_one_line(tmp_path):
    path = tmp_path / f"{NAME}.json"
    path.parent.mkdir()
    for text in ("[]", '{"format": "other"}', "{", '{"format": "cosched-library", "version": 1}'):
        path.write_text(text)
        with pytest.raises((InvalidSchedule, cs.InvalidInstance)) as caught:
            record_of(NAME, tmp_path)
        assert "\n" not in str(caught.value)


def _damaged(folder, **changed):
    """The file of a record with other values, as `record_of` finds it."""
    path = folder / f"{NAME}.json"
    path.parent.mkdir(exist_ok=True)
    replace(record_of(NAME), **changed).write(folder).replace(path)


DAMAGED = {
    "another's": {"name": "packs/elsewhere"},
    "value": {"best": Finding(math.nan, "a", "b", "2026-01-01")},
    "no number": {"best": Finding("9.0", "a", "b", "2026-01-01")},
    "too large": {"best": Finding(10**400, "a", "b", "2026-01-01")},
    "bound": {"bound": Finding(-math.inf, "a", "b", "2026-01-01")},
    "algorithm": {"best": Finding(1.0, 3, "b", "2026-01-01")},
    "day": {"best": Finding(1.0, "a", "b", "once")},
    "size": {"size": -5},
    "schedule": {"schedule": []},
    "certificate": {"certificate": None},
}


@pytest.mark.parametrize("changed", DAMAGED.values(), ids=DAMAGED)
def test_a_record_that_is_not_whole_is_refused_and_wrong(tmp_path, monkeypatch, changed):
    _damaged(tmp_path, **changed)
    before = (tmp_path / f"{NAME}.json").read_bytes()
    with pytest.raises(InvalidSchedule, match="not a record of the library"):
        cs.library.submit(NAME, cs.library.best(NAME), by="Ada", folder=tmp_path)
    assert (tmp_path / f"{NAME}.json").read_bytes() == before
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [tmp_path / f"{NAME}.json"]
    monkeypatch.setattr("cosched.library.table.FOLDER", tmp_path)
    (row,) = cs.library.verify(NAME).to_dict("records")
    assert (row["name"], row["status"]) == (NAME, "wrong")


def test_what_a_certificate_is_made_of_may_be_anything(tmp_path, monkeypatch):
    monkeypatch.setattr("cosched.library.table.FOLDER", tmp_path)
    windows, method = {"kind": "windows", "makespan": [[], 1]}, {"kind": "bound", "method": "nope"}
    for certificate in ({}, windows, method):
        _damaged(tmp_path, certificate=certificate)
        assert cs.library.verify(NAME).status.tolist() == ["wrong"]
    _damaged(tmp_path, schedule={"placements": "x"})
    assert cs.library.verify(NAME).status.tolist() == ["wrong"]


def test_rounding_is_no_record(tmp_path):
    record = record_of(NAME)
    best = replace(record.best, value=record.best.value * (1 + 5e-7))
    replace(record, best=best).write(tmp_path)
    with pytest.raises(ValueError, match="is not better than"):
        cs.library.submit(NAME, cs.library.best(NAME), by="Ada", folder=tmp_path)


def test_better_than_the_bound_is_refused(tmp_path):
    record = record_of(NAME)
    best = replace(record.best, value=2 * record.best.value)
    replace(record, best=best, bound=replace(record.bound, value=best.value)).write(tmp_path)
    with pytest.raises(InvalidBound):
        cs.library.submit(NAME, cs.library.best(NAME), by="Ada", folder=tmp_path)


@pytest.mark.parametrize("who", ["", " ", "a\nb", "\x00", "\ud800", "x" * 201, 3, None])
def test_who_is_a_line(records, who):
    with pytest.raises(ValueError, match=r"expected (who found it|a text)"):
        cs.library.submit(NAME, cs.library.best(NAME), by=who, folder=records)
    with pytest.raises(ValueError, match=r"expected (what found it|a text or None)"):
        cs.library.submit(
            NAME, cs.library.best(NAME), by="Ada", algorithm=who or "", folder=records
        )


def test_a_record_that_the_default_search_beats_is_reported(records, capsys):
    (row,) = cs.library.verify(NAME, folder=records).to_dict("records")
    assert row["status"] == "beaten"
    assert re.fullmatch(
        r"local-search finds \d+\.\d+, the record of somebody is \d+\.\d+", row["message"]
    )
    assert main(["library", "verify", NAME, "--folder", str(records)]) == 1
    assert "local-search finds" in capsys.readouterr().out
    assert cs.library.verify(folder=records).status.tolist() == [
        "value"
    ]  # no search without thorough
    assert main(["library", "verify", "--folder", str(records), "--thorough"]) == 1


def test_default_searches_are_algorithms_of_their_family():
    for name in entries():
        of = family_of(name)
        if (algorithm := DEFAULT_SEARCHES.get(of.name)) is not None:
            assert algorithm in of.algorithms


def test_a_folder_that_is_new_gets_the_record(tmp_path, monkeypatch, records):
    """What is better than the package's record is written to the folder that the user names."""
    best, new = cs.library.best(NAME), tmp_path / "new" / "folder"
    monkeypatch.setattr("cosched.library.records.FOLDER", records)
    path = cs.library.submit(NAME, best, by="Ada", folder=new)
    assert path == new / f"{NAME}.json"
    assert record_of(NAME, records).best.by == "somebody"
    assert cs.library.verify(folder=new).to_dict("records") == [
        {
            "name": NAME,
            "value": best.value,
            "bound": float(best.own_bound),
            "status": "value",
            "message": "",
        }
    ]
    assert main(["library", "verify", "--folder", str(new)]) == 0
    with pytest.raises(ValueError, match=r"not better than .* which Ada has"):
        cs.library.submit(NAME, best, by="Bob", folder=new)


def test_an_installed_package_keeps_its_records(tmp_path, monkeypatch, records, capsys):
    installed = tmp_path / "lib" / "cosched" / "library" / "records"
    installed.parent.mkdir(parents=True)
    records.joinpath("packs").rename(tmp_path / "packs")
    monkeypatch.setattr("cosched.library.records.FOLDER", installed)
    with pytest.raises(ValueError, match="expected a folder"):
        cs.library.submit(NAME, cs.library.best(NAME), by="Ada")
    plan = str(tmp_path / "plan.json")
    assert main(["library", "submit", NAME, plan, "--by", "Ada"]) == 2
    assert "--folder: expected a folder" in capsys.readouterr().err
    assert not installed.exists()


def test_a_schedule_of_another_instance_is_named_with_its_file(tmp_path, capsys):
    plan = tmp_path / "plan.json"
    result = cs.packs.sequential(cs.workloads.packs_ii(seed=1, tasks=90))
    cs.io.write_json(result.to_dict(), plan)
    command = ["library", "submit", NAME, str(plan), "--by", "Ada", "-o", str(tmp_path / "new")]
    assert main(command) == 2
    assert capsys.readouterr().err.startswith(f"cosched: error: {plan}: ")
    assert not (tmp_path / "new").exists()


def test_a_folder_without_records_or_with_others_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no record of the library"):
        cs.library.verify(folder=tmp_path)
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "elsewhere.json").write_text("{}")
    with pytest.raises(ValueError, match="unknown instance of the library 'packs/elsewhere'"):
        cs.library.verify(folder=tmp_path)


@pytest.mark.thorough
def test_no_record_falls_to_the_default_search_of_its_family():
    frame = cs.library.verify(thorough=True)
    assert (frame.status == "ok").all(), frame[frame.status != "ok"].to_string()


def test_the_command_line(tmp_path, records, capsys):
    assert main(["library", "list", "packs", "-o", str(tmp_path / "packs.csv")]) == 0
    assert (tmp_path / "packs.csv").read_text().startswith("name,family,size,value")
    assert main(["library", "list", "pack"]) == 2
    assert main(["library", "show", NAME]) == 0
    assert "since" in capsys.readouterr().out
    plan = str(tmp_path / "plan.json")
    assert main(["library", "solve", NAME, "optimal", "-o", plan]) == 0
    submit = ["library", "submit", NAME, plan, "--by", "Ada", "--folder", str(records)]
    assert main(submit) == 0
    assert main(submit) == 2
    assert "is not better" in capsys.readouterr().err
    assert main(["library", "verify", NAME, "--folder", str(records)]) == 0
    assert main(["library", "verify", NAME]) == 0
    assert main(["library", "verify", "packs/none"]) == 2


def test_names_are_of_families():
    assert family_of("bags/energy-0.2").name == "bags"
