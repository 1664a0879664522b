"""Scripts for sbatch: one for each allocation, and one that submits them all."""

import math
from collections.abc import Sequence
from pathlib import Path

from cosched.execution.shell_text import quote_word

#: A line ``#SBATCH`` cannot hold the name of a folder with these.
_QUOTES = frozenset("\"'\\")
#: Where the scripts write which job each of them is.
SUBMITTED = "submitted.txt"

_SCRIPT = """#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --nodes={nodes} --ntasks-per-node=1 --cpus-per-task={cores}
#SBATCH --time={minutes} --no-kill
#SBATCH --output={output} --open-mode=append
{more}# {about}; it needs Python 3 only.
# What starts and ends is a line in {name}.journal.jsonl; submitted again, it runs what has not
# completed. The runner ends its tasks before Slurm does.
# Slurm runs a copy of this script, so its own folder is one of these:
for folder in {folders}; do
  [ -n "$folder" ] && {is_folder} && break
  folder=
done
if [ -z "$folder" ]; then
  echo "{name}.sh: its folder is not found (was it moved?): submit it in its folder" >&2
  exit 2
fi
cd -- "$folder" || exit 1
exec {python} runner.py {name}.json
"""


def script_of(
    name: str,
    nodes: int,
    cores: int,
    time: float,
    options: Sequence[str],
    about: str = "many",
    python: str = "python3",
    *,
    folder: Path | None = None,
    key: str = "",
) -> str:
    """A script for sbatch that starts the runner with ``NAME.json``.

    Parameters
    ----------
    time : float
        Seconds that Slurm is asked for.
    folder : pathlib.Path, optional
        Where the script will be; without it, it has to be submitted there.
    key : str
        A text in ``NAME.json`` by which the script knows its own folder from another one.
    """
    is_named = str(folder).isprintable() and not set(str(folder)) & _QUOTES
    output = f"{name}.log"
    folders = ['"$(dirname -- "$0")"', '"${SLURM_SUBMIT_DIR:-}"']
    if folder is not None:
        folders.insert(1, quote_word(str(folder)))
    if folder is not None and is_named:
        output = '"{}"'.format(str(folder / output).replace("%", "%%"))
    wanted = f'[ -e "$folder/{name}.json" ]'
    if key:
        wanted = f'grep -qsF {quote_word(key)} "$folder/{name}.json"'
    return _SCRIPT.format(
        name=name,
        nodes=nodes,
        cores=cores,
        minutes=max(math.ceil(time / 60), 1),
        output=output,
        more="".join(f"#SBATCH {option}\n" for option in options),
        about=about,
        folders=" ".join(folders),
        is_folder=wanted,
        python=quote_word(python),
    )


def submission_of(names: Sequence[str], after: Sequence[Sequence[int]], jobs: int | None) -> str:
    """A script that submits those of these names, each after the places in `after`.

    `jobs`: so many may run at a time; None: all.
    """
    lines = [
        "#!/bin/bash",
        "# Submits all allocations; those that wait for others after them. Where one of these",
        "# fails, Slurm cancels what waits for it. submitted.txt keeps their numbers.",
        'cd -- "$(dirname -- "$0")" && set -e',
    ]
    for place, (name, before) in enumerate(zip(names, after, strict=True)):
        waits = [f"afterok:$j{first}" for first in before]
        if jobs is not None and place >= jobs and place - jobs not in before:
            waits.append(f"afterany:$j{place - jobs}")
        options = f"--parsable --output={name}.log"
        if waits:
            options += f" --kill-on-invalid-dep=yes --dependency={','.join(waits)}"
        lines.append(f"j{place}=$(sbatch {options} {name}.sh); j{place}=${{j{place}%%;*}}")
        lines.append(f'echo "{name}: $j{place}"; echo "{name} $j{place}" >> {SUBMITTED}')
    return "\n".join(lines) + "\n"
