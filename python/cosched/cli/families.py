"""The commands that every problem class has: their options, and what their help texts say."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import click

from cosched.cli.command_groups import Command, CommandGroup
from cosched.cli.option_types import (
    AnyInteger,
    InputPath,
    Number,
    OutputFile,
    ParsedByLibrary,
    VariantValues,
    Words,
)
from cosched.cli.shared_options import (
    Decorator,
    combine,
    given_values,
    input_option,
    log_options,
    max_bytes_option,
    no_bound_option,
    output_option,
    variants,
)

_PROFILE_OPTIONS = combine(
    input_option(
        "--fit",
        type=Words(("interpolation", "amdahl", "power-law")),
        help="Model of the times between measured counts.",
    ),
    input_option(
        "--extrapolate", is_flag=True, help="Use the fitted model outside measured counts."
    ),
    input_option(
        "--counts",
        type=Words(("all", "measured")),
        help="Processor counts that tasks may get.",
    ),
    max_bytes_option,
)


def _packs_options(varies: bool) -> Decorator[Any]:
    several = " (2,3,4 compares several)" if varies else ""
    return combine(
        input_option(
            "--max-tasks",
            type=variants(AnyInteger(), varies),
            help=f"Largest number of tasks in a pack{several}.",
        ),
        input_option(
            "--procs", type=AnyInteger(), help="Processors p: read the times on 1..p only."
        ),
        _PROFILE_OPTIONS,
    )


def _dags_type(name: str, function: str) -> ParsedByLibrary:
    return ParsedByLibrary(name, f"cosched.dags.arguments:{function}")


def _dags_options(varies: bool) -> Decorator[Any]:
    return combine(
        input_option(
            "--units",
            type=_dags_type("cpus,gpus", "parse_units"),
            help="Units of each type, as 16,4.",
        ),
        input_option(
            "--acceleration",
            type=_dags_type("ratio,...|file", "parse_acceleration"),
            help="CPU time / time on each further type, for files with one time per task.",
        ),
        input_option("--times", type=InputPath(), help="CSV file with the times of every task."),
        input_option(
            "--bandwidth",
            type=_dags_type("number|matrix", "parse_matrix"),
            help="Bytes per second of transfers: a number, or one row per type of sender, as "
            "inf,12e9;12e9,6e9.",
        ),
        input_option(
            "--latency",
            type=_dags_type("number|matrix", "parse_matrix"),
            help="Seconds per transfer, in the same forms; default: 0.",
        ),
        input_option(
            "--memories",
            type=_dags_type("host|unit|integer,...", "parse_memories"),
            help="Which units share a memory: all CPUs (host), none (unit), or one number per "
            "unit, as 0,0,1,2.",
        ),
        input_option(
            "--memory-capacity",
            type=_dags_type("number,...", "parse_capacity"),
            help="Bytes that each memory holds: a number, or one per type, as inf,16e9.",
        ),
        input_option(
            "--edge-data",
            metavar="NAME",
            help="Attribute of the edges of DOT and GraphML files that holds bytes; default: "
            "data, else size.",
        ),
        input_option(
            "--perfmodels",
            type=InputPath(),
            help="For tasks.rec of StarPU: output of starpu_perfmodel_recdump, for the times on "
            "other types.",
        ),
        max_bytes_option,
    )


def _cluster_options(varies: bool) -> Decorator[Any]:
    return combine(
        log_options(varies=varies),
        no_bound_option,
    )


_CLUSTER_OUTPUTS = combine(
    output_option(
        "--log",
        type=OutputFile(".csv"),
        help="Why jobs started, waited, were paused or moved, one row per event: .csv.",
    ),
    output_option(
        "--jobs", type=OutputFile(".csv"), help="One row per job, as evalys reads it: .csv."
    ),
)


def _moldable_options(varies: bool) -> Decorator[Any]:
    several = " (100,200 compares several)" if varies else ""
    return combine(
        input_option(
            "--machines", type=variants(AnyInteger(), varies), help=f"Processors m{several}."
        ),
        _PROFILE_OPTIONS,
    )


def _bags_options(varies: bool) -> Decorator[Any]:
    return combine(
        input_option(
            "--price",
            type=variants(Number(), varies),
            help="Revenue of the bag" + (" (1e6,2e6 compares several)." if varies else "."),
        ),
        input_option("--energy-cost", type=Number(), help="Price of a joule; default: 1."),
        input_option(
            "--gamma",
            type=variants(Number(), varies),
            help="Instead of the price: its multiple of the smallest energy cost"
            + (" (1.1,1.2 compares several)." if varies else "."),
        ),
        input_option(
            "--idle-power",
            type=ParsedByLibrary("watts,...", "cosched.bags.instance:parse_watts"),
            help="Watts of an idle machine: one number, or one per machine type (60,45).",
        ),
        input_option(
            "--power-cap", type=Number(), help="Largest mean power of all machines, in watts."
        ),
        input_option(
            "--missing",
            type=Words(("refuse", "drop", "drop-tasks", "drop-machines")),
            help="What becomes of pairs of task and machine without a time.",
        ),
        max_bytes_option,
    )


@dataclass(frozen=True)
class FamilyTexts:
    """What the help texts of a problem class say.

    Attributes
    ----------
    question : str
        What the class asks.
    file, arguments, algorithm : str
        A command of an example: the instance, the options it needs, an algorithm.
    algorithms : str
        The names of the algorithms.
    options : callable
        The options of an instance; where its argument is True, some take several values.
    output_options : callable
        The options of files that ``solve`` writes for this class alone.
    """

    question: str
    file: str
    arguments: str
    algorithm: str
    algorithms: str
    options: Callable[[bool], Decorator[Any]]
    output_options: Decorator[Any] = field(default_factory=combine)


FAMILIES: Mapping[str, FamilyTexts] = {
    "packs": FamilyTexts(
        "Packs: which parallel applications run side by side, and on how many processors each?",
        "times.csv", "--max-tasks 4", "local-search",
        "sequential, pairs, optimal, ilp, pack-approx, random-pack-1, random-pack-9, "
        "random-proc-1, random-proc-9, pack-by-pack-1, pack-by-pack-9, local-search",
        _packs_options,
    ),
    "dags": FamilyTexts(
        "Task graphs: which task runs when, on a CPU or on a GPU?",
        "spotri-512-20.txt", "--units 16,2", "hlp-best",
        "hlp-est, hlp-ols, heft, memheft, cpop, peft, etf, min-min, heteroprio, dmda, dmdas, qa, "
        "er-ls, eft, greedy, random, r1-ls, r2-ls, r3-ls, hlp-best, optimal, as-executed",
        _dags_options,
    ),
    "cluster": FamilyTexts(
        "Batch jobs: which job of a log starts when, under which policy?",
        "trace.swf.gz", "--nodes 120 --week 5", "EASY",
        "FCFS, EASY, conservative, slurm-backfill, as-logged, 'EASY (perfect estimates)', "
        "'conservative (perfect estimates)', and 'SUBMIT */per/opt=min/minvt=600' "
        "with SUBMIT Greedy, GreedyP, GreedyPM, MCB8 or nothing; also /stretch-per, opt=avg, "
        "opt=max, minft=; parts may be left out",
        _cluster_options, _CLUSTER_OUTPUTS,
    ),
    "moldable": FamilyTexts(
        "Moldable jobs: on how many processors does each job run, and when?",
        "jobs.csv", "--machines 200", "local-search",
        "demt, demt-best, local-search, optimal, dual-approximation, gang, sequential, "
        "list-shelf, list-lptf, list-saf, list-lp, list-local",
        _moldable_options,
    ),
    "bags": FamilyTexts(
        "Bags of tasks: which machines run how many tasks of each type, at which profit?",
        "FOLDER", "--gamma 1.2", "ttb-best",
        "ttb, ttb-exact, ttb-best, tms, min-energy, min-makespan",
        _bags_options,
    ),
}  # fmt: skip


def family_commands(
    group: CommandGroup,
    example: str,
    *,
    varies: bool = False,
    is_solve: bool = False,
    cls: type[Command] = Command,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add one command per problem class to a group.

    The decorated function has ``family`` (the name of the class), ``file``, its own options, and
    the options of the instance as further keyword arguments.

    Parameters
    ----------
    group : CommandGroup
        Such as ``cosched solve``.
    example : str
        A command with ``{family}``, ``{file}``, ``{arguments}`` and ``{algorithm}``.
    varies : bool
        Whether some options of the instance take several values.
    cls : type
        The class of the commands.
    is_solve : bool
        Whether the commands have the options of files that one class alone writes.
    """

    def add_commands(function: Callable[..., None]) -> Callable[..., None]:
        own_parameters = click.command()(function).params
        for name, texts in FAMILIES.items():
            example_words = {
                "family": name,
                "file": texts.file,
                "arguments": texts.arguments,
                "algorithm": texts.algorithm,
            }
            help_text = f"{group.help}\n\n{texts.question}"
            help_text += f"\n\n\b\nExample: {example.format(**example_words)}"
            if "algorithm" in example:
                help_text += f"\n\nAlgorithms: {texts.algorithms}"
            instance_parameters = parameters_of(
                click.argument("file", type=InputPath(), help=f"The {name} instance."),
                texts.options(varies),
                texts.output_options if is_solve else combine(),
            )
            group.add_command(
                cls(
                    name,
                    callback=partial(function, family=name),
                    params=[*instance_parameters, *own_parameters],
                    help=help_text,
                    short_help=texts.question,
                )
            )
        return function

    return add_commands


