"""``cosched slurm``: its commands, each imported when it is asked for."""

from importlib import import_module

import typer

from cosched.cli.on_demand import COMMANDS, made_on_demand

_ABOUT = {name: COMMANDS[f"slurm {name}"].about for name in ("check", "record", "trace")}


def _add(name: str, to: typer.Typer) -> None:
    run = getattr(import_module(f"cosched.cli.slurm_{name}"), name)
    options = import_module("cosched.cli.parameters")  # with it comes numpy
    to.command(name, help=COMMANDS[f"slurm {name}"].help)(options.in_groups(run))


app = typer.Typer(
    cls=made_on_demand(_ABOUT, _add, _ABOUT),
    help="Slurm's scheduler, reproduced: check it against recordings of real ones, and trace it.",
    no_args_is_help=True,
)


@app.callback()
def _nothing() -> None: ...


def add(to: typer.Typer, verb: str) -> None:
    """The group."""
    to.add_typer(app, name=verb)
