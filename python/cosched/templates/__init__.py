"""Fill in the templates of pages (Jinja2), with every text escaped.

The templates next to this file are what all pages share: ``page.html.j2`` is the frame with the
style sheet, ``result.html.j2`` a result in a notebook. ``cosched.reports`` has those of reports.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

_SHARED_TEMPLATES = Path(__file__).parent


def render(template: str, folder: Path | None = None, **values: object) -> str:
    """Return a filled-in template.

    Parameters
    ----------
    template : str
        The name of the file.
    folder : pathlib.Path, optional
        Where the template is looked for first; by default beside this file alone.
    **values
        What the template shows. Text is escaped unless the template calls it safe.

    Examples
    --------
    >>> text = render("result.html.j2", label="<packs.Result>", table="...")
    >>> "&lt;packs.Result&gt;" in text
    True
    """
    return _environment(folder).get_template(template).render(**values)


@cache
def _environment(folder: Path | None) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folders = [_SHARED_TEMPLATES] if folder is None else [folder, _SHARED_TEMPLATES]
    return Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
