"""All studies by name: those of the five papers, and a user's own."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from cosched.core.text import unknown_name
from cosched.errors import shorten
from cosched.experiments import bags, cluster, dags, moldable, packs
from cosched.experiments.bags import measures as bags_measures
from cosched.experiments.claim_files import read_claims
from cosched.experiments.cluster import explanations, paper, sentences, table_cells, traces
from cosched.experiments.cluster import measures as cluster_measures
from cosched.experiments.dags import measures as dags_measures
from cosched.experiments.dags import theorems as dags_theorems
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
    "dags": (dags_theorems, dags_measures),
    "cluster": (traces, paper, table_cells, cluster_measures, explanations, sentences),
    "moldable": (moldable_measures,),
    "bags": (bags_measures,),
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

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> find("packs-fig2-5").family
    'packs'
    >>> find("packs-fig2")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: unknown study 'packs-fig2' (near: packs-fig2a, packs-fig2-5, ...)
    """
    if ":" not in name:
        if name not in STUDIES:
            raise ValueError(unknown_name("study", name, STUDIES))
        return STUDIES[name]
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"study {shorten(name)}: {error}") from None
    if not isinstance(found, Study):
        raise ValueError(f"study {shorten(name)}: expected a Study, got {type(found).__name__}")
    return found
