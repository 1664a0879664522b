"""What the command line shows: tables with rich, progress on a terminal, pictures, files."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cosched  # cosched.plot is imported when something is drawn
from cosched import io
from cosched.cli import verbosity, wrapped_tables
from cosched.cli.stopping import best_so_far
from cosched.core import Presentation, Result
from cosched.core.comparison import apply_best_bound, rows_to_frame
from cosched.core.drawing import literal
from cosched.core.text import percent
from cosched.errors import printable
from cosched.lazy import pd, plt

if TYPE_CHECKING:
    from rich.progress import Progress

#: (title, result): what :func:`draw` takes.
Titled = tuple[str, Result]

#: Algorithms that a line names; of more it says how many.
_MAX_NAMED = 5


def progress(*, counted: bool = False) -> Progress:
    """Progress on the terminal only, removed when the work is done: a bar, or a spinner."""
    from rich import progress as rich
    from rich.console import Console

    console, text = Console(stderr=True), rich.TextColumn("{task.description}", markup=False)
    bar = (text, rich.BarColumn(), rich.MofNCompleteColumn())
    columns = bar if counted else (rich.SpinnerColumn(), text)
    elapsed, hidden = rich.TimeElapsedColumn(), verbosity.is_quiet() or not console.is_terminal
    return rich.Progress(*columns, elapsed, console=console, transient=True, disable=hidden)


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner with the elapsed time while a computation runs; ``--verbose`` prints the time."""
    begin = time.monotonic()
    with progress() as progress_bar:
        progress_bar.add_task(printable(what))
        yield
    if verbosity.is_verbose():
        complain(f"{what}: {time.monotonic() - begin:.2f} s")


def show_notes(instance: Any) -> None:
    """Print what a reader did to the data, one line per note."""
    for text in instance.notes:
        note(text)


def show_result(of: Presentation, result: Result) -> None:
    """The plan's first rows, its measures, then value, bound and gap in words."""
    overview = result.overview()
    wrapped_tables.show(
        f"{of.family.name}: {result.algorithm}", wrapped_tables.columns_of(overview.frame)
    )
    if overview.total > len(overview.frame):
        n_unlisted = overview.total - len(overview.frame)
        say(f"... and {n_unlisted:,} more {overview.what}; -o FILE writes the whole plan")
    measures = [
        f"{wrapped_tables.title_of(key)} {wrapped_tables.cell(key, value)}"
        for key, value in result.metrics().items()
        if key not in result.deprecated_metrics
    ]
    if measures:
        say(", ".join(measures))
    for line in in_words(of, result):
        say(line)


def in_words(of: Presentation, result: Result) -> list[str]:
    """Value, bound and gap, and what they say of the best possible."""
    lines = [f"{of.objective} {result.value:.9g}{of.unit}"]
    if result.status != "ok":
        lines.append(f"status {result.status}: the best that was found until then")
    low, high = (result.metrics().get(key, math.nan) for key in ("value_p5", "value_p95"))
    if not math.isnan(low):
        lines.append(
            f"when times vary as the measurements did: {low:.6g} to {high:.6g}{of.unit} "
            "in 90% of 200 draws"
        )
    bound, gap = result.bound, result.gap
    if bound is None or math.isnan(bound.value):
        return [*lines, f"no bound: how far this is from the best possible {of.ideal} is not known"]
    side = "above" if of.family.maximise else "below"
    clause = f"no {of.ideal} can be {side} {bound.value:.9g}{of.unit}"
    lines.append(f"bound {bound.value:.9g}{of.unit} ({bound.method}): {clause}")
    if bound.note:
        lines.append(f"note: {bound.note}")
    if math.isnan(gap):
        return [*lines, f"no gap: this is what was recorded, and no {of.ideal} of this instance"]
    return [*lines, f"gap {percent(gap)}: {_distance(of, gap)}"]


def _distance(of: Presentation, gap: float) -> str:
    if gap <= 1e-9:
        return f"this is the best possible {of.ideal}"
    if math.isinf(gap):
        return f"the bound says nothing of how far the best possible {of.ideal} is"
    if of.family.maximise:
        return f"the best possible {of.ideal} is at most {percent(gap)} better"
    return f"at most {percent(gap)} above the best possible {of.ideal}"


