"""What the claims on off-line algorithms measure, and the checks that explain."""

from __future__ import annotations

from functools import partial

from cosched.experiments.dags.claims.frames import Wide, outliers, wide
from cosched.experiments.ledger import Check

NAMES = {"hlp-est": "HLP-EST", "hlp-ols": "HLP-OLS", "heft": "HEFT"}


def mean(above: str, below: str, application: str | None, w: Wide) -> float:
    """Mean ratio minus one."""
    return float(w.ratio(above, below, application).mean() - 1)


def extreme(which: str, above: str, below: str, application: str, w: Wide) -> float:
    """Least or greatest ratio minus one."""
    return float(getattr(w.ratio(above, below, application), which)() - 1)


def outlying(name: str, applications: tuple[str, ...], w: Wide) -> int:
    """Outliers of makespan / LP*, box by box."""
    chosen = [a for a in applications or w.applications if a in w.applications]
    return sum(outliers(w.ratio(name, "lp", application)) for application in chosen)


def outlier_ratio(first: str, second: str, applications: tuple[str, ...], w: Wide) -> float:
    return outlying(first, applications, w) / max(1, outlying(second, applications, w))


def tasks(member: str, w: Wide) -> float:
    found = [count for graph, count in w.tasks.items() if graph.endswith(f"/{member}.txt")]
    if not found:
        raise LookupError(member)
    return float(found[0])


def seconds(names: tuple[str, ...], w: Wide) -> float:
    return max(w.seconds[name] for name in names)


def worse(first: str, others: tuple[str, ...], w: Wide) -> float:
    """Mean makespan / LP* of one over the greatest such mean of others."""
    return float(w.ratio(first, "lp").mean() / max(w.ratio(name, "lp").mean() for name in others))


def beyond_others(w: Wide) -> float:
    means = w.ratio("heft", "hlp-ols").groupby(w.rows.application).mean()
    return float(means["fork-join"] / means.drop("fork-join").max())


def greatest(name: str, w: Wide) -> float:
    return float(w.ratio(name, "lp").max())


def wins_outside_potri(w: Wide) -> float:
    wins = w.rows.application[w.ratio("hlp-est", "hlp-ols") < 1 - 1e-9]
    return float((wins != "potri").sum() / len(w.rows))


# --- checks -------------------------------------------------------------------------------


def by_application(pairs: tuple[tuple[str, str], ...], w: Wide) -> str:
    """Mean, least and greatest of pairs by application."""
    parts = []
    for above, below in pairs:
        for application in (*w.applications, None):
            ratio = w.ratio(above, below, application)
            parts.append(
                f"{above}/{below} {application or 'all'} {ratio.mean():.3f} "
                f"({ratio.min():.3f} to {ratio.max():.3f})"
            )
    return "; ".join(parts)


def above_two(w: Wide) -> str:
    parts = []
    for name in NAMES:
        ratio = w.ratio(name, "lp")
        above = w.rows[ratio > 2]
        worst = w.rows.iloc[int(ratio.to_numpy().argmax())]
        parts.append(
            f"{name}: {len(above)} of {len(ratio)} instances above 2"
            + (f" ({(above.application == 'fork-join').sum()} fork-joins)" if len(above) else "")
            + f", greatest {ratio.max():.3f} on {worst.graph.rpartition('/')[2]} with "
            f"{worst.units} units, 99th percentile {ratio.quantile(0.99):.3f}"
        )
    return "; ".join(parts)


def wins(w: Wide) -> str:
    ratio = w.ratio("hlp-est", "hlp-ols")
    wins = w.rows.application[ratio < 1 - 1e-9].value_counts()
    return f"HLP-EST is ahead on {', '.join(f'{n} {a}' for a, n in wins.items())}, by at most " + (
        f"{100 * (1 - ratio.min()):.2f}%"
    )


def outlier_table(w: Wide) -> str:
    return "outliers of makespan/LP*; " + "; ".join(
        f"{name}: "
        + ", ".join(f"{a} {outlying(name, (a,), w)}" for a in w.applications)
        + f", all {outlying(name, (), w)}"
        for name in NAMES
    )


def pairs_check(study: str) -> Check:
    pairs = (("hlp-est", "hlp-ols"), ("heft", "hlp-ols"))
    return Check("pairs-by-application", (study,), partial(by_application, pairs), wide)
