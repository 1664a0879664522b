"""The command ``cosched``: the list of its commands, and the options that stand before them."""

import click

from cosched.cli.command_groups import LazyCommand, LazyGroup, require_subcommand

_COMMANDS = "cosched.cli.commands"

#: The commands, by the groups of ``cosched --help``.
SECTIONS = {
    "Clusters and Slurm": {
        "audit": LazyCommand(
            f"{_COMMANDS}.audit:audit",
            "Report on a job log: waits, utilization, other policies, what-if scenarios.",
        ),
        "when": LazyCommand(
            f"{_COMMANDS}.when:when",
            "Predict start times of pending jobs, with prediction intervals.",
        ),
        "snapshot": LazyCommand(
            f"{_COMMANDS}.snapshot:snapshot", "Save the current Slurm state (read-only) for when."
        ),
        "rightsize": LazyCommand(
            f"{_COMMANDS}.rightsize:rightsize",
            "Recommend time and memory requests from job history.",
        ),
        "tune": LazyCommand(
            f"{_COMMANDS}.tune:tune",
            "Search slurm.conf settings that reduce waits; verify on held-out weeks.",
        ),
        "convert": LazyCommand(
            f"{_COMMANDS}.convert:convert",
            "Convert a job log of any format to SWF, CSV, JSON or Parquet.",
        ),
        "machine": LazyCommand(
            f"{_COMMANDS}.machine:machine",
            "Show the machine in a file of Slurm, PBS, Grid Engine, LSF or Flux, and convert it.",
        ),
        "slurm": LazyCommand(
            f"{_COMMANDS}.slurm:slurm", "Record a real Slurm; compare the simulator with it."
        ),
    },
    "Parallel codes": {
        "profile": LazyCommand(
            f"{_COMMANDS}.profile:profile", "Measure run times of codes at several core counts."
        ),
        "plan": LazyCommand(
            f"{_COMMANDS}.plan:plan", "Plan which codes run side by side, on how many cores."
        ),
        "run": LazyCommand(f"{_COMMANDS}.run:run", "Run a plan on this host or in a Slurm job."),
        "script": LazyCommand(
            f"{_COMMANDS}.script:script", "Export a plan as a script for sbatch."
        ),
        "batch": LazyCommand(
            f"{_COMMANDS}.batch:batch", "Bundle many small tasks into few Slurm jobs."
        ),
    },
    "Scheduling algorithms": {
        "solve": LazyCommand(
            f"{_COMMANDS}.solve:solve", "Run one algorithm and report value, lower bound and gap."
        ),
        "compare": LazyCommand(
            f"{_COMMANDS}.compare:compare", "Compare algorithms on one instance."
        ),
        "bound": LazyCommand(f"{_COMMANDS}.bound:bound", "Compute a lower bound."),
        "validate": LazyCommand(
            f"{_COMMANDS}.validate:validate", "Check a schedule against its instance."
        ),
        "generate": LazyCommand(f"{_COMMANDS}.generate:generate", "Generate a synthetic workload."),
        "library": LazyCommand(
            f"{_COMMANDS}.library:library", "List benchmark instances and best-known solutions."
        ),
        "study": LazyCommand(
            f"{_COMMANDS}.study:study", "Reproduce the tables and figures of the papers."
        ),
        "fetch": LazyCommand(
            f"{_COMMANDS}.fetch:fetch", "Download logs of the Parallel Workloads Archive."
        ),
    },
}

#: All commands by their names.
COMMANDS = {name: command for section in SECTIONS.values() for name, command in section.items()}

#: The variable by which a shell asks for completions.
COMPLETION_VARIABLE = "_COSCHED_COMPLETE"


def _print_version(context: click.Context, parameter: click.Parameter, is_given: bool) -> None:
    if is_given:
        from cosched.version import installed_version

        click.echo(installed_version())
        context.exit()


def _print_completion(
    context: click.Context, parameter: click.Parameter, shell: str | None
) -> None:
    if shell is not None:
        from click.shell_completion import get_completion_class

        completion_class = get_completion_class(shell)
        assert completion_class is not None
        click.echo(completion_class(cosched, {}, "cosched", COMPLETION_VARIABLE).source())
        context.exit()


@click.group(
    "cosched",
    cls=LazyGroup,
    sections=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and stop.",
)
@click.option(
    "--import",
    "imports",
    multiple=True,
    metavar="FILE|MODULE",
    help="Python file or module that registers algorithms of your own; before the command, "
    "repeatable: cosched --import mine.py compare packs times.csv",
)
@click.option(
    "--completion",
    type=click.Choice(("bash", "zsh", "fish")),
    is_eager=True,
    expose_value=False,
    callback=_print_completion,
    help='Print a script for completion in this shell: eval "$(cosched --completion bash)".',
)
@click.pass_context
def cosched(context: click.Context, imports: tuple[str, ...]) -> None:
    """Understand, predict and improve scheduling on HPC clusters."""
    for name in imports:
        from cosched.cli.user_code import import_own

        import_own(name)
    context.invoke(require_subcommand)