def compare_all(
    of: Presentation,
    instances: list[tuple[dict[str, Any], Any]],
    names: list[str] | None,
    seed: int,
    time_limit: float | None,
    options: dict[str, Any],
    noise: float | None = None,
) -> tuple[pd.DataFrame, list[str], list[Titled], KeyboardInterrupt | None]:
    """``compare`` over several instances: one table, the columns that tell instances apart, the
    best result of each instance, and what ended it after the first row: it says what did not run.
    Each algorithm gets those of `options` that it takes.
    """
    chosen = [of.family.names_of(instance, names) for _, instance in instances]
    options_of_algorithm = {
        name: _accepted_options(of, name, options) for of_one in chosen for name in of_one
    }
    for key in options:
        if not any(key in accepted_options for accepted_options in options_of_algorithm.values()):
            raise TypeError(f"--option {key}: none of the algorithms takes it")
    plan = [name for of_one in chosen for name in of_one]
    finished_instances: list[tuple[dict[str, Any], list[tuple[dict[str, Any], Result | None]]]] = []
    best: dict[str, Result] = {}
    pick = max if of.family.maximise else min
    ended = 0
    stopped = None
    with progress() as progress_bar, best_so_far() as stop:
        task = progress_bar.add_task("")
        try:
            for (varied, instance), algorithms in zip(instances, chosen, strict=True):
                which = ", ".join(f"{key} = {value}" for key, value in varied.items())
                label = f"{of.family.name} {which}".rstrip()
                progress_bar.update(task, description=printable(f"{label}: bound, {algorithms[0]}"))
                finished_instances.append((varied, rows := []))
                own_options = {name: options_of_algorithm[name] for name in algorithms}
                compared_rows = of.family.compare_rows(
                    instance, algorithms, seed, time_limit, own_options, noise
                )
                for row, result in stop.rows(compared_rows):
                    rows.append((row, result))
                    ended += 1
                    if result is not None:
                        best_results = [best[label]] if label in best else []
                        best[label] = pick([*best_results, result], key=lambda result: result.value)
                    status_text = f"{ended} of {len(plan)} done, {(*plan, '')[ended]}"
                    progress_bar.update(task, description=printable(f"{label}: {status_text}"))
        except KeyboardInterrupt as ending:
            if not ended:
                raise
            stopped = type(ending)(", ".join(plan[ended:]))
    titled = [
        (f"{label}: {winner.algorithm}, {of.objective} {winner.value:.6g}", winner)
        for label, winner in best.items()
    ]
    keys = [key for varied, _ in instances for key in varied]
    table = [
        {**varied, **row} for varied, rows in finished_instances for row in apply_best_bound(rows)
    ]
    return rows_to_frame(table, keys), list(dict.fromkeys(keys)), titled, stopped


def _accepted_options(of: Presentation, name: str, options: dict[str, Any]) -> dict[str, Any]:
    accepted = of.family.options_of(name)
    return {key: v for key, v in options.items() if accepted is None or key in accepted}


def show_untaken(of: Presentation, frame: pd.DataFrame, options: dict[str, Any]) -> None:
    """Print which rows of ``compare`` are without an option that was given."""
    for key in options:
        names = [
            name
            for name in frame["algorithm"].unique()
            if not _accepted_options(of, name, {key: None})
        ]
        if names:
            others_note = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
            say(
                f"without {key}, which they do not take: "
                f"{', '.join(names[:_MAX_NAMED])}{others_note}"
            )


