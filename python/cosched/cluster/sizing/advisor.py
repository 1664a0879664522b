"""Requests that are advised at a moment of a log, as people type them."""

from __future__ import annotations

import numpy as np

from cosched.cluster.sizing.sizes import Advised, Sizes
from cosched.cluster.sizing.use import Use

#: Limits are so many seconds, memory of a node so many GB, or a multiple.
LIMIT, MEMORY = 900.0, 1.0


class Advisor:
    """Looks at a log at any moment."""

    def __init__(self, use: Use, risk: float, judged: int) -> None:
        self.use = use
        #: Of time and of memory, where both are judged: either may kill a job.
        self.risk = risk / judged
        self.time, self.memory = (
            Sizes(measure, use, self.risk) for measure in (use.time, use.memory)
        )

    def at(self, known: np.ndarray) -> tuple[Advised, Advised]:
        """Of time and memory, by group, from the rows that are known."""
        return self.time.at(known), self.memory.at(known)

    def amounts(
        self, time: Advised, memory: Advised, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Limits (s) and GB for jobs of these rows; nan: no advice."""
        use, own = self.use, self.use.own[rows]
        limit, gigabytes = (
            typed(advised, own, measure.asked[rows], unit, most[rows])
            for advised, measure, unit, most in (
                (time, use.time, LIMIT, use.longest),
                (memory, use.memory, MEMORY * use.nodes[rows], use.largest),
            )
        )
        return limit, gigabytes


def too_little(advised: np.ndarray, used: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Which jobs the advice would have ended: those that used more. A job that used more than it
    had asked for, and was let, is not ended by advice that is no less than that."""
    return (used > advised) & ~(advised >= asked)


def typed(
    advised: Advised, own: np.ndarray, asked: np.ndarray, unit: np.ndarray | float, most: np.ndarray
) -> np.ndarray:
    """Rounded up to a unit, and no more than there is room for; where what was asked for is enough,
    or it is a part of that, no more than that."""
    amount, part = advised.amount[own], advised.of_asked[own]
    exact = amount * np.where(part, asked, 1.0)
    whole = rounded(exact, unit)
    return np.minimum(np.where(part | (exact <= asked), np.minimum(whole, asked), whole), most)


def rounded(amount: np.ndarray, unit: np.ndarray | float) -> np.ndarray:
    """Up to a multiple of a unit."""
    return np.ceil(amount / unit - 1e-9) * unit
