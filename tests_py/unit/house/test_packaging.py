"""What is shipped: a wheel that carries GLPK, a source archive that is complete."""

import base64
import csv
import email
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
import yaml

import cosched
from cosched.registry import FAMILIES
from support import REPO, load_script

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text())
MAKEFILE = (REPO / "Makefile").read_text()


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


def require_both_licences(wheel):
    """The metadata of a wheel names both licences, and their texts are in it."""
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        (path,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        folder = path.rpartition("/")[0]
        fields = email.message_from_bytes(archive.read(path))
        assert fields["License-Expression"] == "Apache-2.0 AND GPL-3.0-or-later"
        assert fields["Metadata-Version"] == "2.4"
        assert fields["Name"] == "cosched-hpc"
        assert fields["License"] is None
        assert not [c for c in fields.get_all("Classifier", []) if c.startswith("License")]
        names = fields.get_all("License-File")
        texts = [archive.read(f"{folder}/licenses/{name}").decode() for name in names]
        assert "Apache License" in texts[0]
        assert "GNU GENERAL PUBLIC LICENSE" in texts[1]
        rows = list(csv.reader(archive.read(f"{folder}/RECORD").decode().splitlines()))
        assert sorted(name for name, *_ in rows) == sorted(
            name for name in archive.namelist() if not name.endswith("/")
        )
        for name, digest, size in rows:
            content = archive.read(name)
            if digest:
                digest_bytes = base64.urlsafe_b64decode(digest.removeprefix("sha256=") + "=")
                assert digest_bytes == hashlib.sha256(content).digest()
                assert int(size) == len(content)


@pytest.mark.parametrize("library", ["cosched_hpc.libs/libglpk-1a2b.so.40.3.1", "cosched/core.so"])
@pytest.mark.parametrize("folder", ["", "licenses/"])
def test_a_wheel_with_glpk_has_both_licences(library, folder, tmp_path):
    licence = f"cosched_hpc-1.dist-info/{folder}LICENSE"
    metadata = (
        "Metadata-Version: 2.2\nName: cosched-hpc\nVersion: 1\nLicense: Apache-2.0\n"
        "Classifier: License :: OSI Approved :: Apache Software License\n"
        "Classifier: Typing :: Typed\nLicense-File: LICENSE\n\nLicense: of the description\n"
    )
    wheel = tmp_path / "cosched_hpc-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in {
            "cosched/__init__.py": "", library: "x", licence: "old",
            "cosched_hpc-1.dist-info/RECORD": "", "cosched_hpc-1.dist-info/METADATA": metadata,
        }.items():  # fmt: skip
            archive.writestr(name, text)
    before = wheel.read_bytes()
    output = run(sys.executable, REPO / ".ci" / "wheel_licence.py", wheel)
    if "glpk" not in library:
        assert wheel.read_bytes() == before
        assert "unchanged" in output
        return
    require_both_licences(wheel)
    with zipfile.ZipFile(wheel) as archive:
        metadata_text = archive.read("cosched_hpc-1.dist-info/METADATA").decode()
    assert metadata_text.endswith("\n\nLicense: of the description\n")
    assert "Classifier: Typing :: Typed" in metadata_text
    assert ".ci/wheel_licence.py dist/*.whl" in MAKEFILE
    assert [path.name for path in tmp_path.iterdir()] == [wheel.name]


def test_the_wheel_brings_its_libraries(tmp_path):
    # The objects of `make build` or `make dev`, where they are.
    build_folders = [REPO / "build" / name for name in ("dev", "release")]
    build_options = [
        f"--config-settings=build-dir={path}" for path in build_folders if path.is_dir()
    ]
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        *build_options[:1],
        "-w",
        tmp_path,
        REPO,
    )
    (raw,) = tmp_path.glob("*.whl")
    run("auditwheel", "repair", "-w", tmp_path / "repaired", raw)
    (wheel,) = (tmp_path / "repaired").glob("*.whl")
    run(sys.executable, REPO / ".ci" / "wheel_licence.py", wheel)
    require_both_licences(wheel)
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
    cited = set(re.findall(r'notes: "Family (\w+)', citation))
    assert cited == set(FAMILIES), "CITATION.cff: one paper a family, with its name in the notes"


def test_the_conda_recipe_asks_for_what_the_package_asks_for():
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


