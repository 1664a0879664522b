"""``cosched script``: a plan as a script for sbatch."""

from pathlib import Path

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import InputPath, Integer, OutputFile, Words
from cosched.cli.shared_options import (
    codes_option,
    execution_option,
    job_option,
    output_option,
    plan_argument,
    require_output,
)


@click.command("script", cls=Command)
@plan_argument
@codes_option
@execution_option(
    "--unit",
    type=Words(("core", "node")),
    default="core",
    show_default=True,
    help="What a processor of the plan is.",
)
@execution_option(
    "--nodes",
    type=Integer(),
    default=1,
    show_default=True,
    help="With --unit core: nodes over which cores are spread evenly.",
)
@execution_option(
    "--cpus-per-node",
    type=Integer(),
    help="With --unit node: cores of a node that a task may use; default: Slurm's.",
)
@job_option(
    "--time",
    metavar="TIME",
    default="auto",
    show_default=True,
    help="Time limit of the job: 4h, or as Slurm has it (2:00:00); auto: the makespan that the "
    "plan exceeds in 5% of the cases, and a minute more.",
)
@job_option("--partition", metavar="NAME", help="Partition of the job.")
@job_option("--account", metavar="NAME", help="Account of the job.")
@job_option(
    "--chdir",
    type=InputPath("folder"),
    help="Working folder of the job; paths are relative to it.",
)
@job_option(
    "--mem",
    metavar="SIZE",
    help="Memory per node, such as 64G; default: the capacity, where steps need memory.",
)
@output_option("-o", "--output", type=OutputFile(), help="The script, for sbatch.")
def script(
    plan: Path,
    codes: Path,
    unit: str,
    nodes: int,
    cpus_per_node: int | None,
    time: str,
    partition: str | None,
    account: str | None,
    chdir: Path | None,
    mem: str | None,
    output: Path | None,
) -> None:
    """Export a plan as a script for sbatch.

    \b
    Example: cosched script plan.json --codes codes.toml --unit core -o job.sh
    """
    import shlex

    from cosched import execution, io
    from cosched.cli import report
    from cosched.cli.plan_files import read_plan_with_codes

    path = require_output(output, "the script for sbatch")
    plan_read, codes_read = read_plan_with_codes(plan, codes)
    job = execution.ScriptJob(
        time=None if time.lower() == "none" else time,
        partition=partition,
        account=account,
        chdir=chdir,
        mem=mem,
    )
    text = execution.script(
        plan_read,
        codes_read,
        name=plan.stem,
        job=job,
        relative_to=job.chdir or Path.cwd(),
        unit=unit,
        nodes=nodes,
        cpus_per_node=cpus_per_node,
    )
    io.write_text(text, path)
    report.say(f"{len(plan_read.steps)} tasks, planned makespan {plan_read.makespan:.1f} s")
    report.say(f"wrote {path}: {shlex.join(['sbatch', str(path)])}")
