"""Which measurements are of the codes as they are now."""

from __future__ import annotations

from collections.abc import Sequence

from cosched.core.text import listed
from cosched.execution.code import fingerprint, values_of_sweep
from cosched.execution.codes import Codes
from cosched.execution.runs import Run


def current(runs: Sequence[Run], codes: Codes | None) -> tuple[list[Run], tuple[str, ...]]:
    """The runs of the commands as they are now, and a note about the others.

    A run that does not say its command counts. Without codes the last run of a name says it.
    """
    profiles = {} if codes is None else codes.profiles()
    now = {run.task: run.command for run in runs if run.command}
    now |= {name: fingerprint(mine[0]) for name, mine in profiles.items()}
    chosen = {name: {"", *map(values_of_sweep, mine)} for name, mine in profiles.items()}

    def counts(run: Run) -> bool:
        values = chosen.get(run.task, {run.parameters})
        return run.command in ("", now.get(run.task)) and run.parameters in values

    kept = [run for run in runs if counts(run)]
    if len(kept) == len(runs):
        return kept, ()
    changed = list(dict.fromkeys(run.task for run in runs if not counts(run)))
    said = f"{len(runs) - len(kept)} runs do not count: the command of {listed(changed)}, or the "
    return kept, (said + "values of its sweep, have changed since",)
