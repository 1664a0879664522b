"""All studies by name: those of the five papers, and a user's own."""

from __future__ import annotations

from importlib import import_module

from cosched.core.text import unknown_name
from cosched.errors import shorten
from cosched.experiments import bags, cluster, dags, moldable, packs
from cosched.experiments.bags import claims as bags_claims
from cosched.experiments.cluster import claims as cluster_claims
from cosched.experiments.dags import claims as dags_claims
from cosched.experiments.ledger import Claim
from cosched.experiments.moldable import claims as moldable_claims
from cosched.experiments.packs import claims as packs_claims
from cosched.experiments.study import Study

#: name -> Study, in the order of the papers.
STUDIES: dict[str, Study] = {
    study.name: study
    for family in (packs, dags, cluster, moldable, bags)
    for study in family.STUDIES
}

#: Every claim of the papers, in their order.
CLAIMS: tuple[Claim, ...] = (
    *packs_claims.CLAIMS,
    *dags_claims.CLAIMS,
    *cluster_claims.CLAIMS,
    *moldable_claims.CLAIMS,
    *bags_claims.CLAIMS,
)


def claims_of(study: str) -> tuple[Claim, ...]:
    """The claims that a study answers."""
    return tuple(claim for claim in CLAIMS if claim.study == study)


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
