"""Options that several commands have, as decorators.

``@seed_option`` above a function gives it the parameter ``seed``. An option that one command alone
has stands in the file of the command.
"""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from cosched.cli.command_groups import GroupedOption
from cosched.cli.option_types import (
    MAX_SEED,
    AnyInteger,
    InputPath,
    Integer,
    OutputFile,
    Seconds,
    TextType,
    Variants,
    Words,
)

if TYPE_CHECKING:
    from cosched.core import Family

FunctionType = TypeVar("FunctionType", bound=Callable[..., Any])
Decorator = Callable[[FunctionType], FunctionType]

#: ``click.option`` in a group of the help text.
input_option = partial(click.option, cls=GroupedOption, group="Input")
cluster_option = partial(click.option, cls=GroupedOption, group="Cluster")
job_option = partial(click.option, cls=GroupedOption, group="Job")
algorithm_option = partial(click.option, cls=GroupedOption, group="Algorithm")
analysis_option = partial(click.option, cls=GroupedOption, group="Analysis")
execution_option = partial(click.option, cls=GroupedOption, group="Execution")
workload_option = partial(click.option, cls=GroupedOption, group="Workload")
output_option = partial(click.option, cls=GroupedOption, group="Output")

#: The formats of figures, of tables, and of results.
FIGURE_SUFFIXES = (".png", ".svg", ".pdf")
TABLE_SUFFIXES = (".csv", ".json", ".md")


