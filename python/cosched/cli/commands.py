"""One command a family under each verb, from the registry.

A family contributes its instance arguments, files that ``solve`` writes and pictures
(``Presentation.arguments``, ``outputs``, ``panels``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import io
from cosched.cli.arguments import Arguments
from cosched.cli.on_demand import VERBS, made_on_demand
from cosched.core import Output, Presentation
from cosched.registry import FAMILIES, presentation


def _parameter(name: str, type_: Any, declared: Any, **default: Any) -> inspect.Parameter:
    annotation = Annotated[type_, declared]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, **default)


def _parameters_of(of: Presentation, outputs: Sequence[Output]) -> list[inspect.Parameter]:
    """FILE, then the family's instance arguments and files."""
    file = typer.Argument(help=f"The {of.family.name} instance.", show_default=False)
    found = [_parameter("file", Path, file)]
    for argument in of.arguments:
        type_, default = (bool, False) if argument.parse is bool else (str | None, None)
        declared = typer.Option(argument.flag, help=argument.help)
        found.append(_parameter(argument.keyword, type_, declared, default=default))
    for out in outputs:
        declared = typer.Option(out.flag, help=out.help)
        found.append(_parameter(out.keyword, Path | None, declared, default=None))
    return found


def _example(verb: str, name: str) -> str:
    file, arguments, algorithm = presentation(name).example
    said = VERBS[verb].example
    return said.format(family=name, file=file, arguments=arguments, algorithm=algorithm)


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


def command_of(
    of: Presentation, run: Callable[..., None], outputs: Sequence[Output] = ()
) -> Callable[..., None]:
    """`run` with the family's parameters before its own."""
    keywords = [argument.keyword for argument in of.arguments] + [out.keyword for out in outputs]
    grouped = in_groups(partial(run, of))
    own = inspect.signature(grouped).parameters.values()
    size = typer.Option("--max-bytes", help="Read files of up to this size, unpacked, such as 2GB.")
    parameters = [
        *_parameters_of(of, outputs),
        *(p for p in own if p.name not in ("file", "given")),
        _parameter("max_bytes", str | None, size, default=None),
    ]

    def command(**given: Any) -> None:
        own_of_family = {key: given.pop(key) for key in keywords}
        with io.max_bytes(given.pop("max_bytes")):
            grouped(given=own_of_family, **given)

    return _asking_for(parameters, command)


def in_groups(run: Callable[..., None]) -> Callable[..., None]:
    """`run` with a parameter for each field of the dataclasses, and for each of the arguments of
    functions, that it takes."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for parameter in inspect.signature(run, eval_str=True).parameters.values():
        group: Any = parameter.annotation
        (metadata,) = getattr(group, "__metadata__", (None,))
        fields = [parameter]
        if isinstance(metadata, Arguments):
            fields, group = metadata.parameters(), metadata.values
        elif isinstance(group, type) and is_dataclass(group):
            fields = list(inspect.signature(group, eval_str=True).parameters.values())
        if fields != [parameter]:
            groups[parameter.name] = (group, [each.name for each in fields])
        parameters += [each.replace(kind=parameter.KEYWORD_ONLY) for each in fields]

    def command(**given: Any) -> None:
        made = {
            name: group(**{key: given.pop(key) for key in keys})
            for name, (group, keys) in groups.items()
        }
        run(**given, **made)

    return _asking_for(parameters, command)


def _asking_for(
    parameters: Sequence[inspect.Parameter], command: Callable[..., None]
) -> Callable[..., None]:
    """typer reads parameters off a signature, and has no public way to add one."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command
