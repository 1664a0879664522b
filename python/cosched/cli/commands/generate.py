"""``cosched generate``: synthetic workloads, one command for each."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from cosched.cli.command_groups import Command, CommandGroup
from cosched.cli.families import parameters_of
from cosched.cli.option_types import (
    MAX_SEED,
    AnyInteger,
    CommaList,
    Integer,
    Number,
    OutputFile,
    ParsedByLibrary,
    Seconds,
    Text,
    Words,
)
from cosched.cli.shared_options import (
    Decorator,
    given_values,
    output_option,
    require_output,
    workload_option,
)


class WorkloadGroup(CommandGroup):
    """Workloads by name; a hyphen in a name is an underscore."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, [args[0].replace("-", "_"), *args[1:]])


generate = WorkloadGroup(
    "generate",
    help="Generate a synthetic workload.",
    epilog="Example: cosched generate packs_ii --tasks 20 --seed 1 -o times.csv",
)

#: Options of every workload.
_COMMON_OPTIONS = (
    workload_option(
        "--seed", type=Integer(0, MAX_SEED), default=0, show_default=True, help="Random seed."
    ),
    output_option(
        "--option",
        "option",
        multiple=True,
        hidden=True,
        metavar="KEY=VALUE",
        help="An option as in earlier versions.",
    ),
    output_option("-o", "--output", type=OutputFile(), help="The instance (.csv, .json, ...)."),
)

_UNITS = workload_option(
    "--units",
    type=ParsedByLibrary("cpus,gpus", "cosched.dags.arguments:parse_units"),
    help="Units of each type; default: 16 CPUs and 4 of each further type.",
)
_MEMORIES = workload_option(
    "--memories",
    type=ParsedByLibrary("host|unit|integer,...", "cosched.dags.arguments:parse_memories"),
    show_default="host",
    help="Which units share a memory.",
)
_LATENCY_TYPE = ParsedByLibrary("number|matrix", "cosched.dags.arguments:parse_matrix")


def _add(name: str, about: str, *options: Decorator[Any]) -> None:
    """Add the command of a workload."""
    parameters = parameters_of(*options, *_COMMON_OPTIONS)
    phrase = about if about.startswith("Search ") else f"Generate {about[0].lower()}{about[1:]}"
    generate.add_command(
        Command(
            name,
            callback=partial(_generate, name),
            params=parameters,
            help=f"{phrase}\n\n\b\nExample: cosched generate {name} --seed 1 -o {name}.csv",
            short_help=about,
        )
    )


def _generate(
    name: str, seed: int, option: tuple[str, ...], output: Path | None, **parameters: Any
) -> None:
    from cosched import io
    from cosched.cli import report
    from cosched.cli.parameters import parse_parameters
    from cosched.cli.stopping import best_so_far
    from cosched.errors import InvalidInstance, shorten
    from cosched.workloads import WORKLOADS

    path = require_output(output, "the instance (.csv, .json, ...)")
    older_options = parse_parameters(option)
    names = option_names(generate.commands[name].params)
    for key in older_options:
        if key not in (*names, *_UNLISTED.get(name, ())):
            raise InvalidInstance(f"unknown option {shorten(key)} (options: {', '.join(names)})")
    options = given_values(parameters) | older_options
    _require_arguments(name, options)
    with report.working(name), best_so_far() as stop:
        instance = WORKLOADS[name](**{"seed": seed, **options})
    if hasattr(instance, "write"):
        instance.write(path)
        report.say(f"wrote {path}: {instance}")
    else:
        io.write_frame(instance, path, exact=True)
        report.say(f"wrote {path}: {len(instance)} rows")
    stop.then("this is what was found until then")


