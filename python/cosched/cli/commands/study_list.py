"""``cosched study list``: the studies and the data they need."""

from pathlib import Path

import click

from cosched.cli.command_groups import Command
from cosched.cli.shared_options import TABLE_SUFFIXES, json_option, output_file_option
from cosched.errors import require


@click.command("list", cls=Command)
@output_file_option(*TABLE_SUFFIXES, help="The table: .csv, .json or .md.")
@json_option
def list_studies(output: Path | None, as_json: bool) -> None:
    """List the studies and the data they need.

    \b
    Example: cosched study list
    """
    require("cloudpickle", "pyarrow", extra="studies")
    from cosched import experiments, io
    from cosched.cli import report
    from cosched.lazy import pd

    rows = []
    for study in experiments.STUDIES.values():
        missing_paths = study.missing(quick=False)
        data = ", ".join(
            f"{path} (missing)" if path in missing_paths else path for path in study.needs
        )
        rows.append((study.name, study.family, study.title, data or "-"))
    columns = ["name", "family", "title", "real data below COSCHED_DATA"]
    frame = pd.DataFrame(rows, columns=columns)
    if output is not None:
        io.write_frame(frame, output)
    if as_json:
        report.print_json(frame.to_dict("records"))
    else:
        report.show_frame("studies", frame)
