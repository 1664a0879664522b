"""Files in and out: errors name line and column, what is written is whole or not there."""

from cosched.border import guard_public
from cosched.described import described
from cosched.io.encoding import as_utf8 as as_utf8
from cosched.io.folders import new_folder as new_folder
from cosched.io.foreign_formats import (
    refuse_foreign_file as refuse_foreign_file,
    refuse_foreign_json as refuse_foreign_json,
    refuse_foreign_text as refuse_foreign_text,
)
from cosched.io.limit import max_bytes as max_bytes, polled as polled
from cosched.io.line_numbers import shown_lines as shown_lines
from cosched.io.text_files import (
    CsvTable as CsvTable,
    is_number as is_number,
    parse_csv as parse_csv,
    parse_integer as parse_integer,
    parse_json as parse_json,
    parse_nonnegative as parse_nonnegative,
    parse_number as parse_number,
    parse_positive as parse_positive,
    parse_toml as parse_toml,
    read_csv as read_csv,
    read_json as read_json,
    read_rows as read_rows,
    repeated_names as repeated_names,
    unique_cells as unique_cells,
)
from cosched.io.toml_keys import lines_of_keys as lines_of_keys
from cosched.io.unpack import (
    archive_members as archive_members,
    bare_name as bare_name,
    naming as naming,
    open_text as open_text,
    read_bytes as read_bytes,
    read_head as read_head,
    read_text as read_text,
)
from cosched.io.writing import (
    check_suffix as check_suffix,
    plain as plain,
    replacing as replacing,
    write_frame as write_frame,
    write_json as write_json,
    write_text as write_text,
)

described(globals())
guard_public(globals())
