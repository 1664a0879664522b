"""``cosched study``: the tables and figures of the papers."""

from cosched.cli.command_groups import LazyCommand, LazyGroup

_COMMANDS = "cosched.cli.commands"

study = LazyGroup(
    "study",
    help="Reproduce the tables and figures of the papers.",
    epilog="Example: cosched study run packs-fig2-5 --quick -o packs --workers 2",
    sections={
        "Commands": {
            "list": LazyCommand(
                f"{_COMMANDS}.study_list:list_studies", "List the studies and the data they need."
            ),
            "run": LazyCommand(
                f"{_COMMANDS}.study_run:run_study",
                "Run a study: results.parquet, tables, figures and report.html.",
            ),
            "verify": LazyCommand(
                f"{_COMMANDS}.study_verify:verify_study",
                "Compare the files of a study with the digests that were stored of them.",
            ),
            "ledger": LazyCommand(
                f"{_COMMANDS}.study_ledger:show_ledger",
                "Show every claim of the papers, compared with our results.",
            ),
        }
    },
)
