"""What is shipped: a wheel that carries GLPK, a source archive that is complete."""

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import cosched
from cosched.registry import FAMILIES
from support import REPO

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text())


def run(*command, **options):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment.update(options.pop("env", {}))
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        **options,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_the_wheel_brings_its_libraries(tmp_path):
    # The objects of `make build` or `make dev`, where they are.
    made = [REPO / "build" / name for name in ("dev", "release")]
    kept = [f"--config-settings=build-dir={path}" for path in made if path.is_dir()]
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        *kept[:1],
        "-w",
        tmp_path,
        REPO,
    )
    (raw,) = tmp_path.glob("*.whl")
    run("auditwheel", "repair", "-w", tmp_path / "repaired", raw)
    (wheel,) = (tmp_path / "repaired").glob("*.whl")
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--target", tmp_path / "site", wheel)
    program = (
        "import sys\n"  # without the link to python/ that `make dev` makes
        "sys.meta_path = [f for f in sys.meta_path if 'ScikitBuild' not in type(f).__name__]\n"
        "import cosched as cs\n"
        "inst = cs.packs.Instance([[4.0, 2.5], [3.0, 1.5]], 2)\n"
        "assert cs.packs.solve(inst, 'ilp').value == 4.0\n"  # GLPK is at work
        "print(cs.__file__)\n"
        "print(*{l.split()[-1] for l in open('/proc/self/maps') if 'libglpk' in l})\n"
    )
    site = tmp_path / "site"
    where, glpk = run(
        sys.executable, "-c", program, env={"PYTHONPATH": str(site)}, cwd=tmp_path
    ).split()
    assert Path(where).is_relative_to(site)
    assert Path(glpk).is_relative_to(site / "cosched_hpc.libs"), "the system's GLPK was loaded"
    assert (site / "cosched" / "py.typed").exists()
    assert (site / "cosched" / "_core" / "packs.pyi").exists()


def test_the_source_archive_is_complete(tmp_path):
    if not (REPO / ".git").exists():
        pytest.skip("compares with the files that git tracks")
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", tmp_path, REPO)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        packed = {name.split("/", 1)[1] for name in tar.getnames() if "/" in name}
    tracked = set(run("git", "-C", REPO, "ls-files").split())
    tracked -= {name for name in tracked if (REPO / name).is_symlink()}  # what they name is there
    left_out = {name for name in tracked - packed if not name.startswith(".git")}
    assert not left_out
    assert not {name for name in packed if name.startswith(("build/", "out/", ".venv/"))}


def test_the_citation_is_of_this_version_and_the_five_papers():
    citation = (REPO / "CITATION.cff").read_text()
    (version,) = re.findall(r"^version: (.+)$", citation, flags=re.MULTILINE)
    assert version == cosched.__version__
    assert set(re.findall(r'notes: "Family (\w+)', citation)) == set(FAMILIES)


def test_the_conda_recipe_asks_for_what_the_package_asks_for():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((REPO / "conda" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == cosched.__version__
    assert recipe["package"]["name"] == PROJECT["project"]["name"]
    named = {line.replace("-base", "") for line in recipe["requirements"]["run"]}
    asked = {
        re.sub(r"([<>=])", r" \1", line.split(";")[0], count=1)
        for line in PROJECT["project"]["dependencies"]
    }
    assert named - asked == {"python", "glpk"}
    assert not asked - named
    host = {line.split()[0] for line in recipe["requirements"]["host"]}
    assert {re.split("[<>=]", line)[0] for line in PROJECT["build-system"]["requires"]} <= host


def test_nobody_is_sent_to_a_strangers_package():
    """The name cosched is somebody else's on PyPI."""
    wrong = re.compile(r"install '?\"?cosched(?![-\w/]|$)|['\"]cosched\[", re.MULTILINE)
    for name in run("git", "-C", REPO, "ls-files").split():
        path = REPO / name
        if path.suffix in (".py", ".md", ".toml", ".yml", ".yaml", ".rst", ".ipynb", ".cfg", ""):
            text = path.read_text(errors="replace") if path.is_file() else ""
            found = wrong.search(text)
            assert not found or path.name == Path(__file__).name, f"{name}: {found and found[0]}"
