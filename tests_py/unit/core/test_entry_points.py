"""Algorithms and policies that an installed package offers by entry points."""

import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import cosched as cs
from cosched.core import installed
from cosched.errors import IncompleteInstallation

OWN_ENTRY_POINTS = [
    point
    for point in importlib.metadata.distribution("cosched-hpc").entry_points
    if point.group.startswith("cosched.")
]

TOML = """
[build-system]
requires = ["scikit-build-core"]  # which the tests have
build-backend = "scikit_build_core.build"

[project]
name = "somebodys"
version = "1.0"

[project.entry-points."cosched.algorithms"]
"packs.in-order" = "somebodys:in_order"
"packs.optimal" = "somebodys:in_order"
"packs.broken" = "somebodys.nowhere:function"
"packs.leaves" = "somebodys.leaving:function"
"moldable.in-order" = "somebodys:too_few"

[project.entry-points."cosched.policies"]
"one at a time" = "somebodys:OneAtATime"

[tool.scikit-build]
wheel.cmake = false
wheel.packages = ["somebodys"]
"""
MODULE = """
import numpy as np
import cosched as cs


def in_order(instance, *, seed):
    return cs.packs.co_schedule(instance, np.arange(instance.tasks) // instance.max_tasks)


too_few = "not a function"


class OneAtATime:
    def on_event(self, event, state):
        first = min(state.jobs, default=None)
        return {} if first is None else {first: (range(state.jobs[first].tasks), 1.0)}
"""
LOG = "submit,tasks,cpu,memory,runtime\n0,2,1,1,20\n0,1,1,1,30\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A package of somebody else's, built and installed, and two instances."""
    source = tmp_path_factory.mktemp("source")
    (source / "pyproject.toml").write_text(TOML)
    (source / "somebodys").mkdir()
    (source / "somebodys" / "__init__.py").write_text(MODULE)
    (source / "somebodys" / "leaving.py").write_text("raise SystemExit(3)\n")
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation",
         "--no-index", "--target", folder / "site", source],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    (folder / "times.csv").write_text("task,1,2\na,4,2\nb,3,2\nc,5,4\n")
    (folder / "log.csv").write_text(LOG)
    return folder


def run(folder, *arguments, code=0, site=True):
    """What ``cosched ARGUMENTS`` prints, with the package installed or not."""
    environment = {**os.environ, "COLUMNS": "300"}
    if site:
        environment["PYTHONPATH"] = str(folder / "site")
    process = subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True, text=True, cwd=folder, env=environment,
    )  # fmt: skip
    assert process.returncode == code, process.stderr
    return process.stdout + process.stderr


def python(folder, program, **options):
    (folder / "program.py").write_text(program)
    return run(folder, "program", **options)


def test_the_command_line_finds_them(folder):
    run(folder, "cosched", "solve", "packs", "times.csv", "--algorithm", "in-order", "-o", "p.json")
    assert json.loads((folder / "p.json").read_text())["algorithm"] == "in-order"
    output = run(
        folder, "cosched", "compare", "packs", "times.csv", "--algorithms", "in-order", "pairs"
    )
    assert "in-order" in output
    output = run(folder, "cosched", "compare", "cluster", "log.csv", "--nodes", "2",
               "--policies", "one at a time", "EASY")  # fmt: skip
    assert "one at a time" in output


def test_python_finds_them_when_asked(folder):
    output = python(
        folder,
        "import sys\nimport cosched as cs\n"
        "inst = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]])\n"
        "assert 'somebodys' not in sys.modules\n"
        "print(cs.packs.solve(inst, 'in-order').algorithm)\n"
        "print('in-order' in cs.packs.ALGORITHMS, 'somebodys' in sys.modules)\n",
    )
    assert output.split() == ["in-order", "True", "True"]


def test_the_table_and_the_comparison_have_them_before_they_are_imported(folder):
    output = python(
        folder,
        "import sys\nimport cosched as cs\n"
        "print('in-order' in cs.packs.ALGORITHMS, list(cs.packs.ALGORITHMS)[-3:])\n"
        "function = cs.packs.ALGORITHMS['in-order']\n"
        "print('somebodys' in sys.modules)\n"
        "inst = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]])\n"
        "table = cs.packs.compare(inst).set_index('algorithm').status\n"
        "print(table['in-order'], table['broken'], table['sequential'])\n"
        "print(type(function(inst, seed=0)).__name__)\n"
        "print('one at a time' in cs.cluster.ALGORITHMS)\n",
    )
    assert output.splitlines() == [
        "True ['in-order', 'broken', 'leaves']",
        "False",
        "ok error ok",
        "Result",
        "True",
    ]