def show_table(of: Presentation, frame: pd.DataFrame, keys: Sequence[str]) -> None:
    """Print a table of ``compare``: the best first and marked, what says nothing left out.

    Before the best stands what happened, where the family has it. `keys` are the columns that
    tell instances apart. What did not run says why below.
    """
    ranked = _ranked(of, frame, list(keys))
    best_rows, last_rows = _groups(of, ranked, list(keys))
    metrics = frame.columns[list(frame.columns).index("seconds") + 1 :]
    hidden = {"message", *of.family.result_type.deprecated_metrics}
    hidden.update(c for c in metrics if of.screen and c not in of.screen)
    noisy = [c for c in frame.columns if c.startswith("value_p")]
    first_shown = ("value", *noisy, "bound", "gap", "seconds", "status")
    order = dict.fromkeys((*first_shown, *frame.columns))
    columns = [c for c in order if c not in {*hidden, *keys, "algorithm"}]
    known_columns = {
        c: ranked[c].dropna() for c in columns if len(frame) > 1 and _says_nothing(ranked[c])
    }
    constant_columns = {
        c: column.iloc[0] if len(column) else math.nan for c, column in known_columns.items()
    }
    listed_columns = [
        c
        for c in columns
        if c not in constant_columns
        or (c in ("value", "gap") and constant_columns[c] == constant_columns[c])
    ]
    marks = ["*" if k in best_rows and v == v else "" for k, v in enumerate(ranked["value"])]
    table_columns = [wrapped_tables.ScreenColumn("", marks)]
    table_columns.extend(
        wrapped_tables.column(wrapped_tables.title_of(name), ranked[name].tolist())
        for name in (*keys, "algorithm", *listed_columns)
    )
    title = f"{of.family.name}: value = {of.objective}{of.unit and ' (' + of.unit.strip() + ')'}"
    wrapped_tables.show(title, table_columns, keys=2 + len(keys), ends=last_rows if keys else ())
    if any(marks):
        median = "median of the " if _ranked_by(frame) != "value" else ""
        say(f"* the best {median}{of.objective}" + (" of each instance" if keys else ""))
    below = ("bound",) if ranked.attrs["bounds"] and not keys else ()
    constant = {
        c: f"{wrapped_tables.title_of(c)} {wrapped_tables.cell(c, v)}"
        for c, v in constant_columns.items()
        if v == v and c not in (*below, *listed_columns)
    }
    solved = ranked[ranked["value"].notna()]
    everywhere = [text for c, text in constant.items() if solved[c].notna().all()]
    if everywhere := [text for text in everywhere if text != "status ok"]:
        say(f"in all rows: {', '.join(everywhere)}")
    somewhere = [
        f"{text} ({', '.join(map(str, solved.loc[has, 'algorithm'].unique()))})"
        for c, text in constant.items()
        if not (has := solved[c].notna()).all()
    ]
    if somewhere:
        say(f"in some: {', '.join(somewhere)}")
    for line in _of_the_bound(of, ranked, not keys and _says_nothing(ranked["bound"])):
        say(line)
    for line in _remarks(of, ranked, keys):
        say(line)
    reasons = frame.loc[frame.message != "", ["algorithm", "status", "message"]]
    for name, status, message in reasons.drop_duplicates().itertuples(index=False):
        say(f"{name}: {status}: {message}")


def _remarks(of: Presentation, ranked: pd.DataFrame, keys: Sequence[str]) -> list[str]:
    """Return what rows have to say beside their numbers."""
    if of.remark is None:
        return []
    lines = []
    for _, row in ranked.iterrows():
        if remark := of.remark(dict(row)):
            where = "".join(f", {key} = {row[key]}" for key in keys)
            lines.append(f"{row['algorithm']}{where}: {remark}")
    return lines


def _of_the_bound(of: Presentation, ranked: pd.DataFrame, is_single: bool) -> list[str]:
    """Return what proved the bound (of one instance), and what is left between it and the best
    row."""
    methods, lines = ", ".join(ranked.attrs["bounds"]), []
    if methods and is_single:
        side = "above" if of.family.maximise else "below"
        value = f"{ranked['bound'].dropna().iloc[0]:.6g}{of.unit}"
        lines.append(f"bound {value} ({methods}): no {of.ideal} can be {side} it")
    lines += [f"note: {note}" for note in ranked.attrs["bound_notes"]]
    gaps = ranked.loc[ranked["value"].notna(), "gap"]
    if not len(gaps) or not gaps.min() > 1e-9:
        return lines
    if ranked.attrs["bound_cut"]:
        lines.append(
            "a limit cut the bound short: what is left of the gap may be the bound's, not the "
            f"{of.ideal}'s (a longer --time-limit tells)"
        )
    elif (ranked["status"] == "time_limit").any():
        lines.append("a limit ended a search: what is left of the gap may close in more time")
    return lines


def _value(of: Presentation, frame: pd.DataFrame) -> pd.Series:
    """Return a number of which less is better: the median under noise, where there is one."""
    value = frame[_ranked_by(frame)]
    return -value if of.family.maximise else value