def parameters_of(*decorators: Decorator[Any]) -> list[click.Parameter]:
    """The options and arguments that decorators add to a command."""

    def no_command() -> None: ...

    return click.command()(combine(*decorators)(no_command)).params


def read_instance(family: str, file: Path, values: Mapping[str, Any]) -> Any:
    """The instance that a file and options describe.

    Parameters
    ----------
    family : str
        The problem class.
    values : mapping
        Options of the instance; those that were not given keep the defaults of the library.
    """
    from cosched.registry import presentation

    instance_type: Any = presentation(family).family.instance_type
    return instance_type.read(file, **given_values(dict(values)))


def read_variants(
    family: str, file: Path, values: Mapping[str, Any]
) -> list[tuple[dict[str, str], Any]]:
    """The instances for every combination of values, each with the texts of its values.

    An option with one value alone tells no instances apart, and has no text.
    """
    lists = {name: value for name, value in values.items() if isinstance(value, VariantValues)}
    instances = []
    for combination in product(*lists.values()):
        chosen = dict(zip(lists, combination, strict=True))
        texts = {name: text for name, (text, _) in chosen.items() if len(lists[name]) > 1}
        chosen_values = {name: value for name, (_, value) in chosen.items()}
        instances.append((texts, read_instance(family, file, {**values, **chosen_values})))
    return instances
