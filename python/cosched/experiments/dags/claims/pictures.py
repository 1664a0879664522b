"""Figures 3 to 7 of Amaris et al. 2017: each box and curve, by the order that the text tells."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import inf

from cosched.experiments.dags.claims.frames import Wide
from cosched.experiments.dags.claims.offline import THREE, TWO, claim
from cosched.experiments.dags.claims.online import ROOTS, STUDY, at_root
from cosched.experiments.ledger import PICTURE, Claim
from cosched.experiments.tolerances import Curve, in_order

_BELOW_TWO = "the box is at most at 2 (section 6.2)"
#: (above, below) -> what the text says of the box of an application, and whether it holds.
_MEANS: dict[str, dict[tuple[str, str], tuple[str, float, float]]] = {
    "Figure 4": {
        ("hlp-est", "hlp-ols"): ("HLP-OLS outperforms HLP-EST: a mean of 1 and more", 1.0, inf),
        ("heft", "hlp-ols"): ("similar performances: a mean within a tenth of 1", 0.9, 1.1),
    },
    "Figure 5 right": {
        ("heft", "hlp-ols"): ("QHEFT is an improvement on average: a mean of at most 1", 0.0, 1.0)
    },
    "Figure 7": {
        ("greedy", "er-ls"): ("ER-LS outperforms Greedy: a mean of 1 and more", 1.0, inf),
        ("eft", "er-ls"): ("ER-LS is outperformed by EFT: a mean of at most 1", 0.0, 1.0),
    },
}
_TITLES = {"lp": "LP*"}
_APPLICATIONS = ("fork-join", "getrf", "posv", "potrf", "potri", "potrs")
_BOXES = (
    (TWO, "Figure 3", (("hlp-est", "lp"), ("hlp-ols", "lp"), ("heft", "lp"))),
    (TWO, "Figure 4", (("hlp-est", "hlp-ols"), ("heft", "hlp-ols"))),
    (THREE, "Figure 5 left", (("hlp-est", "lp"), ("hlp-ols", "lp"), ("heft", "lp"))),
    (THREE, "Figure 5 right", (("heft", "hlp-ols"),)),
    (STUDY, "Figure 6 left", (("er-ls", "lp"), ("eft", "lp"), ("greedy", "lp"))),
    (STUDY, "Figure 7", (("greedy", "er-ls"), ("eft", "er-ls"))),
)


def _order(figure: str, above: str, below: str, application: str) -> tuple[str, float, float]:
    """What the text says of a box: words, and the least and greatest mean."""
    if figure == "Figure 7" and (above, application) == ("greedy", "potrs"):
        return "on potrs ER-LS is worse than Greedy: a mean of at most 1", 0.0, 1.0
    if figure == "Figure 4" and (above, application) == ("heft", "fork-join"):
        return "HEFT is significantly worse on fork-join: a mean above 1", 1.0, inf
    return _MEANS[figure][above, below]


def _box(figure: str, above: str, below: str, application: str, w: Wide) -> Curve:
    ratio = w.ratio(above, below, application)
    if ratio.empty:
        raise LookupError(application)
    values = f"{ratio.mean():.3f} ({ratio.min():.3f} to {ratio.max():.3f})"
    if figure in _MEANS:
        _, low, high = _order(figure, above, below, application)
        return Curve(values, low <= ratio.mean() <= high, f"its mean is {ratio.mean():.3f}")
    if figure == "Figure 6 left":
        return _on_line_box(values, above, application, w)
    over = int((ratio > 2).sum())
    return Curve(values, over == 0, f"{over} of {len(ratio)} instances are above 2")


def _on_line_box(values: str, name: str, application: str, w: Wide) -> Curve:
    means = {each: w.ratio(each, "lp", application).mean() for each in ("er-ls", "eft", "greedy")}
    order = means["greedy"] >= means["eft"] if name != "er-ls" else means["er-ls"] >= means["eft"]
    shown = ", ".join(f"{each} {mean:.3f}" for each, mean in means.items())
    return Curve(values, bool(order), f"means of makespan / LP*: {shown}")


def _curve(name: str, application: str, w: Wide) -> Curve:
    found = {
        each: [root * at_root(each, application, root, w) for root in ROOTS]
        for each in ("er-ls", "eft", "greedy")
    }
    values = ", ".join(
        f"{root:.2f}: {value:.2f}" for root, value in zip(ROOTS, found[name], strict=True)
    )
    share = max(value / (4 * root) for root, value in zip(ROOTS, found["er-ls"], strict=True))
    mean = {each: sum(some) / len(some) for each, some in found.items()}
    if name == "er-ls":
        return Curve(values, share < 1, f"at most {share:.2f} of 4 sqrt(m/k)")
    good = mean["eft"] <= mean["er-ls"] if name == "eft" else mean["greedy"] >= mean["er-ls"]
    shown = ", ".join(f"{each} {value:.2f}" for each, value in mean.items())
    return Curve(values, bool(good), f"means over sqrt(m/k): {shown}")


_WORDS_OF_CURVES = {
    "er-ls": "far from 4 sqrt(m/k): below it everywhere",
    "eft": "ER-LS is outperformed by EFT on average: EFT's mean over the points is lower",
    "greedy": "Greedy is outperformed by ER-LS on average: its mean over the points is higher",
}
_WORDS_OF_BOXES = {
    "er-ls": "ER-LS is outperformed by EFT on average",
    "eft": "Greedy is outperformed by EFT on average",
    "greedy": "Greedy is outperformed by EFT on average",
}


def _said(figure: str, above: str, below: str, application: str) -> str:
    if figure in _MEANS:
        return _order(figure, above, below, application)[0]
    return _WORDS_OF_BOXES[above] if figure == "Figure 6 left" else _BELOW_TWO


def _drawn() -> Iterator[Claim]:
    for study, figure, pairs in _BOXES:
        for above, below in pairs:
            for application in _APPLICATIONS:
                yield claim(
                    study,
                    f"{figure}, {application}",
                    f"{above} / {_TITLES.get(below, below)}: mean, least and greatest",
                    PICTURE,
                    in_order(_said(figure, above, below, application)),
                    partial(_box, figure, above, below, application),
                )
    for application in ("potri", "fork-join"):
        for name in ("er-ls", "eft", "greedy"):
            yield claim(
                STUDY,
                f"Figure 6 right, {application}",
                f"curve of {name}: mean competitive ratio against sqrt(m/k)",
                PICTURE,
                in_order(_WORDS_OF_CURVES[name]),
                partial(_curve, name, application),
            )


CLAIMS = (*_drawn(),)
