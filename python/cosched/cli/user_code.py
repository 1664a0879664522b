"""Code of the user's own that the command line is told to import."""

import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from cosched.errors import InvalidInstance, MissingExtra, optional, shorten


def import_own(name: str) -> ModuleType:
    """Import ``FILE.py`` or a module by its name, from this folder too.

    What a file registers reaches worker processes by value: they need not find the file.
    """
    path = Path(name)
    try:
        if path.suffix != ".py":
            look_here_first()
            return import_module(name)
        return _import_file(path)
    except Exception as error:
        what = str(error) or type(error).__name__
        raise InvalidInstance(f"--import {shorten(name)}: {what}") from error


def look_here_first() -> None:
    """Let modules of this folder be imported by name, as ``python -m cosched`` does."""
    current_folder = str(Path.cwd())
    if current_folder not in sys.path:
        sys.path.insert(0, current_folder)


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise FileNotFoundError("no such file")
    if path.stem in sys.modules:
        raise ImportError(f"a module {path.stem} is loaded already: choose another file name")
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[path.stem]
        raise
    with suppress(MissingExtra):  # then no study can run, and nothing else has worker processes
        optional("cloudpickle", extra="studies").register_pickle_by_value(module)
    return module
