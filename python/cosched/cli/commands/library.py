"""``cosched library``: benchmark instances and best-known solutions."""

from cosched.cli.command_groups import LazyCommand, LazyGroup

_COMMANDS = "cosched.cli.commands"

library = LazyGroup(
    "library",
    help="List benchmark instances and best-known solutions.",
    epilog="Example: cosched library list dags",
    sections={
        "Commands": {
            "list": LazyCommand(
                f"{_COMMANDS}.library_list:list_instances",
                "List values, bounds and gaps, the largest gap first.",
            ),
            "show": LazyCommand(
                f"{_COMMANDS}.library_show:show_instance", "Show an instance and its record."
            ),
            "solve": LazyCommand(
                f"{_COMMANDS}.library_solve:solve_instance",
                "Try an algorithm against the record of an instance.",
            ),
            "verify": LazyCommand(
                f"{_COMMANDS}.library_verify:verify_records",
                "Check values by the validators, and bounds by their certificates.",
            ),
            "submit": LazyCommand(
                f"{_COMMANDS}.library_submit:submit_schedule",
                "Put a better schedule into the records, ready for a pull request.",
            ),
        }
    },
)
