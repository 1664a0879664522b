"""``cosched slurm``: its commands, each imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

import typer

from cosched.cli.on_demand import made_on_demand

#: What ``--help`` says of each; a test compares it with the command's own help.
_ABOUT = {
    "check": "Job by job, and plan by plan: where the twin agrees with a real Slurm.",
    "record": "Run jobs on a real Slurm of your own on this host, and record what it does.",
}


def _add(name: str, to: typer.Typer) -> None:
    import_module(f"cosched.cli.slurm_{name}").add(to)


app = typer.Typer(
    cls=made_on_demand(_ABOUT, _add, _ABOUT),
    help="Slurm's scheduler, reproduced: check it against recordings of real ones.",
    no_args_is_help=True,
)


@app.callback()
def _nothing() -> None: ...


def add(to: typer.Typer) -> None:
    """The commands of this file."""
    to.add_typer(app, name="slurm")
