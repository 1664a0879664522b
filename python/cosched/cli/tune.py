"""``cosched tune``: a better setting of a slurm.conf, judged on weeks that nobody has seen."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import cluster, io
from cosched.cli import report
from cosched.cli.arguments import Arguments
from cosched.cli.commands import command_of
from cosched.cli.on_demand import adds
from cosched.cli.values import check_files, read
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
_ARGUMENTS = ("objective", "subject", "weeks", "days", "budget", "draws", "seed", "time_limit",
              "resume")  # fmt: skip


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
    options: Annotated[dict[str, Any], Arguments(cluster.tune, *_ARGUMENTS)],
    engine: Annotated[
        str, typer.Option(help="Where runs happen: local (all processors), dask or slurm.")
    ] = "local",
    dask: Annotated[
        str | None, typer.Option(help="Of --engine dask: HOST:PORT or a scheduler file, .json.")
    ] = None,
    jobs: Annotated[
        str, typer.Option(help="Of --engine slurm: jobs that dask-jobqueue submits.")
    ] = "4",
    as_json: Annotated[Path | None, typer.Option("--json", help="All as data, too: .json.")] = None,
) -> None:
    check_files((output, (".html",)), (as_json, (".json",)))
    journal = output.with_suffix(".runs.jsonl")
    where = _engine(engine, dask, io.parse_integer(jobs, "--jobs", 1, 10**4), journal)
    instance = read(of, file, given)
    with report.progress(counted=True) as bar, where as runs:
        task = bar.add_task(printable(f"tune {file.name}"), total=options["budget"])
        try:
            found = cluster.tune(
                instance,
                vary=vary_of_texts(vary),
                **options,
                engine=runs,
                journal=journal,
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
    if found.stopped:
        report.say(f"the search stopped {found.stopped}")
    for line in (*found.idle, *found.lines()):
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
