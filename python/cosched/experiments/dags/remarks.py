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
    ratios = [ratio for ratio in wide.ccr.cat.categories if ratio != MACHINE]
    return [
        "HEFT that ignores data over HEFT that counts it: " + _blind(wide) + ".",
        "Mean makespan over the bound, the best of the heuristics without search by ratio: "
        + _ahead(wide, ratios)
        + ".",
        "Roundings and rules that choose types without regard to data, over HEFT, least and "
        "greatest mean: " + _types(wide, ratios) + ".",
        "`hlp-best` below the better of HEFT and PEFT, on average: " + _search(wide, ratios) + ".",
        "The bounds as shares of `hlp-best`'s makespan, on average: " + _proved(wide, ratios) + ".",
        "What stays loose, and why: "
        "[When is *LP*\\* loose, and what helps](../explanation/when-lp-is-loose.md).",
    ]


def _at(wide: pd.DataFrame, ratio: str) -> pd.DataFrame:
    return wide[wide.ccr == ratio]


def _blind(wide: pd.DataFrame) -> str:
    parts = []
    for ratio in wide.ccr.cat.categories:
        rows = _at(wide, ratio)
        cost = rows[BLIND] / rows["heft"]
        where = "on the machine's own links" if ratio == MACHINE else f"at a ratio of {ratio}"
        parts.append(f"{where} {cost.mean():.3g} times on average, {cost.max():.3g} at most")
    return "; ".join(parts)


def _ahead(wide: pd.DataFrame, ratios: list[str]) -> str:
    others = ("source", "graph", "memories", "ccr", *BOUNDS, "hlp-best", BLIND)
    names = wide.columns.drop(list(others))
    parts = []
    for ratio in ratios:
        means = _at(wide, ratio)[names].div(_at(wide, ratio).transfers, axis=0).mean()
        first = means.nsmallest(3)
        parts.append(
            f"{ratio}: " + ", ".join(f"{name} {value:.3f}" for name, value in first.items())
        )
    return "; ".join(parts)


def _types(wide: pd.DataFrame, ratios: list[str]) -> str:
    parts = []
    for ratio in ratios:
        rows = _at(wide, ratio)
        means = [(rows[name] / rows["heft"]).mean() for name in _BLIND_TYPES]
        parts.append(f"{ratio}: {min(means):.2f} to {max(means):.2f}")
    return "; ".join(parts)


def _search(wide: pd.DataFrame, ratios: list[str]) -> str:
    parts = []
    for ratio in ratios:
        rows = _at(wide, ratio)
        shorter = 1 - (rows["hlp-best"] / rows[list(_PLAIN)].min(axis=1)).mean()
        parts.append(f"{shorter:.1%} at {ratio}")
    return ", ".join(parts)


def _proved(wide: pd.DataFrame, ratios: list[str]) -> str:
    parts = []
    for name in BOUNDS:
        shares = [
            f"{(_at(wide, ratio)[name] / _at(wide, ratio)['hlp-best']).mean():.1%} at {ratio}"
            for ratio in ratios
        ]
        parts.append(f"`{name}` " + ", ".join(shares))
    return "; ".join(parts)
