"""One command a family under each verb, from the registry.

A family contributes its instance arguments, files that ``solve`` writes and pictures
(``Family.arguments``, ``outputs``, ``panels``).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from cosched import io
from cosched.core import Family, Output
from cosched.core.text import printable
from cosched.registry import FAMILIES, family

EXAMPLES = {
    "solve": "cosched solve {family} {file} {arguments} --algorithm {algorithm} -o plan.json",
    "compare": "cosched compare {family} {file} {arguments} --plot best.png -o table.md",
    "bound": "cosched bound {family} {file} {arguments}",
    "validate": "cosched validate {family} {file} plan.json {arguments}",
    "generate": "cosched generate packs_ii --seed 1 -o times.csv",
    "fetch": "cosched fetch HPC2N-2002 --out logs",
}


def parameters_of(
    of: Family, own: Sequence[inspect.Parameter], outputs: Sequence[Output]
) -> list[inspect.Parameter]:
    """FILE, the family's instance arguments and files, then the verb's own parameters."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    file = Annotated[Path, typer.Argument(help=f"The {of.name} instance.", show_default=False)]
    found = [inspect.Parameter("file", keyword, annotation=file)]
    for argument in of.arguments:
        if argument.parse is bool:
            annotation: Any = Annotated[bool, typer.Option(argument.flag, help=argument.help)]
            default: Any = False
        else:
            annotation = Annotated[str | None, typer.Option(argument.flag, help=argument.help)]
            default = None
        found.append(
            inspect.Parameter(argument.keyword, keyword, default=default, annotation=annotation)
        )
    for out in outputs:
        annotation = Annotated[Path | None, typer.Option(out.flag, help=out.help)]
        found.append(inspect.Parameter(out.keyword, keyword, default=None, annotation=annotation))
    size = Annotated[
        str | None,
        typer.Option("--max-bytes", help="Read files of up to this size, unpacked, such as 2GB."),
    ]
    limit = inspect.Parameter("max_bytes", keyword, default=None, annotation=size)
    return [*found, *own, limit]


def _example(verb: str, name: str) -> str:
    file, arguments, algorithm = family(name).example
    return EXAMPLES[verb].format(family=name, file=file, arguments=arguments, algorithm=algorithm)


def on_demand(names: Collection[str], add: Callable[[str, typer.Typer], None]) -> type[TyperGroup]:
    """A group of these commands, of which ``add(name, app)`` makes one when it is asked for."""

    class OnDemand(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return list(names)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name not in self.commands:
                # Of an unknown name all are made: the message lists near ones.
                for name in [cmd_name] if cmd_name in names else names:
                    app = typer.Typer()
                    add(name, app)
                    self.commands.update(get_group(app).commands)
            return super().get_command(ctx, cmd_name)

    return OnDemand


def add(app: typer.Typer, verb: str, run: Callable[..., None], help_text: str) -> None:
    """One command a family under `verb`."""
    signature = inspect.signature(run, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]

    def add_family(name: str, to: typer.Typer) -> None:
        to.command(name)(_command(name, verb, run, help_text, own))

    group = typer.Typer(
        cls=on_demand(FAMILIES, add_family),
        help=f"{help_text}\n\nExample: {_example(verb, FAMILIES[0])}",
        no_args_is_help=True,
    )

    @group.callback()
    def _nothing() -> None: ...

    app.add_typer(group, name=verb)


def _command(
    name: str,
    verb: str,
    run: Callable[..., None],
    help_text: str,
    own: Sequence[inspect.Parameter],
) -> Callable[..., None]:
    """The function of a verb for a family, with the parameters that typer asks it for."""
    of = family(name)
    keywords = {argument.keyword for argument in of.arguments}
    keywords |= {out.keyword for out in of.outputs}

    def command(**given: Any) -> None:
        own_of_family = {key: given.pop(key) for key in list(given) if key in keywords}
        try:
            with io.max_bytes(given.pop("max_bytes")):
                run(of, given.pop("file"), own_of_family, **given)
        except KeyboardInterrupt as stop:  # typer would end without a word
            said = f"cosched: {stop}" if str(stop) else "cosched: interrupted"
            print(printable(said), file=sys.stderr)
            raise typer.Exit(130) from None

    parameters = parameters_of(of, own, of.outputs if verb == "solve" else ())
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    command.__doc__ = f"{help_text}\n\nExample: {_example(verb, name)}"
    if verb in ("solve", "compare"):
        known = of.spelling or ", ".join(of.algorithms)
        command.__doc__ += f"\n\nAlgorithms: {known}"
    return command
