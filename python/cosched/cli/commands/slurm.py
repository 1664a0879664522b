"""``cosched slurm``: the simulator of Slurm, and recordings of real ones."""

from cosched.cli.command_groups import LazyCommand, LazyGroup

_COMMANDS = "cosched.cli.commands"

slurm = LazyGroup(
    "slurm",
    help="Record a real Slurm; compare the simulator with it.",
    sections={
        "Commands": {
            "check": LazyCommand(
                f"{_COMMANDS}.slurm_check:check",
                "Compare the simulator with a recorded Slurm, job by job and plan by plan.",
            ),
            "record": LazyCommand(
                f"{_COMMANDS}.slurm_record:record",
                "Run jobs on a real Slurm of your own on this host, and record what it does.",
            ),
            "trace": LazyCommand(
                f"{_COMMANDS}.slurm_trace:trace",
                "Show what a backfill cycle of the simulator did with each job, and why.",
            ),
        }
    },
)
