"""The page of stable names is of this package: every public name stands there, once."""

import re

import pytest

import cosched as cs
from cosched.cli import main
from cosched.registry import FAMILIES
from support import REPO

PAGE = (REPO / "docs" / "reference" / "stable.md").read_text()
MODULES = re.findall(r"^\| `cosched\.(\w+)` \| (.*) \| (.*) \|$", PAGE, flags=re.MULTILINE)
OF_CLUSTER = {"FCFS", "EASY", "conservative", "slurm-backfill", "as-logged"}


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def test_every_module_is_there():
    modules = {
        name for name in cs.__all__ if name.islower() and name not in ("register", "time_limit")
    }
    assert sorted(name for name, *_ in MODULES) == sorted(modules - {"__version__"})


@pytest.mark.parametrize(("module", "stable", "experimental"), MODULES)
def test_names_of_a_module(module, stable, experimental):
    listed = names(stable) + names(experimental)
    assert sorted(listed) == sorted(getattr(cs, module).__all__)
    for name in listed:
        assert hasattr(getattr(cs, module), name)


@pytest.mark.parametrize("family", FAMILIES)
def test_algorithms_and_bounds(family):
    (row,) = re.findall(rf"^\| {family} \| (.*) \| (.*) \|$", PAGE, flags=re.MULTILINE)
    module = getattr(cs, family)
    algorithms = set(module.ALGORITHMS) - module.FAMILY.registered
    if family == "cluster":  # and the 116 of the paper
        assert len(algorithms - OF_CLUSTER) == 116
        algorithms &= OF_CLUSTER
    assert set(names(row[0])) == algorithms
    assert set(names(row[1])) == set(module.BOUNDS)


def test_verbs(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["--help"]) == 0
    shown = set(re.findall(r"^│ ([a-z]+) ", capsys.readouterr().out, flags=re.MULTILINE))
    listed = re.findall(r"^\| (?:stable|experimental) \| (.*) \|$", PAGE, flags=re.MULTILINE)
    assert {name for cell in listed for name in names(cell)} == shown
