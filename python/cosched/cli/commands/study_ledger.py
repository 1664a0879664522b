"""``cosched study ledger``: the claims of the papers, compared with our results."""

import json
from pathlib import Path

import click

from cosched.cli.command_groups import Command
from cosched.cli.shared_options import TABLE_SUFFIXES, json_option, output_file_option
from cosched.errors import require


@click.command("ledger", cls=Command)
@click.argument("studies", nargs=-1, metavar="[STUDY]...", help="Default: all.")
@output_file_option(*TABLE_SUFFIXES, help="The table: .md, .json or .csv.")
@json_option
def show_ledger(studies: tuple[str, ...], output: Path | None, as_json: bool) -> None:
    """Show every claim of the papers, compared with our results.

    The results are those of our studies at full size, which are stored in the package: nothing
    runs.

    \b
    Example: cosched study ledger cluster-table2 --json -o ledger.json
    """
    require("cloudpickle", "pyarrow", extra="studies")
    from cosched import io
    from cosched.experiments import kept

    rows = kept.ledger_rows(studies)
    records = [row.plain() for row in rows]
    if output is not None:
        if output.suffix == ".json":
            io.write_json(records, output)
        elif output.suffix == ".csv":
            io.write_frame(kept.as_frame(rows), output)
        else:
            io.write_text(kept.markdown(rows), output)
    print(json.dumps(records, indent=1, ensure_ascii=False) if as_json else kept.markdown(rows))
