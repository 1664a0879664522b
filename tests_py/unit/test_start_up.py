"""What a command imports before it does anything: seconds are these imports."""

import subprocess
import sys

import click
import pytest
from typer.main import get_command

from cosched.cli import _ABOUT, _MODULES, app

HEAVY = ("numpy", "pandas", "matplotlib", "scipy", "rich", "cosched._core")


def imported(program):
    """Which of the heavy ones a fresh interpreter has after this."""
    code = f"import sys\n{program}\nprint(*(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments):
    assert imported(f"from cosched.cli import main\nmain({arguments!r})") == []


def test_the_package_imports_nothing_heavy():
    assert imported("import cosched\ncosched.InvalidInstance") == []
    assert "numpy" in imported("import cosched\ncosched.Result")


def test_the_list_says_what_each_verb_says_of_itself():
    group = get_command(app)
    context = click.Context(group)
    own = {}
    for verb in _MODULES:
        text = group.get_command(context, verb).help
        own[verb] = " ".join(text.split("\n\n")[0].split())
    assert own == _ABOUT