def _require_arguments(name: str, options: Mapping[str, Any]) -> None:
    """Refuse a workload without the options that have no default."""
    from cosched.workloads import WORKLOADS

    missing_options = [
        f"--{parameter.name.replace('_', '-')}"
        for parameter in inspect.signature(WORKLOADS[name]).parameters.values()
        if parameter.default is inspect.Parameter.empty
        and parameter.name not in options
        and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    if missing_options:
        raise click.UsageError(f"missing {', '.join(missing_options)}")


def option_names(parameters: Sequence[click.Parameter]) -> list[str]:
    """The keyword arguments of a workload that are options of its command."""
    return [
        str(parameter.name)
        for parameter in parameters
        if getattr(parameter, "group", "") == "Workload" and parameter.name != "seed"
    ]


#: Keyword arguments that are no options of a command: they have no short form.
_UNLISTED = {
    **dict.fromkeys(("cholesky", "lu", "qr"), ("times", "seed")),
    "worst_case": ("options",),
}

_add(
    "lublin",
    "Jobs of the Lublin-Feitelson model.",
    workload_option("--n", type=AnyInteger(), show_default="1000", help="Number of jobs."),
    workload_option("--nodes", type=AnyInteger(), show_default="128", help="Cluster size."),
    workload_option(
        "--types",
        type=Words(("untyped", "typed")),
        show_default="untyped",
        help="One stream, or a batch and an interactive one.",
    ),
    workload_option(
        "--convention",
        type=Words(("dfrs", "rigid")),
        show_default="dfrs",
        help="Shares of nodes (dfrs), or processors (rigid).",
    ),
    workload_option(
        "--serial-cpu",
        type=Number(),
        show_default="0.25",
        help="CPU need of the task of a one-task job, as a fraction of a node.",
    ),
)
_add(
    "requests",
    "Jobs of groups that are similar, with what they requested, used and needed.",
    workload_option("--n", type=AnyInteger(), help="Number of jobs (required)."),
    workload_option("--nodes", type=AnyInteger(), help="Cluster size (required)."),
    workload_option("--cores", type=AnyInteger(), show_default="16", help="Cores per node."),
    workload_option(
        "--memory-gb", type=Number(), show_default="128", help="Memory per node in GB."
    ),
    workload_option("--load", type=Number(), show_default="0.8", help="Mean core utilization."),
    workload_option(
        "--drift",
        type=Number(),
        show_default="0.03",
        help="Standard deviation of the logarithm of a code's medians from month to month.",
    ),
)
_PACKS_CONSTANTS = (
    workload_option(
        "--cores-per-node", type=AnyInteger(), show_default="8", help="Cores per node."
    ),
    workload_option(
        "--serial-fractions",
        type=CommaList(Number()),
        show_default="0,0.04,0.08,0.16,0.32",
        help="Serial fractions, of which each task has one.",
    ),
    workload_option(
        "--sequential",
        type=CommaList(Text("form")),
        show_default="m,m log m,m^2,m^3",
        help="Forms of the sequential time.",
    ),
    workload_option(
        "--overheads",
        type=CommaList(Text("form")),
        show_default="log q,(log q)^2,q log q,(m/q) log q,sqrt(m/q),m log q",
        help="Forms of the parallel overhead.",
    ),
    workload_option(
        "--sizes",
        type=CommaList(Number()),
        show_default="500,2000",
        help="Smallest and largest problem size.",
    ),
    workload_option(
        "--reference-time",
        type=Number(),
        show_default="100000",
        help="Sequential time of the largest task.",
    ),
    workload_option("--max-tasks", type=AnyInteger(), help="Largest number of tasks in a pack."),
)
_add(
    "packs_ii",
    "Workload II: synthetic parallel applications.",
    workload_option("--tasks", type=AnyInteger(), show_default="65", help="Number of tasks."),
    workload_option("--nodes", type=AnyInteger(), show_default="16", help="Number of nodes."),
    *_PACKS_CONSTANTS,
)
_add(
    "packs_iii",
    "Workload III: 260 applications on 32 nodes.",
    workload_option("--tasks", type=AnyInteger(), show_default="260", help="Number of tasks."),
    workload_option("--nodes", type=AnyInteger(), show_default="32", help="Number of nodes."),
    *_PACKS_CONSTANTS,
)
_add(
    "moldable",
    "Moldable jobs of the paper's experiments.",
    workload_option(
        "--kind",
        metavar="NAME",
        show_default="cirne-berman",
        help="Model of the times; any beginning that is unique.",
    ),
    workload_option("--n", type=AnyInteger(), show_default="400", help="Number of jobs."),
    workload_option("--m", type=AnyInteger(), show_default="200", help="Number of processors."),
    workload_option(
        "--weights",
        type=CommaList(Number()),
        show_default="1,10",
        help="Smallest and largest weight.",
    ),
    workload_option(
        "--sequential",
        type=CommaList(Number()),
        show_default="1,10",
        help="Smallest and largest time on one processor (s).",
    ),
    workload_option(
        "--small",
        type=CommaList(Number()),
        show_default="1,0.5",
        help="Mean and standard deviation of the time of small jobs, of mixed (s).",
    ),
    workload_option(
        "--large",
        type=CommaList(Number()),
        show_default="10,5",
        help="Mean and standard deviation of the time of large jobs, of mixed (s).",
    ),
    workload_option(
        "--small-share", type=Number(), show_default="0.7", help="Probability of a small job."
    ),
    workload_option(
        "--deviation", type=Number(), show_default="0.2", help="Standard deviation of X."
    ),
)
_add(
    "projects",
    "Projects with precedence and scarce resources, as ProGen draws them.",
    workload_option("--n", type=AnyInteger(), show_default="10", help="Number of jobs."),
    workload_option(
        "--resources", type=AnyInteger(), show_default="3", help="Number of resources."
    ),
    workload_option(
        "--complexity", type=Number(), show_default="1.5", help="Arcs per job, on average."
    ),
    workload_option(
        "--factor", type=Number(), show_default="0.6", help="Share of the resources per job."
    ),
    workload_option(
        "--strength", type=Number(), show_default="0.3", help="How plentiful resources are, 0 to 1."
    ),
    workload_option(
        "--durations",
        type=CommaList(AnyInteger()),
        show_default="1,10",
        help="Smallest and largest duration.",
    ),
    workload_option(
        "--requests",
        type=CommaList(AnyInteger()),
        show_default="1,10",
        help="Smallest and largest request.",
    ),
)
_add(
    "three_partition",
    "The instance of the NP-completeness proof (Theorem 2), whose optimum is known.",
    workload_option("--triples", type=AnyInteger(), show_default="3", help="Number of triples."),
    workload_option("--target", type=AnyInteger(), show_default="40", help="Sum of a triple."),
    workload_option(
        "--max-tasks", type=AnyInteger(), show_default="3", help="Largest number in a pack."
    ),
)
_add(
    "fork_join",
    "The fork-join application of Amaris et al. 2017.",
    workload_option("--width", type=AnyInteger(), show_default="100", help="Tasks of a phase."),
    workload_option("--phases", type=AnyInteger(), show_default="2", help="Number of phases."),
    _UNITS,
    workload_option("--mean", type=Number(), help="Mean CPU time of a task."),
    workload_option("--deviation", type=Number(), help="Standard deviation of the CPU times."),
    workload_option(
        "--slow-share",
        type=Number(),
        show_default="0.05",
        help="Share of tasks that are slower on a GPU.",
    ),
    workload_option(
        "--slow",
        type=CommaList(Number()),
        show_default="0.1,0.5",
        help="Range of the acceleration of slow tasks.",
    ),
    workload_option(
        "--fast",
        type=CommaList(Number()),
        show_default="0.5,50",
        help="Range of the acceleration of the others.",
    ),
    workload_option("--types", type=AnyInteger(), show_default="2", help="Resource types."),
)
_TILED_OPTIONS = (
    workload_option("--tiles", type=AnyInteger(), show_default="10", help="Tiles per side."),
    _UNITS,
    workload_option(
        "--spread",
        type=Number(),
        show_default="0",
        help="Each time is multiplied by a factor uniform in 1 - spread to 1 + spread.",
    ),
    workload_option(
        "--tile-bytes", type=Number(), help="Bytes of a tile, which each edge moves; default: none."
    ),
    workload_option(
        "--bandwidth",
        type=_LATENCY_TYPE,
        show_default="12e6",
        help="Bytes per millisecond of transfers.",
    ),
    workload_option(
        "--latency", type=_LATENCY_TYPE, show_default="0.01", help="Milliseconds per transfer."
    ),
    _MEMORIES,
)
_add("cholesky", "Tiled Cholesky factorization.", *_TILED_OPTIONS)
_add("lu", "Tiled LU factorization without pivoting.", *_TILED_OPTIONS)
_add("qr", "Tiled QR factorization, flat tree.", *_TILED_OPTIONS)
_add(
    "layered",
    "Random layered graph with the parameters of DAGGEN.",
    workload_option("--n", type=AnyInteger(), show_default="100", help="Number of tasks."),
    workload_option(
        "--density",
        type=Number(),
        show_default="0.5",
        help="Share of the layer before that may precede a task.",
    ),
    _UNITS,
    workload_option(
        "--fat",
        type=Number(),
        show_default="0.5",
        help="Layers have n^fat tasks on average: 0 a chain, 1 independent tasks.",
    ),
    workload_option(
        "--regularity",
        type=Number(),
        show_default="0.8",
        help="Regularity of the layer sizes, 0 to 1.",
    ),
    workload_option(
        "--jump",
        type=AnyInteger(),
        show_default="1",
        help="Number of layers before a task that have its further predecessors.",
    ),
    workload_option("--mean", type=Number(), show_default="10", help="Mean CPU time."),
    workload_option(
        "--task-cv",
        type=Number(),
        show_default="0.5",
        help="Coefficient of variation of the CPU times.",
    ),
    workload_option(
        "--acceleration",
        type=CommaList(Number()),
        show_default="0.5,50",
        help="Range of CPU time / GPU time.",
    ),
    workload_option(
        "--cpu-only",
        type=Number(),
        show_default="0",
        help="Probability that a task runs on CPUs only.",
    ),
    workload_option(
        "--ccr",
        type=Number(),
        help="Communication-to-computation ratio; default: nothing moves.",
    ),
    workload_option(
        "--bandwidth", type=Number(), show_default="1e9", help="Bytes per second of transfers."
    ),
    workload_option(
        "--latency", type=_LATENCY_TYPE, show_default="0", help="Seconds per transfer."
    ),
    _MEMORIES,
)
_add(
    "saga",
    "A random tree, or parallel chains, on a small network, as the SAGA framework draws them.",
    workload_option(
        "--kind",
        type=Words(("in-tree", "out-tree", "chains")),
        show_default="in-tree",
        help="Shape of the graph.",
    ),
    workload_option("--nodes", type=AnyInteger(), show_default="4", help="Nodes of the network."),
    workload_option(
        "--ccr", type=Number(), show_default="1", help="Communication-to-computation ratio."
    ),
)
_CPUS = workload_option("--m", type=AnyInteger(), show_default="16", help="Number of CPUs.")
_GPUS = workload_option("--k", type=AnyInteger(), show_default="4", help="Number of GPUs.")
_add("theorem1", "Worst case of HEFT on m CPUs and k GPUs (Theorem 1).", _CPUS, _GPUS)
_add(
    "theorem2",
    "Worst case of HLP-EST and HLP-OLS on m CPUs and m GPUs (Theorem 2).",
    workload_option("--m", type=AnyInteger(), show_default="10", help="Number of CPUs, and GPUs."),
)
_add("theorem4", "Worst case of ER-LS on m CPUs and k GPUs (Theorem 4).", _CPUS, _GPUS)
_add(
    "theorem5",
    "Worst case of QHLP-EST and QHLP-OLS on m units of each type (Theorem 5).",
    workload_option("--m", type=AnyInteger(), show_default="8", help="Units of each type."),
    workload_option("--types", type=AnyInteger(), show_default="3", help="Resource types."),
)
_add(
    "worst_case",
    "Search for a task graph on which an algorithm is as far as possible from the best.",
    workload_option("--algorithm", metavar="NAME", help="The algorithm (required)."),
    workload_option(
        "--against",
        metavar="best|bound|NAME",
        show_default="best",
        help="What the ratio refers to: the best-known schedule, the bound, or an algorithm.",
    ),
    workload_option(
        "--tasks", type=AnyInteger(), show_default="10", help="Largest number of tasks."
    ),
    workload_option(
        "--units",
        type=ParsedByLibrary("cpus,gpus", "cosched.dags.arguments:parse_units"),
        show_default="4,2",
        help="Units of each resource type.",
    ),
    workload_option("--seconds", type=Seconds(), help="Time of the search."),
    workload_option(
        "--work", type=AnyInteger(), help="Instances to evaluate; default: 10,000 without a time."
    ),
    workload_option("--transfers", is_flag=True, help="Data move along the edges."),
    workload_option(
        "--machines",
        type=Words(("types", "network")),
        show_default="types",
        help="Units of a type, or nodes and links that each have a speed.",
    ),
    workload_option(
        "--method",
        type=Words(("annealing", "random")),
        show_default="annealing",
        help="How instances are searched.",
    ),
)
_add(
    "bags_random",
    "Random times and powers: the q-th experiment of figure 3 of the paper.",
    workload_option("--q", type=AnyInteger(), show_default="1", help="Number of the experiment."),
    workload_option(
        "--gamma", type=Number(), show_default="1.2", help="Price over the smallest energy cost."
    ),
    workload_option("--energy-cost", type=Number(), show_default="1", help="Price of a joule."),
    workload_option("--task-types", type=AnyInteger(), show_default="30", help="Task types."),
    workload_option(
        "--tasks-per-type", type=AnyInteger(), show_default="5", help="Tasks per type, times q."
    ),
    workload_option("--machine-types", type=AnyInteger(), show_default="9", help="Machine types."),
    workload_option(
        "--machines-per-type", type=AnyInteger(), show_default="40", help="Machines per type."
    ),
)
