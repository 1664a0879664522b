"""The site: `make docs`."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import cosched
from cosched.experiments.kept import FOLDER as KEPT

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

from family_reference import write_object_pages  # noqa: E402  it stands in _extensions

project = "cosched"
author = "the cosched developers"
copyright = author
version = release = cosched.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_design",
    "sphinx_copybutton",
    "clone_links",
    "command_reference",
    "family_reference",
    "library_table",
    "mathml",
]
exclude_patterns = ["_*"]
nitpicky = True
# Classes of other packages that docstrings name: without a network there are no inventories.
_OTHERS = "numpy|np|pandas|pd|matplotlib|networkx|highspy|pathlib|collections|typing"
# Names in docstrings without a page: fields of classes, and functions that are not public.
nitpick_ignore = [
    ("py:attr", "constraints"),
    ("py:attr", "judged_weeks"),
    ("py:func", "start_of_log"),
    ("py:func", "cosched.core.tails.tolerance_risks"),
]
nitpick_ignore_regex = [(r"py:.*", rf"({_OTHERS})\..*")]

# --- pages and notebooks ------------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
# The programs of a notebook: it runs in a folder of its own.
os.environ["COSCHED_CODES"] = str(HERE.parent / "notebooks" / "codes")
nb_execution_timeout = 600
nb_execution_show_tb = True
nb_merge_streams = True
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # whatever it is outside


def copy_notebooks() -> None:
    """Tutorials are the notebooks of ../notebooks: Sphinx reads only what is below this folder."""
    notebooks = {path.name: path for path in (HERE.parent / "notebooks").glob("*.ipynb")}
    copies = {path.name: path for path in (HERE / "tutorials").glob("*.ipynb")}
    for name in copies.keys() - notebooks.keys():
        copies[name].unlink()
    for name, path in notebooks.items():
        if name not in copies or copies[name].read_bytes() != path.read_bytes():
            shutil.copyfile(path, HERE / "tutorials" / name)


def fingerprint(start: str, *more: Path) -> str:
    """Changes with the package: what another one has made is stale."""
    package = Path(cosched.__file__).parent
    total = hashlib.sha256(start.encode())
    for path in sorted([*package.rglob("*.py"), *package.glob("_core*.so"), *more]):
        total.update(path.read_bytes())
    return total.hexdigest()[:16]


def render_results() -> None:
    """The pages of the studies, from the rows that the package keeps of their runs.

    In git are the ledger and the digests of the pages: only `make results` writes these.
    """
    folder, script = HERE / "results", HERE.parent / ".ci" / "results.py"
    mark, current = folder / ".rendered", fingerprint("", script, *KEPT.glob("*.parquet"))
    if mark.exists() and mark.read_text() == current:
        return
    for path in [*folder.glob("*.png"), *folder.glob("*-*.md")]:  # of studies as they were
        path.unlink()
    agg = {**os.environ, "MPLBACKEND": "Agg"}
    subprocess.run([sys.executable, script, "pages"], check=True, env=agg)
    mark.write_text(current)


_LOG = "cluster/sacct.txt --machine cluster/slurm.conf --accounts cluster"
REPORTS = {
    "audit": f"audit {_LOG} --what-if nodes=+4 --what-if users.ada=-50% --what-if bf_window=2880",
    "when": "when cluster/now.json",
    "rightsize": f"rightsize {_LOG}",
    "tune": "tune tune/sacct.txt --machine tune/slurm.conf --objective mean_bounded_slowdown "
    "--vary PriorityWeightPartition=0,200,5000 --draws 2",
}


def render_reports() -> None:
    """The reports of the gallery, made by the commands that it shows."""
    folder, notebooks = HERE / "_static" / "reports", HERE.parent / "notebooks"
    mark, current = folder / ".rendered", fingerprint(repr(REPORTS))
    if mark.exists() and mark.read_text() == current:
        return
    folder.mkdir(exist_ok=True)
    for name, command in REPORTS.items():
        words = [*command.split(), "-o", str(folder / f"{name}.html")]
        subprocess.run(
            [sys.executable, "-m", "cosched", *words],
            check=True,
            cwd=notebooks,
            capture_output=True,
        )
    mark.write_text(current)


copy_notebooks()
render_results()
render_reports()
write_object_pages(HERE / "reference" / "api")

# --- reference ----------------------------------------------------------------------------
autodoc_typehints = "none"  # numpydoc's sections say types, with shapes and units
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# --- looks --------------------------------------------------------------------------------
REPOSITORY = "https://github.com/cosched-hpc/cosched"
html_theme = "furo"
html_title = f"cosched {version}"
html_logo = "_static/logo.svg"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navigation_with_keys": True,
    "source_repository": f"{REPOSITORY}/",
    "source_branch": "main",
    "source_directory": "docs/",
    "top_of_page_buttons": ["edit"],
    "footer_icons": [{"name": "Repository", "url": REPOSITORY, "html": "Repository", "class": ""}],
}
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None
pygments_style = "tango"
smartquotes = False  # options keep their two dashes
# A block without a language is the output of a program.
highlight_language = "none"
# Prompts, and the output of programs, are not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_selector = "div:not(.highlight-text):not(.highlight-none) > div.highlight > pre"


def setup(app) -> None:
    """A new fingerprint reads all pages anew, and runs the notebooks again."""
    current = fingerprint(os.environ.get("COSCHED_QUICK", ""))  # the size of the notebooks
    app.add_config_value("cosched_fingerprint", current, "env")
    app.config.nb_execution_cache_path = str(Path(app.outdir).parent / "notebooks" / current)
