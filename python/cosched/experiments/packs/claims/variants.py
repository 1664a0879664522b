"""Section 5's last paragraph: variants that the paper leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from cosched.experiments.ledger import Check, Claim
from cosched.experiments.packs import variants
from cosched.experiments.packs.claims.sentences import PAPER, WORKLOADS
from cosched.experiments.tolerances import at_least, between

if TYPE_CHECKING:
    import pandas as pd

STUDY = "packs-variants"


def _variant(workload: str, name: str, column: str, found: Any) -> float:
    return float(found.loc[(workload, name), column])


def _beside(frame: pd.DataFrame) -> pd.DataFrame:
    return variants.beside(frame).set_index(["workload", "variant"])


def _all_variants(found: Any) -> str:
    return "; ".join(
        f"{workload}, {name} over {row['instead of']}: {row.gain:+.2%} on average "
        f"({row.least:+.2%} to {row.greatest:+.2%}), {row['times longer']:.3g} times as long"
        for (workload, name), row in found.iterrows()
    )


def _variants() -> Iterator[Claim]:
    check = Check("variants", (STUDY,), _all_variants, _beside)
    little = between(
        -0.02, 0.02, "very little, negligible: less than two per cent either way", (-0.1, 0.1)
    )
    longer = at_least(3, "much higher: three times at least", order=1)
    for workload, title in WORKLOADS.items():
        for _, names in variants.OF.items():
            for name in names:
                runs = name.endswith(str(variants.MANY))
                words = (
                    "more runs gain a negligible performance (their number is lost, 99 here)"
                    if runs
                    else "a dynamic programme that chooses the packs improves very little"
                )
                for column, value, tolerance, what in (
                    ("gain", "very little", little, f"mean gain of {name}"),
                    ("times longer", "much higher", longer, f"run time of {name} over nine runs'"),
                ):
                    said = words if column == "gain" else "... at much higher running time"
                    yield Claim(
                        paper=PAPER,
                        place=f"section 5, {title}",
                        text=f"{said}: {what}",
                        study=STUDY,
                        paper_value=value,
                        tolerance=tolerance,
                        measure=partial(_variant, workload, name, column),
                        prepare=_beside,
                        explanation="The paper has no numbers, and weighs gains against times.",
                        check=check,
                    )


CLAIMS = (*_variants(),)
