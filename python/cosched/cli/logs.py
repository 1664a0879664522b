"""``cosched audit``, ``rightsize``, ``tune``: what a log says to those who run a batch system."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import cluster, io, plot
from cosched.cli import report
from cosched.cli.commands import adds_of_cluster
from cosched.cli.parameters import Arguments
from cosched.cli.values import PICTURES, check_files, read
from cosched.cluster.judgement.sentences import lines_of_judgement
from cosched.cluster.sizing.backtest_summary import groups_above_sentence, summarise_backtest
from cosched.cluster.sizing.exports import FORMS, export
from cosched.core import Presentation
from cosched.core.text import count_of, unknown_name
from cosched.errors import InvalidInstance, printable, shorten
from cosched.execution.plan_input import toml_of
from cosched.lazy import Lazy, pd
from cosched.notes import Note, NoteKind, note_records
from cosched.slurm.tune.space import vary_of_texts
from cosched.slurm.tune.trials import Engine, threads
from cosched.slurm.tune.tuned import outcome_sentence
from cosched.units import format_time_limit

_OF_AUDIT = ("time_limit", "what_if", "rightsize", "draws", "reference", "json", "anonymise")
_OF_TUNE = ("objective", "constraint", "weeks", "days", "budget", "draws", "seed", "time_limit",
            "resume", "subject")  # fmt: skip


def audit(
    of: Presentation,
    file: Path,
    arguments: dict[str, Any],
    *,
    output: Path,
    options: Annotated[dict[str, Any], Arguments(cluster.audit, *_OF_AUDIT)],
    picture: Path | None = None,
) -> None:
    check_files((output, (".html",)), (picture, PICTURES), (options["json"], (".json",)))
    instance = read(of, file, arguments)
    with report.working(f"audit of {file.name}"):
        judgement, notes = _judgement_with_running(of, file, arguments, instance)
        instance = instance.with_notes(notes)
        figure = cluster.audit(instance, output, **options, judgement=judgement, say=report.say)
        if picture is not None and figure is not None:
            plot.save(figure, picture)
    report.show_notes(instance)
    report.say(f"wrote {output}")


def _judgement_with_running(
    of: Presentation, file: Path, arguments: dict[str, Any], instance: cluster.Instance
) -> tuple[cluster.LogJudgement | None, list[Note]]:
    """The judgement of the log as ``slurm check`` judges it: with the jobs that run still, and with
    waits from when jobs were eligible; None: the instance is that log, or has no slurm.conf. And a
    note on the jobs that only the judgement counts."""
    is_of_slurm = instance.machine is not None and instance.machine.slurm is not None
    counts_from_submission = arguments["wait_from"] == "submit"
    lacks_running_jobs = any(
        note.kind is NoteKind.DROPPED and note.subject == cluster.files.NOT_ENDED
        for note in instance.notes
    )
    if not is_of_slurm or not (counts_from_submission or lacks_running_jobs):
        return None, []
    of_log = {**arguments, "wait_from": None}
    if lacks_running_jobs:
        of_log["include_running"] = True
    judgement = read(of, file, of_log)
    running_jobs = len(judgement) - len(instance)
    notes = []
    if running_jobs > 0:
        verb = "runs" if running_jobs == 1 else "run"
        text = (
            f"assumed: {count_of(running_jobs, 'job')} that still {verb} at the end of the log: "
            "the judgement of the log counts them, all other numbers do not (--include-running)"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="running jobs", count=running_jobs))
    return cluster.judge_log(judgement), notes


_ROWS = 12
_HIDDEN = ("risk", "enough", "nodes", "node_memory_gb", "unused_core_hours", "used_limit_p50",
           "used_memory_p50")  # fmt: skip


def rightsize(
    of: Presentation,
    file: Path,
    arguments: dict[str, Any],
    *,
    promise: Annotated[dict[str, Any], Arguments(cluster.rightsize, "risk", "by")],
    limits: Annotated[dict[str, Any], Arguments(cluster.RightSize.replay, "time_limit")],
    form: str | None = None,
    as_json: Path | None = None,
    user: str | None = None,
    output: Path | None = None,
) -> None:
    pages = (".html", *([".txt"] if user is not None else []))
    check_files((as_json, (".json",)), (output if form is None else None, pages))
    if form is not None and form not in (*FORMS, "codes"):
        raise InvalidInstance(f"--export {shorten(form)}: expected {', '.join(FORMS)}, codes")
    if form == "codes":
        for option, value in (("--user", user), ("--json", as_json), ("--by", promise["by"])):
            if value is not None:
                raise InvalidInstance(f"{option} does not apply to --export codes")
        _emit(toml_of(file, promise["risk"]), output)
        return
    instance = read(of, file, arguments)
    with report.working(f"right sizes of {file.name}"):
        right_size = cluster.rightsize(instance, **promise)
        advice = right_size.advice_for(user)
        backtest = right_size.backtest()
    if as_json is not None:
        tables = {"advice": advice, "backtest": backtest}
        rows = {name: io.plain(table.to_dict("records")) for name, table in tables.items()}
        rows["note_records"] = note_records((*right_size.notes, *right_size.instance.notes))
        io.write_json(
            {"risk": right_size.risk, "by": list(right_size.use.group_columns), **rows}, as_json
        )
    if form is not None:
        _emit(export(advice, form, right_size.risk), output)
        return
    if user is not None and output is None:
        with report.working("schedules"):
            text = right_size.mail(user, **limits)
        typer.echo(text, nl=False)
        return
    report.show_notes(instance)
    for note in right_size.notes:
        report.say(f"note: {note}")
    if user is None:
        _show(right_size, advice, backtest)
    if output is not None:
        with report.working("schedules"):
            right_size.write(output, user, **limits)
        report.say(f"wrote {output}")


def _emit(text: str, output: Path | None) -> None:
    if output is None:
        typer.echo(text, nl=False)
    else:
        io.write_text(text, output)


def _show(right_size: cluster.RightSize, advice: pd.DataFrame, backtest: pd.DataFrame) -> None:
    listed_groups = advice.head(_ROWS).drop(columns=[name for name in _HIDDEN if name in advice])
    for name in ("asked_limit", "used_limit_p95", "limit"):
        listed_groups[name] = [
            "-" if not value > 0 else format_time_limit(value) for value in listed_groups[name]
        ]
    columns = listed_groups.columns[listed_groups.notna().any()]
    report.show_frame("advice: those first that leave most unused", listed_groups[columns].round(1))
    if len(advice) > len(listed_groups):
        report.say(
            f"... and {len(advice) - len(listed_groups):,} more groups; --json FILE has them all"
        )
    covered = advice["jobs"][advice["enough"]].sum() / max(advice["jobs"].sum(), 1)
    report.say(
        f"promised: killed at most {100 * right_size.risk:g}% of the jobs; advice for "
        f"{int(advice['enough'].sum()):,} of {len(advice):,} groups, {covered:.0%} of the jobs"
    )
    if len(backtest):
        period = backtest.columns[0]
        report.show_frame(
            f"would it have held? each {period} from what was known before it", backtest
        )
        report.say(groups_above_sentence(summarise_backtest(right_size)))
    else:
        report.say(
            "no backtest: before no day of the log had enough like jobs ended for an advice "
            f"(a risk of {100 * right_size.risk:g}%)"
        )


#: Studies need packages that a search on this machine does not.
_tuning: Any = Lazy("cosched.experiments.tuning")
_ENGINES = ("local", "dask", "slurm")


def tune(
    of: Presentation,
    file: Path,
    arguments: dict[str, Any],
    *,
    vary: list[str],
    output: Path,
    options: Annotated[dict[str, Any], Arguments(cluster.tune, *_OF_TUNE)],
    engine: str = "local",
    dask: str | None = None,
    jobs: str = "4",
    as_json: Path | None = None,
) -> None:
    check_files((output, (".html",)), (as_json, (".json",)))
    journal = output.with_suffix(".runs.jsonl")
    where = _engine(engine, dask, io.parse_integer(jobs, "--jobs", 1, 10**4), journal)
    if deprecated_constraints := options.pop("subject"):
        report.complain("--subject is deprecated: use --constraint")
        options["constraint"] = [*options["constraint"], *deprecated_constraints]
    instance = read(of, file, arguments)
    with report.progress(counted=True) as bar, where as runs:
        task = bar.add_task(printable(f"tune {file.name}"), total=options["budget"])
        try:
            judgement, notes = _judgement_with_running(of, file, arguments, instance)
            instance = instance.with_notes(notes)
            tuning = cluster.tune(
                instance,
                judgement=judgement,
                vary=vary_of_texts(vary),
                **options,
                engine=runs,
                journal=journal,
                progress=lambda done, total, best_trial: bar.update(
                    task, completed=done, total=total, description=printable(best_trial)
                ),
            )
        except KeyboardInterrupt as stop:
            message = f"interrupted: the runs so far are kept in {journal}; --resume goes on"
            raise type(stop)(message) from None
    tuning.write(output)
    if as_json is not None:
        tuning.write(as_json)
    report.show_notes(instance)
    report.say(outcome_sentence(tuning))
    for line in [] if tuning.judgement is None else lines_of_judgement(tuning.judgement):
        report.say(line)
    if tuning.stopped:
        report.say(f"the search stopped {tuning.stopped}")
    for line in (*tuning.idle, *tuning.lines()):
        report.say(line)
    report.say(f"wrote {output}")


def _engine(
    name: str, dask: str | None, jobs: int, journal: Path
) -> AbstractContextManager[Engine]:
    """The engines of studies; they need the extra that studies need."""
    if name not in _ENGINES:
        raise InvalidInstance(unknown_name("--engine", name, _ENGINES))
    if (dask is not None) != (name == "dask"):
        raise InvalidInstance(f"--engine {name}: expected --dask with --engine dask, and only then")
    if name == "local":
        return nullcontext(threads)
    return _tuning.engine(journal.parent, dask, jobs)


add = adds_of_cluster(audit=audit, rightsize=rightsize, tune=tune)
