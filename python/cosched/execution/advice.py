"""The answer of ``execution.plan``, in words."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched.core import Bound
from cosched.core.result import relative_gap
from cosched.core.text import count_of, percent
from cosched.deprecation import DeprecatedAttribute
from cosched.notes import Note

if TYPE_CHECKING:
    from cosched.execution.adaptive import Guarantee

#: Of more names only the number is shown.
_MOST_SHOWN = 6
#: Of more placements of a plan only the number is shown.
_MOST_PLACED = 60


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to run, and what is known of it; made by :func:`cosched.execution.plan`.

    Attributes
    ----------
    result : Result
        Of packs or moldable: the earliest end that was found.
    sequential_makespan : float
        The end of all tasks one after the other, each on its best count (s).
    bound : Bound
        No schedule of any kind ends earlier, if the times are right.
    unmeasured : tuple of (str, int)
        Tasks and counts of the plan whose time was not measured but filled in.
    guarantee : Guarantee or None
        What holds whatever the times are that were not measured; None where all were.
    spread : (float, float) or None
        5% and 95% of the end, by all that is known of how times vary.
    evidence : tuple of str
        By what `spread` is known: repeats, starved runs, slow-downs, earlier executions.
    isolated_makespan : float or None
        The end that the best plan would promise if nobody slowed another; None: without slow-downs.
    interference_blind_makespan : float or None
        The end of that plan with the slow-downs (s).
    shell_line : str or None
        The line of xargs that does the same, where the plan is no better than longest-first on
        one processor each; empty: it is no better, and the line would be too long.
    notes : tuple of Note
        What was left out, and what is not known.

    Examples
    --------
    >>> from cosched.execution import plan
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.csv"
    >>> _ = path.write_text("task,processors,seconds\\na,1,4\\na,2,3\\nb,1,2\\nb,2,1.5\\n")
    >>> advice = plan(path)
    >>> advice.result.value, advice.sequential_makespan, round(advice.gap, 4)
    (4.0, 4.5, 0.0)
    """

    result: Any
    sequential_makespan: float
    bound: Bound
    unmeasured: tuple[tuple[str, int], ...] = ()
    guarantee: Guarantee | None = None
    spread: tuple[float, float] | None = None
    evidence: tuple[str, ...] = ()
    isolated_makespan: float | None = None
    interference_blind_makespan: float | None = None
    shell_line: str | None = None
    notes: tuple[Note, ...] = ()

    alone = DeprecatedAttribute("sequential_makespan")
    rests_on = DeprecatedAttribute("evidence")
    alone_in_company = DeprecatedAttribute("isolated_makespan")
    ignorant = DeprecatedAttribute("interference_blind_makespan")
    one_line = DeprecatedAttribute("shell_line")

    @property
    def gap(self) -> float:
        """Distance from the bound: at most so far above the best possible schedule."""
        return relative_gap(self.result.value, self.bound, False)

    def lines(self) -> list[str]:
        """The answer in words."""
        return [
            *(f"note: {note}" for note in self.notes),
            *self._headline(),
            *self._company(),
            self._proof(),
            *self._range(),
            *self._placements(),
            *self._doubts(),
            *self._simpler(),
        ]

    def _headline(self) -> list[str]:
        result = self.result
        tasks, procs = result.instance.times.shape
        verb = "ends" if tasks == 1 else "end"
        return [
            f"{count_of(tasks, 'task')} on {count_of(procs, 'processor')} {verb} after "
            f"{_s(result.value)} ({result.family} {result.algorithm})",
            f"one after the other: {_s(self.sequential_makespan)}, "
            f"{self.sequential_makespan / result.value:.2f} times as long",
        ]

    def _company(self) -> list[str]:
        """What slow-downs do to the plan."""
        if self.isolated_makespan is None:
            return []
        text = f"with slow-downs; as if alone {_s(self.isolated_makespan)}"
        if self.interference_blind_makespan is not None:
            text += f", and that plan would end after {_s(self.interference_blind_makespan)}"
        return [text]

    def _proof(self) -> str:
        """Return the optimality gap in words; it concerns the plan only."""
        if self.gap < 1e-5:
            far = "the plan is the best possible"
        else:
            far = f"the plan is at most {percent(self.gap)} above the best possible"
        return (
            f"proved: no schedule of any kind ends before {_s(self.bound.value)}, if the times "
            f"hold: {far}"
        )

    def _range(self) -> list[str]:
        """Return what the times may do to the end."""
        if self.spread is None:
            return ["each time was measured once: how far the end may be off is not known"]
        (low, high), value = self.spread, self.result.value
        return [
            f"expect {_s(low)} to {_s(high)} ({100 * (low / value - 1):+.0f}% to "
            f"{100 * (high / value - 1):+.0f}%): in 90% of 200 draws, by "
            f"{', '.join(self.evidence)}"
        ]

    def _placements(self) -> list[str]:
        result = self.result
        schedule, names = result.schedule, result.instance.names
        counts = np.diff(schedule.unit_begin)
        order = np.lexsort((schedule.task, schedule.start))
        words = [
            f"{names[schedule.task[row]]} on {counts[row]} "
            f"({_s(schedule.end[row] - schedule.start[row])})"
            for row in order
        ]
        if result.family != "packs":
            more = len(order) - _MOST_PLACED
            return [
                f"from {_s(schedule.start[row])}: {text}"
                for row, text in zip(order[:_MOST_PLACED], words, strict=False)
            ] + ([f"and {more} more"] if more > 0 else [])
        lines = []
        for number, start in enumerate(np.unique(schedule.start), start=1):
            pack_places = [k for k, row in enumerate(order) if schedule.start[row] == start]
            end = max(schedule.end[order[k]] for k in pack_places)
            placements = ", ".join(words[k] for k in pack_places)
            lines.append(f"pack {number}, {_s(start)[:-2]} to {_s(end)}: {placements}")
        return lines

    def _doubts(self) -> list[str]:
        lines = ["all times of the plan were measured"]
        if self.unmeasured:
            listed_times = [f"{name} on {count}" for name, count in self.unmeasured[:_MOST_SHOWN]]
            more = len(self.unmeasured) - len(listed_times)
            text = ", ".join(listed_times) + (f", and {more} more" if more else "")
            lines = [f"not measured but interpolated: {text}"]
        if self.guarantee is not None:
            guarantee = self.guarantee
            lines.append(
                "whatever the times are that were not measured (time does not grow with "
                f"processors, work does not shrink): some plan ends by {_s(guarantee.plan.value)}, "
                f"no schedule before {_s(guarantee.bound)}"
            )
        return lines

    def _simpler(self) -> list[str]:
        """The one line that does the same, where there is one."""
        if self.shell_line is None:
            return []
        text = "no better than longest-first on one processor each"
        return [
            f"{text}: the same without cosched: {self.shell_line or '`xargs -P` or `parallel`'}"
        ]

    def to_dict(self) -> dict[str, Any]:
        """What ``cosched plan -o`` writes: the schedule file, and what is proved of any other."""
        fields = {
            **self.result.to_dict(),
            "any_schedule": {"value": self.bound.value, "method": self.bound.method},
            "alone": self.sequential_makespan,
        }
        if self.spread is not None:
            fields["interval"] = {"p5": self.spread[0], "p95": self.spread[1]}
        return fields


def _s(seconds: float) -> str:
    return f"{seconds:.4g} s"


def command_to_run(plan_path: object, codes_path: object) -> str:
    """The command line that runs a plan."""
    return shlex.join(
        ["cosched", "run", str(plan_path), "--codes", str(codes_path or "codes.toml")]
    )