def test_the_conda_recipe_is_one(tmp_path, monkeypatch):
    """rattler-build reads it, refuses a key that it does not know, and renders one package."""
    rattler = pytest.importorskip("rattler_build", reason="of the extra dev: 83 MB")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # it leaves folders
    recipe = (REPO / "conda" / "recipe.yaml").read_text()
    variant = rattler.VariantConfig.from_yaml("cxx_compiler: [gxx]\nc_stdlib: [sysroot]\n")
    (package,) = rattler.Stage0Recipe.from_yaml(recipe).render(variant)
    assert package.recipe.package.name == PROJECT["project"]["name"]
    with pytest.raises(rattler.RattlerBuildError):
        rattler.Stage0Recipe.from_yaml(recipe.replace("license_file", "licence_file"))


def test_nobody_is_sent_to_a_strangers_package():
    """The name cosched is somebody else's on PyPI."""
    name = r"(?:\[[^\]]*\])?(?![-\w/.])"  # cosched, cosched[all]; not cosched-hpc, cosched/file
    wrong = re.compile(
        rf"(pip3?|pipx|uv|conda|mamba)( \S+)* (install|add|inject)( -\S+)* ['\"]?cosched{name}"
        r"|\bcosched\[[a-z]+(,[a-z]+)*\]"
    )
    for text in ("pip install cosched", "pip install -q 'cosched[all]'", "of `cosched[studies]`"):
        assert wrong.search(text + "\n")
    for text in ("pip install 'cosched-hpc[all]'", "pip install ./cosched", "`cosched.packs`"):
        assert not wrong.search(text + "\n")
    for name in run("git", "-C", REPO, "ls-files").split():
        path = REPO / name
        if path.is_file() and path != Path(__file__):
            match = wrong.search(path.read_bytes().decode(errors="replace"))
            assert not match, f"{name}: {match[0]}"


def test_linters_are_pinned_in_one_place():
    """What the hooks, `make lint` and so the workflow run is of the versions in pyproject.toml."""
    pinned = dict(line.split("==") for line in PROJECT["project"]["optional-dependencies"]["lint"])
    programs = {"lint-imports": "import-linter"}
    hooks = yaml.safe_load((REPO / ".pre-commit-config.yaml").read_text())["repos"]
    assert [each["repo"] for each in hooks] == ["local"]
    entries = "\n".join(hook["entry"] for hook in hooks[0]["hooks"])
    (recipe,) = re.findall(r"^lint:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    for text, place in ((entries, r"\.venv/bin"), (recipe, r"\$\(BIN\)")):
        lines = text.splitlines()
        matches = [re.search(rf"(?:^|\s){place}/([\w-]+)", line) for line in lines]
        assert all(matches), f"not a program of .venv: {lines}"
        used = {programs.get(each[1], each[1]) for each in matches if each}
        scripts_of_our_own = {"python"}
        assert used - scripts_of_our_own == set(pinned) - {"pandas-stubs"}


def test_an_extra_is_installed_together_with_those_that_are_there(tmp_path, monkeypatch):
    """So pip chooses versions that suit all, and never breaks what an earlier extra needs."""
    monkeypatch.chdir(REPO)
    script = load_script(REPO / ".ci" / "requirements.py")
    for name in ("test", "created", "docs"):
        (tmp_path / f"{name}.stamp").touch()
    assert script.extras_of(["--beside", str(tmp_path), "dev"]) == ["dev", "docs", "test"]
    assert script.extras_of(["dev"]) == ["dev"]
    (recipe,) = re.findall(r"^\.venv/test\.stamp .*\n\t(.*)\n", MAKEFILE, re.MULTILINE)
    assert "requirements.py --beside .venv $*" in recipe


def test_what_make_installs_has_no_conflict():
    if Path(sys.prefix).resolve() != (REPO / ".venv").resolve():
        pytest.skip("looks at the environment that the Makefile made")
    assert run(sys.executable, "-m", "pip", "check").strip() == "No broken requirements found."


def test_actions_are_pinned_by_commit():
    """A tag can be moved to other code; the version beside the commit is for dependabot."""
    lines = [
        line.strip()
        for path in (REPO / ".github" / "workflows").glob("*.yml")
        for line in path.read_text().splitlines()
        if "uses:" in line
    ]
    assert len(lines) > 10
    for line in lines:
        assert re.search(r"uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


@pytest.mark.parametrize("workflow", ["ci.yml", "nightly.yml"])
def test_workflows_call_the_makefile(workflow):
    """Nothing that CI does has another recipe: its targets are those that work here."""
    text = (REPO / ".github" / "workflows" / workflow).read_text()
    called = re.findall(r"run: make ([^#\n]+)", text)
    targets = {word for line in called for word in line.split() if re.fullmatch("[a-z-]+", word)}
    for names in re.findall(r"target: \[(.+)\]", text):
        targets |= set(re.findall(r"[a-z-]+", names))
    assert targets
    assert targets <= set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    assert workflow != "ci.yml" or {"wheel", "wheel-test", "coverage", "lint", "docs"} <= targets
