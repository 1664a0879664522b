"""How far a reproduced scheduler is from what happened: may it be asked what if?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cosched.cluster.instance.usage import logged_starts
from cosched.cluster.page.text import paragraph, share, table
from cosched.cluster.result import Result
from cosched.cluster.result.log_fit import LEAST_FIT, fit
from cosched.errors import InvalidInstance
from cosched.lazy import pd


def fit_of(result: Result) -> pd.DataFrame | None:
    """What :func:`fit` says of the first run, partitions (also a single one) in the log's order;
    None where the log tells of no start."""
    try:
        found = fit(replace(result, draws=None))
    except InvalidInstance:
        return None
    instance = result.instance
    if "partition" not in instance.known:
        return found
    counted = instance.measured & ~np.isnan(logged_starts(instance))
    names = list(dict.fromkeys(instance.column("partition").astype(str)[counted].tolist()))
    parts = found[1:] if len(found) > 1 else found.assign(partition=names[0])
    parts = parts.sort_values("partition", key=lambda of: of.map(names.index))
    return pd.concat([found[:1], parts], ignore_index=True)


def enough(found: pd.DataFrame) -> bool:
    """Whether what-ifs of the twin are about this cluster."""
    return bool(found.within_300[0] >= LEAST_FIT)


def plain(found: pd.DataFrame | None) -> dict[str, Any] | None:
    """As JSON has it."""
    if found is None:
        return None
    names = {"within_60": "within_minute", "within_300": "within_five"}
    whole, *parts = found.rename(columns=names).to_dict("records")
    keys = (*names.values(), "rank_correlation")
    rows = [{key: row[key] for key in ("partition", "jobs", *keys[:2])} for row in parts]
    return {key: whole[key] for key in keys} | {"partitions": rows}


def about_fit(found: pd.DataFrame | None, counts: str = "") -> str:
    """The first thing that is said where the machine is a Slurm's; `counts`: the row that does."""
    if found is None:
        said = "The log has no waits, so nothing says how near the twin of this Slurm is to it."
        return paragraph(said)
    whole: Any = found.iloc[0]
    said = (
        f"The twin of this Slurm starts {share(whole.within_60)} of the jobs within a minute of "
        f"the log, {share(whole.within_300)} within five (rank correlation of the starts "
        f"{whole.rank_correlation:.2f}). "
    )
    if enough(found):
        said += f"{counts} is the row that counts." if counts else ""
    else:
        instead = f", and {counts} counts instead" if counts else ""
        said += (
            "That is less than half: what-ifs of the twin would be about another cluster"
            f"{instead}. Most often accounts, reservations or nodes that were down "
            "are missing (--accounts)."
        )
    heads = ("partition", "jobs", "within a minute", "within five")
    rows = [
        (row["partition"], f"{row['jobs']:,}", share(row["within_60"]), share(row["within_300"]))
        for row in found[1:].to_dict("records")
    ]
    by_partition = f"<div class=fit>{table(heads, rows)}</div>" if len(rows) > 1 else ""
    return paragraph(said) + by_partition
