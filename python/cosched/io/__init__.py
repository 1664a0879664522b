"""Files in and out: errors name line and column, what is written is whole or not there."""

from cosched.described import described
from cosched.io.limit import max_bytes, polled
from cosched.io.numbers import (
    is_number,
    parse_integer,
    parse_nonnegative,
    parse_number,
    parse_positive,
)
from cosched.io.tables import (
    CsvTable,
    parse_csv,
    parse_json,
    parse_toml,
    read_csv,
    read_json,
    read_rows,
)
from cosched.io.unpack import (
    archive_members,
    bare_name,
    naming,
    open_text,
    read_bytes,
    read_members,
    read_text,
)
from cosched.io.writing import check_suffix, plain, replacing, write_frame, write_json, write_text

__all__ = [
    "CsvTable",
    "archive_members",
    "bare_name",
    "check_suffix",
    "is_number",
    "max_bytes",
    "naming",
    "open_text",
    "parse_csv",
    "parse_integer",
    "parse_json",
    "parse_nonnegative",
    "parse_number",
    "parse_positive",
    "parse_toml",
    "plain",
    "polled",
    "read_bytes",
    "read_csv",
    "read_json",
    "read_members",
    "read_rows",
    "read_text",
    "replacing",
    "write_frame",
    "write_json",
    "write_text",
]

described(globals())