def test_the_layers_of_the_package_itself_offer_algorithms_that_stay():
    algorithms = cs.cluster.ALGORITHMS
    assert "slurm-backfill" in algorithms
    assert algorithms["slurm-backfill"] is cs.slurm.backfill
    assert "slurm-backfill" not in cs.cluster.FAMILY.registered
    with pytest.raises(cs.InvalidInstance, match="built-in algorithm 'slurm-backfill'"):
        cs.register("cluster", "slurm-backfill", lambda instance, *, seed: None)


def test_a_cleared_table_keeps_what_is_built_in(own_algorithm):
    names = list(cs.packs.ALGORITHMS)
    own_algorithm("packs", "mine", lambda instance, *, seed: None)
    assert list(cs.packs.ALGORITHMS) == [*names, "mine"]
    cs.packs.ALGORITHMS.clear()
    assert list(cs.packs.ALGORITHMS) == names
    with pytest.raises(KeyError):
        del cs.packs.ALGORITHMS["optimal"]


@pytest.mark.parametrize("point", OWN_ENTRY_POINTS, ids=lambda point: f"{point.group} {point.name}")
def test_each_entry_point_of_the_package_can_be_imported(point):
    assert point.load() is not None


def test_a_family_is_imported_without_reading_metadata(folder):
    lines = python(
        folder,
        "import cosched as cs\n"
        "from cosched.core import installed\n"
        "list(cs.cluster.ALGORITHMS.of_family)\n"
        "print(installed.package_entry_points.cache_info().misses)\n"
        "print('slurm-backfill' in cs.cluster.ALGORITHMS)\n"
        "print(installed.package_entry_points.cache_info().misses)\n",
    ).splitlines()
    assert lines == ["0", "True", "1"]


def test_each_writer_of_a_report_is_offered_by_the_layer_of_reports():
    writers = installed.package_entry_points(installed.REPORT_WRITERS)
    assert set(writers) == {"audit", "execution", "rightsize", "tune"}
    assert all(point.value.startswith("cosched.reports.") for point in writers.values())


def test_a_writer_that_the_metadata_lack_is_named():
    with pytest.raises(
        IncompleteInstallation, match=r"no entry point poem of cosched\.report_writers"
    ):
        installed.call_report_writer("poem")


def test_layers_below_do_not_name_the_package_of_reports():
    package = pathlib.Path(cs.__file__).parent
    upper_layers = ("reports", "cli")
    naming_files = [
        path
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in upper_layers
        and re.search(r"[\"\s]cosched\.reports\.", path.read_text())
    ]
    assert naming_files == []


@pytest.mark.parametrize(
    "name", ["Snapshot", "Tuned", "backtest", "slurm_backfill", "tune", "when"]
)
def test_names_that_moved_to_slurm_warn(name):
    new_name = "backfill" if name == "slurm_backfill" else name
    with pytest.warns(DeprecationWarning, match=f"cosched.slurm.{new_name}"):
        assert getattr(cs.cluster, name) is getattr(cs.slurm, new_name)


def test_built_in_names_stay(folder):
    output = python(
        folder,
        "import sys\nimport cosched as cs\n"
        "inst = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]])\n"
        "print(cs.packs.solve(inst, 'optimal').metrics()['stopped_by'])\n"
        "print('somebodys' in sys.modules)\n",
    )
    assert output.split() == ["proved", "False"]


@pytest.mark.parametrize(
    ("family", "name", "value", "why"),
    [
        ("packs", "broken", "somebodys.nowhere:function", "ModuleNotFoundError: No module"),
        ("packs", "leaves", "somebodys.leaving:function", "SystemExit: 3"),
        ("moldable", "in-order", "somebodys:too_few", "expected a function, got str"),
    ],
)
def test_a_broken_one_is_named(folder, family, name, value, why):
    output = run(folder, "cosched", "solve", family, "times.csv", "--algorithm", name, code=2)
    (line,) = output.strip().splitlines()
    assert f"{name} of the installed package somebodys: {value} cannot be used: " in line
    assert why in line


def test_a_broken_one_does_not_lose_the_other_rows(folder):
    output = run(
        folder, "cosched", "compare", "packs", "times.csv", "--algorithms", "pairs", "broken"
    )
    assert "pairs" in output
    assert "broken: error: " in output
    assert "somebodys.nowhere:function cannot be used" in output


def test_a_name_that_is_missing_is_chosen_from_all(folder):
    output = run(folder, "cosched", "solve", "packs", "times.csv", code=2)
    assert output.rstrip().endswith("local-search, in-order, broken, leaves")
    output = run(folder, "cosched", "solve", "cluster", "log.csv", "--nodes", "2", code=2)
    assert output.rstrip().endswith(", one at a time")


def test_an_unknown_name_is_told_what_is_near(folder):
    output = run(
        folder, "cosched", "solve", "packs", "times.csv", "--algorithm", "in-ordre", code=2
    )
    assert "near: in-order" in output
    output = run(folder, "cosched", "solve", "packs", "times.csv", "--algorithm", "in-order",
               code=2, site=False)  # fmt: skip
    assert "unknown packs algorithm 'in-order'" in output
