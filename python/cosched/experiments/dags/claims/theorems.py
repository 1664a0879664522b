"""Sections 3 to 5 of Amaris et al. 2017: the ratios of the theorems, reached on their families."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from cosched.experiments.dags.claims.offline import PAPER
from cosched.experiments.dags.theorems import plan
from cosched.experiments.ledger import Check, Claim
from cosched.experiments.tolerances import Tolerance, within

if TYPE_CHECKING:
    import pandas as pd

STUDY = "dags-theorems"
_WORDS = {
    "theorem 1": "HEFT is at least (m+k)/k^2 (1 - e^-k) from the optimum",
    "theorem 2": "HLP-EST, and any list (corollaries 1 and 2), reaches 6 - O(1/m): "
    "6 (2m-1) (m-1) / (m (2m+1))",
    "theorem 4": "ER-LS reaches sqrt(m/k)",
    "theorem 5": "QHLP-EST and QHLP-OLS reach Q (Q+1), which is tight",
}
_EXPLANATION = {
    "theorem 1": "The proof puts e^-k for (m/(m+k))^m, which tends to it from above.",
    "theorem 5": "The ratio is Q (Q+1) less a term in 1/m.",
}

#: The ratio of each theorem for (m, k, Q).
_RATIOS: dict[str, Callable[[int, int, int], float]] = {
    "theorem 1": lambda m, k, _: (m + k) / k**2 * (1 - math.exp(-k)),
    "theorem 2": lambda m, *_: 6 * (2 * m - 1) * (m - 1) / (m * (2 * m + 1)),
    "theorem 4": lambda m, k, _: math.sqrt(m / k),
    "theorem 5": lambda _, __, types: types * (types + 1.0),
}


def _at(theorem: str, m: int, k: int, types: int, frame: pd.DataFrame) -> float:
    rows = frame[(frame.theorem == theorem) & (frame.m == m) & (frame.k == k)]
    return float(rows[rows.types == types].ratio.iloc[0])


def _family(theorem: str, frame: pd.DataFrame) -> str:
    rows = frame[frame.theorem == theorem]
    return "ratio reached of the paper's: " + ", ".join(
        f"m {row.m}, k {row.k}, Q {row.types}: {row.ratio:.4f} of {row.paper_ratio:.4f}"
        for row in rows.itertuples()
    )


def _tolerance(theorem: str, m: int) -> Tolerance:
    if theorem in ("theorem 2", "theorem 4"):
        return within(1e-9, "the proof's own value")
    if theorem == "theorem 1":
        return within(0.1, "the limit of the proof's own expression")
    return within(4 / m, "it tends to the ratio as 1 - 4/m at least")


def _claims() -> Iterator[Claim]:
    for task in plan(False):
        theorem, m, k, types = (task[key] for key in ("theorem", "m", "k", "types"))
        if theorem == "theorem 5" and m < 16:
            continue
        yield Claim(
            paper=PAPER,
            place=f"{theorem.title()}, m = {m}, k = {k}, Q = {types}",
            text=_WORDS[theorem],
            study=STUDY,
            paper_value=_RATIOS[theorem](m, k, types),
            tolerance=_tolerance(theorem, m),
            measure=partial(_at, theorem, m, k, types),
            explanation=_EXPLANATION.get(theorem, ""),
            check=Check("family", (STUDY,), partial(_family, theorem)),
        )
    yield Claim(
        paper=PAPER,
        place="Theorem 3",
        text="ER-LS is at most 4 sqrt(m/k)-competitive",
        study=STUDY,
        paper_value="4 sqrt(m/k)",
        tolerance=None,
        explanation="a proof for all instances is not run; section 6.3 has a row on how far below "
        "the benchmark stays, tests hold it on random graphs",
    )


CLAIMS = (*_claims(),)
