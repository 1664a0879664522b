"""Some rows of sacct as a table of texts: by pyarrow where it is installed, else by pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

from cosched.lazy import pd

if TYPE_CHECKING:
    import pandas

#: Bytes that pyarrow reads in another way than pandas: a line end, and the end of a text.
_OTHER_BYTES = (b"\r", b"\0")


def read_block(
    text: bytes, columns: Sequence[str], kinds: Mapping[str, Any], mark: str
) -> pandas.DataFrame:
    """The columns of a text without a header, whose rows have as many fields as there are columns.

    Parameters
    ----------
    text : bytes
        UTF-8.
    columns : sequence of str
        Names of all fields.
    kinds : mapping
        Of the columns that are wanted: ``"category"``, whose categories are in order, or ``str``.
    mark : str
        The delimiter, one byte.
    """
    arrow = _arrow()
    if arrow is None or any(byte in text for byte in _OTHER_BYTES):
        return _read_by_pandas(text, columns, kinds, mark)
    return _read_by_arrow(arrow, text, columns, kinds, mark)


@cache
def _arrow() -> Any:
    """The modules pyarrow and pyarrow.csv; None where they are not installed."""
    try:
        import_module("pyarrow.csv")
        return import_module("pyarrow")
    except ImportError:
        return None


def _read_by_pandas(
    text: bytes, columns: Sequence[str], kinds: Mapping[str, Any], mark: str
) -> pandas.DataFrame:
    return pd.read_csv(
        BytesIO(text),
        sep=mark,
        header=None,
        names=list(columns),
        usecols=list(kinds),
        quoting=3,
        dtype=dict(kinds),
        keep_default_na=False,
        na_filter=False,
        index_col=False,
        lineterminator="\n",  # a carriage return may stand in a name
    )[list(kinds)]


def _read_by_arrow(
    arrow: Any, text: bytes, columns: Sequence[str], kinds: Mapping[str, Any], mark: str
) -> pandas.DataFrame:
    csv = arrow.csv
    table = csv.read_csv(
        arrow.BufferReader(text),
        csv.ReadOptions(use_threads=False, column_names=list(columns), block_size=len(text) + 1),
        csv.ParseOptions(
            delimiter=mark,
            quote_char=False,
            double_quote=False,
            escape_char=False,
            newlines_in_values=False,
            ignore_empty_lines=False,
        ),
        csv.ConvertOptions(
            include_columns=list(kinds),
            column_types=dict.fromkeys(kinds, arrow.large_string()),
            strings_can_be_null=False,
            check_utf8=False,
        ),
    )
    series = {}
    for name, kind in kinds.items():
        column = table.column(name)
        if kind != "category":
            series[name] = pd.Series(column.to_pandas(), dtype=str)
            continue
        coded = pd.Series(column.dictionary_encode().to_pandas())
        categories: Any = coded.cat.categories.astype(str)
        texts = coded.cat.rename_categories(categories)
        series[name] = texts.cat.reorder_categories(sorted(texts.cat.categories))
    return pd.DataFrame(series)
