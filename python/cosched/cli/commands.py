"""One command a family under each verb, from the registry.

A family contributes its instance arguments, files that ``solve`` writes and pictures
(``Presentation.arguments``, ``outputs``, ``panels``).
"""

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import io
from cosched.cli.on_demand import VERBS, made_on_demand
from cosched.cli.parameters import asking_for, in_groups
from cosched.core import Output, Presentation
from cosched.registry import FAMILIES, presentation


def _parameter(name: str, type_: Any, declared: Any, **default: Any) -> inspect.Parameter:
    annotation = Annotated[type_, declared]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, **default)


def _parameters_of(of: Presentation, outputs: Sequence[Output]) -> list[inspect.Parameter]:
    """FILE, then the family's instance arguments and files."""
    file = typer.Argument(help=f"The {of.family.name} instance.", show_default=False)
    parameters = [_parameter("file", Path, file)]
    for argument in of.arguments:
        type_, default = (bool, False) if argument.parse is bool else (str | None, None)
        declared = typer.Option(argument.flag, help=argument.help)
        parameters.append(_parameter(argument.keyword, type_, declared, default=default))
    for out in outputs:
        declared = typer.Option(out.flag, help=out.help)
        parameters.append(_parameter(out.keyword, Path | None, declared, default=None))
    return parameters


def _example(verb: str, name: str) -> str:
    file, arguments, algorithm = presentation(name).example
    example = VERBS[verb].example
    return example.format(family=name, file=file, arguments=arguments, algorithm=algorithm)


def add(app: typer.Typer, verb: str, run: Callable[..., None]) -> None:
    """One command a family under `verb`."""
    about = VERBS[verb].about

    def add_family(name: str, to: typer.Typer) -> None:
        of = presentation(name)
        text = f"{about}\n\nExample: {_example(verb, name)}"
        if verb in ("solve", "compare"):
            text += f"\n\nAlgorithms: {of.spelling or ', '.join(of.family.algorithms)}"
        outputs = of.outputs if verb == "solve" else ()
        to.command(name, help=text)(command_of(of, run, outputs))

    group = typer.Typer(
        cls=made_on_demand(FAMILIES, add_family),
        help=f"{about}\n\nExample: {_example(verb, FAMILIES[0])}",
        no_args_is_help=True,
    )

    @group.callback()
    def _nothing() -> None: ...

    app.add_typer(group, name=verb)


def adds_of_cluster(**commands: Callable[..., None]) -> Callable[[typer.Typer, str], None]:
    """As ``parameters.adds``, of verbs about a log: with the arguments of cluster."""

    def add_one(app: typer.Typer, verb: str) -> None:
        run = command_of(presentation("cluster"), commands[verb])
        app.command(verb, help=VERBS[verb].help)(run)

    return add_one


def command_of(
    of: Presentation, run: Callable[..., None], outputs: Sequence[Output] = ()
) -> Callable[..., None]:
    """`run` with the family's parameters before its own."""
    keywords = [argument.keyword for argument in of.arguments] + [out.keyword for out in outputs]
    grouped = in_groups(partial(run, of), "file", "arguments")
    size = typer.Option("--max-bytes", help="Read files of up to this size, unpacked, such as 2GB.")
    parameters = [
        *_parameters_of(of, outputs),
        *inspect.signature(grouped).parameters.values(),
        _parameter("max_bytes", str | None, size, default=None),
    ]

    def command(**arguments: Any) -> None:
        own_of_family = {key: arguments.pop(key) for key in keywords}
        with io.max_bytes(arguments.pop("max_bytes")):
            grouped(arguments=own_of_family, **arguments)

    return asking_for(parameters, command)
