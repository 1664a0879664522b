"""What the page of dags-transfers says beside its tables; numbers are of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosched.experiments.dags.transfers import BLIND, BOUNDS, MACHINE, wide_table

if TYPE_CHECKING:
    import pandas as pd

_PLAIN = ("heft", "peft")
_BLIND_TYPES = ("hlp-ols", "hlp-est", "er-ls", "greedy")


def of_transfers(frame: pd.DataFrame) -> list[str]:
    """What ignoring data costs, who is ahead at which ratio, what the bounds prove."""
    wide = wide_table(frame)
    at = {ratio: wide[wide.ccr == ratio] for ratio in wide.ccr.cat.categories}
    blind = "; ".join(_blind(ratio, rows) for ratio, rows in at.items())
    at.pop(MACHINE, None)
    ahead = "; ".join(f"{ratio}: {_ahead(rows)}" for ratio, rows in at.items())
    types = "; ".join(f"{ratio}: {_types(rows)}" for ratio, rows in at.items())
    search = ", ".join(f"{_search(rows):.1%} at {ratio}" for ratio, rows in at.items())
    proved = "; ".join(
        f"`{name}` "
        + ", ".join(
            f"{(rows[name] / rows['hlp-best']).mean():.1%} at {ratio}" for ratio, rows in at.items()
        )
        for name in BOUNDS
    )
    return [
        f"HEFT that ignores data over HEFT that counts it: {blind}.",
        "Mean makespan over the bound, the best of the heuristics without search by ratio: "
        f"{ahead}.",
        "Roundings and rules that choose types without regard to data, over HEFT, least and "
        f"greatest mean: {types}.",
        f"`hlp-best` below the better of HEFT and PEFT, on average: {search}.",
        f"The bounds as shares of `hlp-best`'s makespan, on average: {proved}.",
        "What stays loose, and why: "
        "[When is *LP*\\* loose, and what helps](../explanation/when-lp-is-loose.md).",
    ]


def _blind(ratio: str, rows: pd.DataFrame) -> str:
    cost = rows[BLIND] / rows["heft"]
    where = "on the machine's own links" if ratio == MACHINE else f"at a ratio of {ratio}"
    return f"{where} {cost.mean():.3g} times on average, {cost.max():.3g} at most"


def _ahead(rows: pd.DataFrame) -> str:
    others = ("source", "graph", "memories", "ccr", *BOUNDS, "hlp-best", BLIND)
    first = rows[rows.columns.drop(list(others))].div(rows.transfers, axis=0).mean().nsmallest(3)
    return ", ".join(f"{name} {value:.3f}" for name, value in first.items())


def _types(rows: pd.DataFrame) -> str:
    means = [(rows[name] / rows["heft"]).mean() for name in _BLIND_TYPES]
    return f"{min(means):.2f} to {max(means):.2f}"


def _search(rows: pd.DataFrame) -> float:
    return 1 - (rows["hlp-best"] / rows[list(_PLAIN)].min(axis=1)).mean()
