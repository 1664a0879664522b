"""The ledger of the five papers: claims of the families, on kept results or reduced runs."""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING, Any

from cosched.experiments import kept
from cosched.experiments.catalogue import claims, find
from cosched.experiments.ledger import Frames, NotKept, Row, evaluate
from cosched.experiments.study import Study, Task, missing_line

if TYPE_CHECKING:
    import pandas as pd


#: This package's own algorithms, which take most of the time and of which no paper claims a thing.
_OWN = frozenset({"local-search", "hlp-best", "demt-best", "ttb-exact", "ttb-best"})


def ledger_rows(studies: tuple[str, ...] = (), *, quick: bool = False) -> list[Row]:
    """The verdict of every claim that these studies answer."""
    for name in studies:
        find(name)
    chosen = [claim for claim in claims() if not studies or claim.study in studies]
    if not quick:
        return evaluate(chosen, kept.read)
    return evaluate(chosen, reduced(), partial=True)


def reduced() -> Frames:
    """Results of studies at reduced size, each run once, in this process."""

    @cache
    def frame(name: str) -> pd.DataFrame:
        import pandas as pd

        study = find(name)
        missing = study.missing(quick=True)
        if missing:
            raise NotKept(missing_line(name, missing))
        tasks = [task for task in study.plan(True) if task.get("algorithm") not in _OWN]
        return pd.DataFrame([_row(study, task) for task in tasks])

    return frame


def _row(study: Study, task: Task) -> dict[str, Any]:
    begin = time.perf_counter()
    row = study.run(dict(task))
    return {**task, "status": "ok", "seconds": time.perf_counter() - begin, **row}


def as_frame(rows: list[Row]) -> pd.DataFrame:
    """Rows as a table."""
    import pandas as pd

    return pd.DataFrame([row.plain() for row in rows])