def _ranked_by(frame: pd.DataFrame) -> str:
    return "value_p50" if "value_p50" in frame else "value"


def _instance(frame: pd.DataFrame, keys: list[str]) -> pd.Series:
    """Return the number of each row's instance."""
    return frame.groupby(keys, sort=False).ngroup() if keys else 0 * frame.index.to_series()


def _ranked(of: Presentation, frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return instances in their order; in each what happened first, the best value next, none
    last."""
    order = frame.assign(
        _instance=_instance(frame, keys),
        _given=frame["algorithm"] != of.recorded,
        _value=_value(of, frame),
    )
    by = ["_instance", "_given", "_value"]
    sorted_rows = order.sort_values(by, kind="stable", na_position="last")
    return frame.loc[sorted_rows.index].reset_index(drop=True)


def _groups(of: Presentation, ranked: pd.DataFrame, keys: list[str]) -> tuple[set[int], list[int]]:
    """Return the best row of each instance that has one, and the last row of each."""
    instance = _instance(ranked, keys)
    beyond = ranked["bound"].notna() & ranked["gap"].isna()  # recorded, and no schedule
    value = _value(of, ranked)[~beyond].dropna()
    best_rows = value.groupby(instance[value.index]).idxmin()
    return set(best_rows), ranked.index[~instance.duplicated(keep="last")].tolist()


def _says_nothing(column: pd.Series) -> bool:
    """Whether all rows that have a value have the same one."""
    return bool(column.dropna().nunique() <= 1)


def show_frame(title: str, frame: pd.DataFrame) -> None:
    """Print a small table as it is."""
    wrapped_tables.show(title, wrapped_tables.columns_of(frame))


def write_result(result: Result, path: str | PathLike[str]) -> None:
    """Write a result: .json everything, .csv and .md the placements, .paje a trace of them."""
    suffix = Path(path).suffix
    if suffix == ".json":
        io.write_json(result.to_dict(), path)
    elif suffix == ".paje":
        result.schedule.write(path)
    else:
        io.write_frame(result.schedule.to_frame(), path, exact=True)


def without_screen() -> None:
    """Before a picture is begun: nobody looks at it now."""
    import matplotlib

    matplotlib.use("Agg")


def draw(results: list[Titled], of: Presentation, path: str | PathLike[str]) -> None:
    """The family's pictures of each result, one below the other."""
    if not results:
        return
    without_screen()
    panels = of.panels or (lambda result, ax: cosched.plot.gantt(result.schedule, ax),)
    rows = len(results) * len(panels)
    figure, axes = plt.subplots(
        rows, 1, figsize=(11, 1 + 2.8 * rows), layout="constrained", squeeze=False
    )
    for place, (title, result) in enumerate(results):
        own_axes = axes[place * len(panels) : (place + 1) * len(panels), 0]
        for panel, ax in zip(panels, own_axes, strict=True):
            panel(result, ax)
        own_axes[0].set_title(literal(title), fontsize=10)
    for first in range(len(panels)):
        _share_horizontal_axis(list(axes[first :: len(panels), 0]))
    cosched.plot.save(figure, path)
    plt.close(figure)


def _share_horizontal_axis(axes: list[Any]) -> None:
    """Give panels of the same quantity the same limits, so that their lengths can be compared."""
    if len({ax.get_xlabel() for ax in axes}) > 1:
        return
    limits = [ax.get_xlim() for ax in axes]
    for ax in axes:
        ax.set_xlim(min(low for low, _ in limits), max(high for _, high in limits))


def complain(line: str) -> None:
    """A line about the run, not of its answer: on standard error."""
    print(f"cosched: {printable(line)}", file=sys.stderr)


def say(line: str) -> None:
    """Print a line that may hold names of the user's."""
    print(printable(line))


def note(text: str) -> None:
    """Print what a reader has to know beside the result, unless ``--quiet`` is given."""
    hint(f"note: {text}")


def hint(line: str) -> None:
    """Print which file was written, or what to do next, unless ``--quiet`` is given."""
    if not verbosity.is_quiet():
        say(line)


def print_json(data: Any) -> None:
    """Print data as JSON: what ``--json`` asks for."""
    print(json.dumps(io.plain(data), indent=1))
