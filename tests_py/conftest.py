import hypothesis
import pytest

# The same examples in every run; `make fuzz` is the place for new ones.
hypothesis.settings.register_profile(
    "repeatable", derandomize=True, deadline=None, print_blob=False, database=None
)
hypothesis.settings.load_profile("repeatable")

#: It runs in the Python that has SAGA, by bench_saga.py, and imports what this one may lack.
collect_ignore = ["bench/saga_peer.py"]

#: Files that take longest and cannot be shared: first, for the workers to end together.
LONGEST = (
    "test_execution_slurm.py",
    "test_study_dask.py",
    "test_snakemake.py",
    "test_site.py",
    "test_study_engine.py",
    "test_notebooks.py",
)


def pytest_collection_modifyitems(items):
    rank = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.name, len(LONGEST)))


@pytest.fixture(scope="session")
def snapshots(tmp_path_factory):
    """The folder of what commands printed on real Slurms; see fixtures/slurm/README.md."""
    from support import FIXTURES, unpacked

    folder = tmp_path_factory.mktemp("snapshots")
    for archive in (FIXTURES / "slurm" / "snapshots").iterdir():
        unpacked(archive, folder)
    return folder


@pytest.fixture
def own_algorithm():
    """``cosched.register``, for one test."""
    import cosched as cs

    return cs.register


@pytest.fixture(scope="session")
def browser():
    from web import started

    with started() as program:
        yield program
