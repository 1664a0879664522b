"""What a command imports before it does anything: seconds are these imports."""

import subprocess
import sys

import click
import pytest
from typer.main import get_command

import cosched as cs
from cosched.cli import VERBS, app, slurm

HEAVY = ("numpy", "pandas", "matplotlib", "scipy", "rich", "cosched._core")
#: What a run needs only when it plans anew, draws, or is watched.
OF_A_RUN = (*HEAVY[1:-1], "numpy.ma", "cosched.moldable", "cosched.packs", "cosched.plot")


def imported(program, heavy=HEAVY):
    """Which of the heavy ones a fresh interpreter has after this."""
    code = f"import sys\n{program}\nprint(*(m for m in {heavy!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments):
    dry_run = f"from cosched.cli import main\nassert main({arguments!r}) == 0"
    assert imported(dry_run, OF_A_RUN) == []


def test_the_package_imports_nothing_heavy():
    assert imported("import cosched\ncosched.InvalidInstance") == []
    assert "numpy" in imported("import cosched\ncosched.Result")


def test_a_dry_run_imports_no_planner(tmp_path):
    codes, plan = tmp_path / "codes.toml", tmp_path / "plan.json"
    codes.write_text('procs = 1\n[task.a]\ncommand = "true"\n')
    table = cs.packs.Instance([[1.0]], max_tasks=1, names=["a"])
    cs.io.write_json(cs.packs.solve(table, "pack-by-pack-9").to_dict(), plan)
    arguments = ["run", str(plan), "--codes", str(codes), "--dry-run"]
    assert (
        imported(f"from cosched.cli import main\nassert main({arguments!r}) == 0", OF_A_RUN) == []
    )


_ABOUT = {verb: said.about for verb, said in VERBS.items()}


@pytest.mark.parametrize(("app", "about"), [(app, _ABOUT), (slurm.app, slurm._ABOUT)])
def test_the_list_says_what_each_verb_says_of_itself(app, about):
    group = get_command(app)
    context = click.Context(group)
    own = {}
    for verb in about:
        text = group.get_command(context, verb).help
        own[verb] = " ".join(text.split("\n\n")[0].split())
    assert own == about
