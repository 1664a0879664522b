"""``cosched machine``: what was understood of a description of a machine, and a machine.toml."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import InputPath
from cosched.cli.shared_options import json_option, output_file_option

if TYPE_CHECKING:
    from cosched.cluster.machine import Machine


@click.command("machine", cls=Command)
@click.argument(
    "file",
    type=InputPath("path"),
    help="slurm.conf, outputs of scontrol show, machine.toml, or what pbsnodes -av, qhost -F -q, "
    "bhosts -w and lshosts -w, or flux resource R printed.",
)
@output_file_option(".toml", help="The machine as machine.toml.")
@json_option
def machine(file: Path, output: Path | None, as_json: bool) -> None:
    """Show the machine in a file of Slurm, PBS, Grid Engine, LSF or Flux, and convert it.

    The content of the file decides its format. Each kind of nodes and each partition is a row.
    What was left out or assumed is a note, with its count. With -o the machine becomes a
    machine.toml, from which the same machine is read.

    \b
    Example: cosched machine pbsnodes.json -o machine.toml
    """
    from cosched import cluster
    from cosched.cli import report

    machine_read = cluster.Machine.read(file)
    further_notes = () if output is None else machine_read.write(output)
    notes = [*machine_read.notes, *further_notes]
    if as_json:
        report.print_json(_machine_record(machine_read, notes))
        return
    _show(machine_read)
    for text in notes:
        report.note(text)
    if output is not None:
        report.hint(f"wrote {output}")


def _show(machine_read: Machine) -> None:
    """Print a table of the kinds of nodes, one of the partitions, and the sums."""
    from cosched.cli import report
    from cosched.cli.wrapped_tables import column, show
    from cosched.cluster.machine.node_types import node_mask
    from cosched.cluster.machine.parts import node_attribute
    from cosched.core.text import count_of
    from cosched.units import format_time_limit

    kinds = machine_read.nodes
    columns = [
        column("nodes", [kind.name for kind in kinds]),
        column("count", [kind.count for kind in kinds]),
        column("cores", [kind.cores for kind in kinds]),
        column("threads", [kind.threads for kind in kinds]),
        column("memory GB", [_or_nan(kind.memory_gb) for kind in kinds]),
        column("GPUs", [kind.gpus for kind in kinds]),
        column("GPU type", [kind.gpu_type or "-" for kind in kinds]),
        column("features", [",".join(kind.features) or "-" for kind in kinds]),
    ]
    show("nodes: cores, memory and GPUs of each", columns)
    partitions = machine_read.partitions
    if partitions:
        cores = node_attribute(machine_read, "cores")
        masks = [node_mask(part.nodes, machine_read.node_count) for part in partitions]
        columns = [
            column("partition", [part.name for part in partitions]),
            column("nodes", [int(mask.sum()) for mask in masks]),
            column("cores", [int(cores[mask].sum()) for mask in masks]),
            column("max time", [format_time_limit(part.max_time) for part in partitions]),
            column("priority", [part.priority for part in partitions]),
        ]
        show("partitions", columns)
    sums = [count_of(machine_read.node_count, "node"), count_of(machine_read.cores, "core")]
    if machine_read.memory_gb:
        sums.append(f"{machine_read.memory_gb:,.6g} GB of memory")
    if machine_read.gpus:
        sums.append(count_of(machine_read.gpus, "GPU"))
    report.say(", ".join(sums))


def _or_nan(amount: float) -> float:
    """Return an amount of memory; nan, which is shown as a dash, where it is not told."""
    return amount or float("nan")


def _machine_record(machine_read: Machine, notes: list[Any]) -> dict[str, Any]:
    """Return the machine as JSON: node types, partitions and notes."""
    from dataclasses import asdict

    from cosched.notes import note_records

    return {
        "nodes": [asdict(kind) for kind in machine_read.nodes],
        "partitions": [asdict(part) for part in machine_read.partitions],
        "cores": machine_read.cores,
        "memory_gb": machine_read.memory_gb,
        "gpus": machine_read.gpus,
        "notes": [str(text) for text in notes],
        "note_records": note_records(notes),
    }
