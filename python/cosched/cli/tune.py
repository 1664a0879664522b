"""``cosched tune``: a better setting of a slurm.conf, judged on weeks that nobody has seen."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import cluster, io
from cosched.cli import report
from cosched.cli.commands import command_of
from cosched.cli.on_demand import adds
from cosched.cli.values import Seed, check_files, read, seed_of_text, time_limit_of_text
from cosched.core import Presentation
from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance, printable
from cosched.lazy import Lazy
from cosched.registry import presentation
from cosched.slurm.tune.page import said
from cosched.slurm.tune.space import vary_of_texts
from cosched.slurm.tune.trials import Engine, threads

#: Studies need packages that a search on this machine does not.
_tuning: Any = Lazy("cosched.experiments.tuning")
_ENGINES = ("local", "dask", "slurm")


def tune(
    of: Presentation,
    file: Path,
    given: dict[str, Any],
    *,
    vary: Annotated[
        list[str],
        typer.Option(help="KEY=A,B,C or KEY=LOW..HIGH, keys as --what-if of audit; repeatable."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The page: .html.")],
    objective: Annotated[
        list[str] | None,
        typer.Option(
            help="What is to be small: mean_wait (default), p95_wait, max_wait, "
            "mean_bounded_slowdown, of a group by(partition).gpu.p95_wait; twice: a Pareto front."
        ),
    ] = None,
    subject: Annotated[
        list[str] | None,
        typer.Option(
            help="What has to hold against today, as 'by(size).wide.mean_wait<=1.1'; repeatable."
        ),
    ] = None,
    weeks: Annotated[
        str | None, typer.Option(help="train=1-3,test=4; default: the last quarter judges.")
    ] = None,
    days: Annotated[
        str | None, typer.Option(help="Of a week; default 7, less for a log of few weeks.")
    ] = None,
    budget: Annotated[str, typer.Option(help="Settings that are tried.")] = "200",
    draws: Annotated[str, typer.Option(help="Of the clocks, for each week.")] = "4",
    seed: Seed = "0",
    time_limit: Annotated[
        str, typer.Option(help="Seconds after which no more settings are tried, or 'none'.")
    ] = "none",
    engine: Annotated[
        str, typer.Option(help="Where runs happen: local (all processors), dask or slurm.")
    ] = "local",
    dask: Annotated[
        str | None, typer.Option(help="Of --engine dask: HOST:PORT or a scheduler file, .json.")
    ] = None,
    jobs: Annotated[
        str, typer.Option(help="Of --engine slurm: jobs that dask-jobqueue submits.")
    ] = "4",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a search that did not end.")
    ] = False,
    as_json: Annotated[Path | None, typer.Option("--json", help="All as data, too: .json.")] = None,
) -> None:
    check_files((output, (".html",)), (as_json, (".json",)))
    journal = output.with_suffix(".runs.jsonl")
    options: dict[str, Any] = {
        "vary": vary_of_texts(vary),
        "objective": objective or ["mean_wait"],
        "subject": subject or (),
        "weeks": weeks,
        "days": None
        if days is None
        else io.parse_positive(days, "--days", "a positive number of days"),
        "budget": io.parse_integer(budget, "--budget", 1, 10**6),
        "draws": io.parse_integer(draws, "--draws", 1, 10**4),
        "seed": seed_of_text(seed),
        "time_limit": time_limit_of_text(time_limit),
    }
    where = _engine(engine, dask, io.parse_integer(jobs, "--jobs", 1, 10**4), journal)
    instance = read(of, file, given)
    with report.progress(counted=True) as bar, where as runs:
        task = bar.add_task(printable(f"tune {file.name}"), total=options["budget"])
        try:
            found = cluster.tune(
                instance,
                **options,
                engine=runs,
                journal=journal,
                resume=resume,
                progress=lambda done, total, best: bar.update(
                    task, completed=done, total=total, description=printable(best)
                ),
            )
        except KeyboardInterrupt as stop:
            kept = f"interrupted: the runs so far are kept in {journal}; --resume goes on"
            raise type(stop)(kept) from None
    found.write(output)
    if as_json is not None:
        found.write(as_json)
    report.show_notes(instance)
    report.say(said(found))
    for line in found.lines():
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
    return _tuning.engine(journal.with_suffix(".pickle"), dask, jobs)


add = adds(tune=command_of(presentation("cluster"), tune))
