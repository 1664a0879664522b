"""The page of stable names is of this package: every public name stands there, once."""

import csv
import json
import re
import sys

import pytest

import cosched as cs
from cosched.cli import main
from cosched.registry import FAMILIES
from support import REPO

PAGE = (REPO / "docs" / "reference" / "stable.md").read_text()
WHERE = "docs/reference/stable.md"
MODULES = re.findall(r"^\| `cosched\.(\w+)` \| (.*) \| (.*) \|$", PAGE, flags=re.MULTILINE)
OF_CLUSTER = {
    "FCFS",
    "EASY",
    "EASY (perfect estimates)",
    "conservative",
    "conservative (perfect estimates)",
    "slurm-backfill",
    "as-logged",
}


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def compare(listed, actual_names, row):
    """Assert that a row lists what is there, each name once; else say what to change."""
    absent, stale_names = (
        sorted(set(actual_names) - set(listed)),
        sorted(set(listed) - set(actual_names)),
    )
    twice = sorted({name for name in listed if listed.count(name) > 1})
    assert not absent, f"{WHERE}: add {', '.join(absent)} to {row}"
    assert not stale_names, (
        f"{WHERE}: the package has no {', '.join(stale_names)}: remove it from {row}"
    )
    assert not twice, f"{WHERE}: {row} has {', '.join(twice)} twice"


def test_every_module_is_there():
    unknown = sorted(set(FAMILIES) - set(cs.__all__))
    assert not unknown, f"python/cosched/__init__.py: add {', '.join(unknown)} to _MODULES"
    modules = {
        name for name in cs.__all__ if name.islower() and name not in ("register", "time_limit")
    }
    compare([name for name, *_ in MODULES], modules - {"__version__"}, "the table of modules")


@pytest.mark.parametrize(("module", "stable", "experimental"), MODULES)
def test_names_of_a_module(module, stable, experimental):
    listed = names(stable) + names(experimental)
    compare(listed, getattr(cs, module).__all__, f"the row of cosched.{module}")
    for name in listed:
        assert hasattr(getattr(cs, module), name)


def test_what_a_row_lacks_is_named_with_the_page():
    with pytest.raises(AssertionError, match=r"^docs/reference/stable.md: add b to the row of x"):
        compare(["a"], {"a", "b"}, "the row of x")
    with pytest.raises(AssertionError, match=r"^docs/reference/stable.md: the package has no c"):
        compare(["a", "c"], {"a"}, "the row of x")
    with pytest.raises(AssertionError, match="has a twice"):
        compare(["a", "a"], {"a"}, "the row of x")


@pytest.mark.parametrize("family", FAMILIES)
def test_algorithms_and_bounds(family):
    rows = re.findall(rf"^\| {family} \| (.*) \| (.*) \|$", PAGE, flags=re.MULTILINE)
    assert len(rows) == 1, f"{WHERE}: expected one row of algorithms and bounds of {family}"
    module = getattr(cs, family)
    algorithms = set(module.ALGORITHMS) - module.FAMILY.registered
    if family == "cluster":  # and the 116 of the paper
        assert len(algorithms - OF_CLUSTER) == 116
        algorithms &= OF_CLUSTER
    compare(names(rows[0][0]), algorithms, f"the algorithms of {family}")
    compare(names(rows[0][1]), module.BOUNDS, f"the bounds of {family}")


def test_verbs(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["--help"]) == 0
    _, _, commands = capsys.readouterr().out.partition("Clusters and Slurm:")
    listed_commands = set(re.findall(r"^  ([a-z]+) ", commands, flags=re.MULTILINE))
    listed = re.findall(r"^\| (?:stable|experimental) \| (.*) \|$", PAGE, flags=re.MULTILINE)
    compare([name for cell in listed for name in names(cell)], listed_commands, "the verbs")


COMMANDS = """\
profile codes.toml --counts 1 --repeat 1 -o runs.csv
plan runs.csv --codes codes.toml -o plan.json
run plan.json --codes codes.toml -o execution.json
solve packs runs.csv --max-tasks 1 -o plan.csv --algorithm sequential
compare packs runs.csv --max-tasks 1 --algorithms sequential -o table.csv
compare packs runs.csv --max-tasks 1 --algorithms sequential -o table.json
bound packs runs.csv --max-tasks 1 -o bound.json
when now.json --draws 2 --json
"""


def test_files(tmp_path, monkeypatch, capsys):
    """Each file of the page is written, and has the keys or columns that stand there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codes.toml").write_text(
        f"procs = 1\n[task.a]\ncommand = [{sys.executable!r}, '-c', 'pass']\ncounts = [1]\n"
    )
    cs.slurm.Snapshot.read(REPO / "notebooks" / "cluster" / "now.json").write("now.json")
    for line in COMMANDS.splitlines():
        capsys.readouterr()
        assert main(line.split()) == 0, line
    (tmp_path / "printed.json").write_text(capsys.readouterr().out)
    rows = re.findall(r"^\| (`\w+.*-o.*|`when --json`) \| (.*) \|$", PAGE, flags=re.MULTILINE)
    assert len(rows) == 8
    for written, keys in rows:
        suffixed = re.findall(r"([a-z]+)(\.json|\.csv)", written) or [("printed", ".json")]
        for suffix in {*re.findall(r"\.json|\.csv", written), suffixed[0][1]}:
            path = tmp_path / f"{suffixed[0][0]}{suffix}"
            if suffix == ".csv":
                written_names = next(csv.reader(path.open()))
            else:
                read = json.loads(path.read_text())
                written_names = read[0] if isinstance(read, list) else read
            assert not set(names(keys)) - set(written_names), path.name


@pytest.mark.parametrize(
    ("module", "old_name", "new_name"),
    [
        ("execution", "Job", "ScriptJob"),
        ("execution", "Step", "PlanStep"),
        ("dags", "Relaxation", "HlpRelaxation"),
    ],
)
def test_an_older_name_of_a_class_warns(module, old_name, new_name):
    package = getattr(cs, module)
    with pytest.warns(DeprecationWarning, match=f"cosched.{module}.{new_name}"):
        assert getattr(package, old_name) is getattr(package, new_name)
