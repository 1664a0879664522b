"""What a command imports before it does anything: seconds are these imports."""

import subprocess
import sys

import pytest

import cosched as cs
from cosched.cli import COMMANDS
from every_command import every_command

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


def test_the_help_of_a_command_imports_nothing_heavy():
    calls = "\n".join(
        f"assert main({[*path.split(), '--help']!r}) == 0" for path in every_command()
    )
    assert imported(f"from cosched.cli import main\n{calls}") == []


@pytest.mark.parametrize("path", every_command())
def test_the_list_says_what_each_command_says_of_itself(path):
    command = every_command()[path]
    assert command.help
    if path in COMMANDS:
        assert command.help.split("\n\n")[0].replace("\n", " ") == COMMANDS[path].about
