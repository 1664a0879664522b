"""A report without the names of users, accounts and groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.notes import Note
from cosched.reports.document import Block, Figure, KeyFigure, Lines, Paragraph, Report, Table

#: Columns of a log whose values are names.
_COLUMNS = ("user", "account", "group")
#: Text between the tags of a drawing.
_TEXT_OF_SVG = re.compile(r">([^<]+)<")


def anonymous_names(instance: Instance) -> dict[str, str]:
    """Return ``user 1``, ``account 1``, ... for each name, in the order of core-hours.

    Examples
    --------
    >>> jobs = cs.workloads.lublin(3, 4, seed=1).assign(user=["ada", "bob", "ada"])
    >>> sorted(anonymous_names(cs.cluster.Instance(jobs, 4)).values())
    ['user1', 'user2']
    """
    work = instance.column("runtime") * instance.column("tasks")
    names: dict[str, str] = {}
    for column in _COLUMNS:
        if column not in instance.column_names:
            continue
        texts = instance.column(column).astype(str)
        unique_names, places = np.unique(texts, return_inverse=True)
        order = np.argsort(-np.bincount(places, weights=work), kind="stable")
        for number, place in enumerate(order.tolist(), 1):
            names.setdefault(str(unique_names[place]), f"{column}{number}")
    names.pop("", None)
    return names


def anonymous_report(report: Report, names: Mapping[str, str]) -> Report:
    """Return the report with other names in its sentences, tables and figures."""
    if not names:
        return report
    rename = _renaming(names)
    return replace(
        report,
        lead=rename(report.lead),
        key_figures=tuple(_anonymous_figure(figure, rename) for figure in report.key_figures),
        sections=tuple(
            replace(
                section,
                heading=rename(section.heading),
                blocks=tuple(_anonymous_block(block, rename) for block in section.blocks),
            )
            for section in report.sections
        ),
        notes=tuple(_anonymous_note(note, rename) for note in report.notes),
    )


def anonymous_values(values: Any, names: Mapping[str, str]) -> Any:
    """Return plain data with other names in its texts."""
    return _anonymous_value(values, _renaming(names)) if names else values


def _renaming(names: Mapping[str, str]) -> Callable[[str], str]:
    # The longest name first: one name may be the begin of another.
    alternatives = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w-])")
    return lambda text: pattern.sub(lambda match: names[match[0]], text)


def _anonymous_note(note: Note, rename: Callable[[str], str]) -> Note:
    return Note(
        note.kind,
        rename(note.text),
        subject=rename(note.subject),
        count=note.count,
        where=rename(note.where),
    )


def _anonymous_figure(figure: KeyFigure, rename: Callable[[str], str]) -> KeyFigure:
    return replace(figure, remark=rename(figure.remark))


def _anonymous_block(block: Block, rename: Callable[[str], str]) -> Block:
    if isinstance(block, Table):
        return replace(
            block,
            title=rename(block.title),
            note=rename(block.note),
            rows=tuple(_anonymous_row(row, rename) for row in block.rows),
        )
    if isinstance(block, (Paragraph, Lines)):
        return replace(block, text=rename(block.text))
    if isinstance(block, Figure):
        svg = _TEXT_OF_SVG.sub(lambda match: f">{rename(match[1])}<", block.svg)
        return replace(block, svg=svg)
    return block


def _anonymous_row(row: Iterable[Any], rename: Callable[[str], str]) -> tuple[Any, ...]:
    return tuple(rename(value) if isinstance(value, str) else value for value in row)


def _anonymous_value(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return rename(value)
    if isinstance(value, Mapping):
        return {key: _anonymous_value(member, rename) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_anonymous_value(member, rename) for member in value]
    return value
