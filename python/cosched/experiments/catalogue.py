"""All studies by name: those of the five papers, and a user's own."""

import ast
import math
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

from cosched import io
from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance, shorten
from cosched.experiments import bags, cluster, dags, ledger, measures, moldable, packs, tolerances
from cosched.experiments.bags import studies as bags_studies
from cosched.experiments.cluster import measures as cluster_measures, table_cells, traces
from cosched.experiments.dags import measures as dags_measures, studies as dags_studies
from cosched.experiments.ledger import Claim
from cosched.experiments.moldable import measures as moldable_measures
from cosched.experiments.packs import measures as packs_measures
from cosched.experiments.study import Study

#: name -> Study, in the order of the papers.
STUDIES: dict[str, Study] = {
    study.name: study
    for family in (packs, dags, cluster, moldable, bags)
    for study in family.STUDIES
}

#: Family -> what the formulas of its ``claims.toml`` may call beside what all may.
_MODULES = {
    "packs": (packs_measures,),
    "dags": (dags_studies, dags_measures),
    "cluster": (traces, table_cells, cluster_measures),
    "moldable": (moldable_measures,),
    "bags": (bags_studies,),
}


@cache
def claims() -> tuple[Claim, ...]:
    """Every claim of the papers, in their order."""
    return tuple(
        claim
        for name, modules in _MODULES.items()
        for claim in read_claims(Path(__file__).parent / name / "claims.toml", *modules)
    )


def claims_of(study: str) -> tuple[Claim, ...]:
    """The claims that a study answers."""
    return tuple(claim for claim in claims() if claim.study == study)


def find(name: str) -> Study:
    """The study of a name; ``"module:NAME"`` is one of the user's own.

    Examples
    --------
    >>> find("packs-fig2-5").family
    'packs'
    >>> find("packs-fig2")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: unknown study 'packs-fig2' (near: packs-fig2a, ...)
    """
    if not isinstance(name, str):
        raise InvalidInstance(f"study name {shorten(name)}: expected a text")
    if ":" not in name:
        if name not in STUDIES:
            raise InvalidInstance(unknown_name("study", name, STUDIES))
        return STUDIES[name]
    module, _, attribute = name.partition(":")
    try:
        study = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInstance(f"study {shorten(name)}: {error}") from None
    if not isinstance(study, Study):
        raise InvalidInstance(
            f"study {shorten(name)}: expected a Study, got {type(study).__name__}"
        )
    return study


#: Fields that are text, of which ``{name}`` takes the value of a name; and those that are formulas.
_TEXTS = ("paper", "study", "place", "text", "why", "cells")
_FORMULAS = ("ours", "agrees", "prepare", "reading")
_FIELDS = {*_TEXTS, *_FORMULAS, "value"}
#: What tells a formula from a text where both may stand.
_FORMULA = "= "
_NODES = (
    *(ast.Expression, ast.Call, ast.Name, ast.Load, ast.Constant, ast.Tuple, ast.List, ast.Starred),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.UnaryOp, ast.USub),
    *(ast.IfExp, ast.Compare, ast.Eq, ast.Subscript, ast.Slice, ast.JoinedStr, ast.FormattedValue),
)

Fields = Mapping[str, Any]


def read_claims(path: Path, *family: ModuleType) -> tuple[Claim, ...]:
    """The claims of a file, in its order; `family` has what its formulas may call of its paper's.

    A formula is a call of what the library of measures, the tolerances and `family` define, or
    arithmetic on such calls; anything else is a ValueError that names the file and the claim.
    """
    names: dict[str, Any] = {"exp": math.exp, "inf": math.inf}
    for module in (ledger, measures, tolerances, *family):
        names |= vars(module)
    data = io.parse_toml(io.read_text(path), str(path))
    for name, value in data.get("names", {}).items():
        names[name] = _value(value, names, f"{path}: names, {name}")
    shared = {key: value for key, value in data.items() if key in _FIELDS}
    claims: list[Claim] = []
    for number, entry in enumerate(data["claims"], 1):
        where = f"{path}: claims, entry {number}"
        claims += _claims(entry, shared, names, data.get("like", {}), where)
    return tuple(claims)


def _claims(
    entry: Fields, above: Fields, formula_names: Fields, like: Fields, where: str
) -> Iterator[Claim]:
    """Yield the claims of an entry for each value of its names: those of its rows, or its own."""
    fields = dict(above)
    for name in entry.get("like", "").split():
        if name not in like:
            raise ValueError(f"{where}: like {name!r}: expected one of {', '.join(like)}")
        fields |= like[name]
    fields |= {key: v for key, v in entry.items() if key not in ("like", "each", "rows")}
    for values in _each_of_axes(entry.get("each", {}), formula_names, where):
        names = {**formula_names, **values}
        if "rows" not in entry:
            yield _claim(fields, names, where)
        for row in entry.get("rows", ()):
            yield from _claims(row, fields, names, like, where)


def _each_of_axes(axes: Fields, formula_names: Fields, where: str) -> Iterator[dict[str, Any]]:
    """Yield values of names, every combination; ``"a, b"`` takes its two values from one list."""
    choices = []
    for key, axis in axes.items():
        names = key.split(", ")
        values = _value(axis, formula_names, where)
        rows = values if len(names) > 1 else ((value,) for value in values)
        choices.append([dict(zip(names, row, strict=True)) for row in rows])
    for combination in product(*choices):
        yield {name: value for part in combination for name, value in part.items()}


def _claim(fields: Fields, names: Fields, where: str) -> Claim:
    unknown = fields.keys() - _FIELDS
    if unknown:
        raise ValueError(f"{where}: unknown field {', '.join(sorted(unknown))}")
    texts = {key: _text(fields.get(key, ""), names, where) for key in _TEXTS}
    where = f"{where} ({texts['place']})"
    formulas = {key: _formula(fields[key], names, where) for key in _FORMULAS if fields.get(key)}
    ours = formulas.get("ours")
    return Claim(
        **texts,
        paper_value=_value(fields.get("value"), {**names, "ours": ours}, where),
        measure=ours,
        tolerance=formulas.get("agrees"),
        reading=formulas.get("reading"),
        prepare=formulas.get("prepare", ledger.unchanged_frame),
    )


def _text(text: str, names: Fields, where: str) -> str:
    if text.startswith(_FORMULA):
        return str(_value(text, names, where))
    try:
        return text.format(**names)
    except (KeyError, ValueError, IndexError) as error:
        raise ValueError(f"{where}: {text!r}: {error!r}") from None


def _value(value: object, names: Fields, where: str) -> Any:
    """Return a number, list or text as it stands, or what a formula gives."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return _formula(value.removeprefix(_FORMULA), names, where)
    return tuple(value) if isinstance(value, list) else value


def _formula(text: str, names: Fields, where: str) -> Any:
    try:
        tree = ast.parse(text, mode="eval")
        for node in ast.walk(tree):
            if not isinstance(node, _NODES):
                raise TypeError(f"a formula has no {type(node).__name__}")
        return eval(compile(tree, where, "eval"), {"__builtins__": {}}, dict(names))
    except (SyntaxError, NameError, TypeError, LookupError, ArithmeticError) as error:
        raise ValueError(f"{where}: {text!r}: {error}") from None