def combine(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several decorators as one, the first of them on top."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def complete_algorithms(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of algorithms that begin as the last of the names with commas between them does."""
    del parameter
    return _completions(_family_of(context).algorithms, incomplete)


def complete_bounds(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of bounds that begin so."""
    del parameter
    return _completions(_family_of(context).bounds, incomplete)


def _family_of(context: click.Context) -> "Family":
    """Return the problem class of ``cosched solve packs``: the command is called as the class."""
    from cosched.registry import family

    return family(context.info_name or "")


def _completions(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the names that can be completed: a shell would take one with blanks for several
    words."""
    previous_names, comma, begin = incomplete.rpartition(",")
    return [
        CompletionItem(f"{previous_names}{comma}{name}")
        for name in names
        if name.startswith(begin) and " " not in name
    ]


def output_file_option(*suffixes: str, help: str) -> Decorator[Any]:
    """``-o``, ``--output``: the parameter ``output``, None where it is not given."""
    return output_option("-o", "--output", type=OutputFile(*suffixes), help=help)


def output_files_option(*suffixes: str, help: str) -> Decorator[Any]:
    """``-o``, ``--output``, once per format: the parameter ``outputs``.

    ``--json FILE`` is an older name of ``-o FILE``, see :class:`ReportCommand`.
    """
    return output_option(
        "-o", "--output", "outputs", type=OutputFile(*suffixes), multiple=True, help=help
    )


def require_outputs(outputs: tuple[Path, ...], content: str, *, is_optional: bool = False) -> None:
    """Refuse a command that writes files, and was given none, or two of one format.

    Parameters
    ----------
    outputs : tuple of Path
        What ``--output`` has.
    content : str
        What is written, such as ``the report (.html)``.
    is_optional : bool
        Whether the command may write no file, because it prints its result.
    """
    if not outputs and not is_optional:
        raise click.UsageError(f"missing --output/-o: {content}")
    suffixes = [path.suffix for path in outputs]
    for suffix in suffixes:
        if suffixes.count(suffix) > 1:
            raise click.UsageError(f"-o: two files end in {suffix}: expected one per format")


def require_output(output: Path | None, content: str) -> Path:
    """Refuse a command that writes a file, and was given none.

    Parameters
    ----------
    output : Path, optional
        What ``--output`` has.
    content : str
        What is written, such as ``HTML report (.html)``.
    """
    if output is None:
        raise click.UsageError(f"missing --output/-o: {content}")
    return output


def plot_option(help: str) -> Decorator[Any]:
    """``--plot``: the parameter ``picture``."""
    return output_option("--plot", "picture", type=OutputFile(*FIGURE_SUFFIXES), help=help)


json_option = output_option(
    "--json", "as_json", is_flag=True, help="Print the result as JSON, and nothing else."
)

no_bound_option = analysis_option("--no-bound", is_flag=True, help="Compute no lower bound.")

seed_option = algorithm_option(
    "--seed", type=Integer(0, MAX_SEED), default=0, show_default=True, help="Random seed."
)

algorithm_parameters_option = algorithm_option(
    "--option",
    "option",
    multiple=True,
    metavar="KEY=VALUE",
    help="Parameter of the algorithm; repeatable.",
)

codes_option = input_option(
    "--codes", type=InputPath(), help="TOML file of the codes.", required=True
)


plan_argument = click.argument(
    "plan", type=InputPath(), help="What plan -o or solve -o wrote (.json)."
)

instance_name_argument = click.argument("name", help="Name of an instance, see library list.")

recording_argument = click.argument(
    "recording",
    type=InputPath(),
    help="A recording (.json); or what sacct -P printed, with --machine.",
)

replay_option = analysis_option(
    "--replay",
    is_flag=True,
    help="Passes, cycles and limit checks at their recorded times; jobs as long as recorded.",
)

drop_option = input_option(
    "--drop",
    metavar="CLASS,...",
    help="Classes of jobs to leave out of a log: too-wide, cancelled, failed, partial, "
    "unknown-status, unknown-partition, run-0 (run time 0), no-estimate, no-wait.",
)

launcher_options = combine(
    execution_option(
        "--launcher",
        type=Words(("local", "slurm")),
        default="local",
        show_default=True,
        help="What starts the codes: this host's processes (local), or srun in this job (slurm).",
    ),
    execution_option(
        "--unit",
        type=Words(("core", "node")),
        default="core",
        show_default=True,
        help="What a processor of the plan is.",
    ),
    execution_option(
        "--oversubscribe",
        is_flag=True,
        help="Let processors share cores where the host has too few.",
    ),
)


def _limit_file_size(context: click.Context, parameter: click.Parameter, text: str | None) -> None:
    if text is not None:
        from cosched import io

        context.with_resource(io.max_bytes(text))


max_bytes_option = input_option(
    "--max-bytes",
    metavar="SIZE",
    callback=_limit_file_size,
    expose_value=False,
    help="Read files of up to this size, unpacked, such as 2GB.",
)

slurm_conf_options = combine(
    cluster_option(
        "--accounts",
        type=InputPath(),
        help="Output of sacctmgr -P show assoc and show qos, or a script for sacctmgr.",
    ),
    cluster_option(
        "--approximate",
        is_flag=True,
        help="Ignore unsupported settings of slurm.conf, with a note.",
    ),
)


log_machine_options = combine(
    cluster_option(
        "--machine",
        type=InputPath("path"),
        help="Machine of sacct output: slurm.conf, or a folder of outputs of scontrol show.",
    ),
    cluster_option(
        "--slurm-version",
        metavar="VERSION",
        help="Slurm version of the rules, as 22.05 or 24.11; default: that of the recording.",
    ),
    slurm_conf_options,
)


def log_options(*, varies: bool = False) -> Decorator[Any]:
    """How a job log is read, and on which machine its jobs ran.

    Parameters
    ----------
    varies : bool
        Whether several weeks may be given, each of which makes an instance.
    """
    return combine(
        input_option(
            "--convention",
            type=Words(("dfrs", "rigid")),
            help="What the numbers of a log count: shares of nodes (dfrs) or processors (rigid).",
        ),
        drop_option,
        input_option(
            "--from",
            "begin",
            type=Seconds(allows_negative=True),
            help="Start at this time of the log; running and pending jobs are kept.",
        ),
        input_option(
            "--until",
            type=Seconds(allows_negative=True),
            help="Only jobs submitted before this time of the log.",
        ),
        input_option(
            "--week",
            type=variants(AnyInteger(), varies),
            help="Only this week of the log, from 0" + (" (several: 3,4,5)." if varies else "."),
        ),
        input_option(
            "--timezone",
            metavar="ZONE",
            help="Time zone of the dates of sacct output, such as Europe/Stockholm.",
        ),
        input_option(
            "--wait-from",
            type=Words(("eligible", "submit")),
            help="Where waits begin; default: eligible.",
        ),
        input_option(
            "--include-running", is_flag=True, help="Keep the jobs of sacct output that still run."
        ),
        input_option("--delimiter", metavar="CHARACTER", help="Delimiter of sacct output."),
        max_bytes_option,
        cluster_option(
            "--nodes", type=AnyInteger(), help="Cluster size in nodes (rigid: processors)."
        ),
        cluster_option(
            "--cores-per-node",
            type=AnyInteger(),
            help="Cores per node of a dfrs log; default: its header.",
        ),
        cluster_option(
            "--memory-per-node",
            metavar="SIZE",
            help="Memory per node of a dfrs log, in KB or as 2GB.",
        ),
        cluster_option(
            "--machine",
            type=InputPath("path"),
            help="machine.toml, slurm.conf, a folder of outputs of scontrol show, or what "
            "pbsnodes, qhost, bhosts or Flux show.",
        ),
        cluster_option(
            "--slurm-version",
            metavar="VERSION",
            help="Slurm version whose rules hold, as 22.05; default: the version that the first "
            "comments of slurm.conf name, else 24.11.",
        ),
        slurm_conf_options,
        analysis_option(
            "--min-runtime",
            type=Seconds(allows_negative=True),
            help="Measure jobs with this run time or more.",
        ),
    )


def variants(item_type: TextType[Any], varies: bool) -> TextType[Any]:
    """The type itself, or several values of it with commas between them."""
    return Variants(item_type) if varies else item_type


def given_values(values: dict[str, Any]) -> dict[str, Any]:
    """The options that were given; all others keep the defaults of the library."""
    return {
        name: value
        for name, value in values.items()
        if value is not None and value is not False and value != ()
    }
