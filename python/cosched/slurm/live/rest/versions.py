"""Which versions of the REST interface are read, and which of them a server offers."""

from __future__ import annotations

import re

from cosched.errors import InvalidInstance
from cosched.slurm.live.rest.client import RestClient, RestError

#: From Slurm 21.08 on (0.0.37) to 25.05 (0.0.43).
SUPPORTED_VERSIONS = tuple(f"0.0.{number}" for number in range(37, 44))
#: Where servers describe themselves: since 21.08, and before that.
_DESCRIPTIONS = ("/openapi/v3", "/openapi")
_JOBS_PATH = re.compile(r"/slurm/v(0\.0\.[0-9]+)/jobs/?")


def choose_version(client: RestClient, requested_version: str | None = None) -> str:
    """The newest version that the server offers among those that are read.

    Where the server does not describe itself, versions are tried from the newest on.

    Raises
    ------
    InvalidInstance
        There is none, or not the requested one; no answer.
    """
    wanted_versions = SUPPORTED_VERSIONS[::-1]
    if requested_version is not None:
        version = requested_version.removeprefix("v")
        if version not in SUPPORTED_VERSIONS:
            raise InvalidInstance(
                f"--rest-version {version}: expected one of {', '.join(SUPPORTED_VERSIONS)}"
            )
        wanted_versions = (version,)
    offered_versions = _offered_versions(client)
    if offered_versions is None:
        offered_versions = _versions_that_answer(client, wanted_versions)
    for version in wanted_versions:
        if version in offered_versions:
            return version
    if not offered_versions:
        raise RestError(
            f"{client.server.text}: no version of /slurm answers (HTTP 404): expected the "
            "address of slurmrestd"
        )
    offered = ", ".join(sorted(offered_versions))
    raise RestError(
        f"{client.server.text}: offers version {offered} of /slurm: expected "
        f"{' or '.join(wanted_versions) if requested_version else '0.0.37 to 0.0.43'}"
    )


def _offered_versions(client: RestClient) -> set[str] | None:
    """Versions by the server's description; None: it has none."""
    for path in _DESCRIPTIONS:
        try:
            paths = client.get(path).get("paths")
        except RestError as error:
            if error.status != 404:
                raise
            continue
        if isinstance(paths, dict):
            matches = (_JOBS_PATH.fullmatch(name) for name in paths)
            return {match[1] for match in matches if match is not None}
    return None


def _versions_that_answer(client: RestClient, wanted_versions: tuple[str, ...]) -> set[str]:
    """The first of these versions whose ping answers."""
    for version in wanted_versions:
        try:
            client.get(f"/slurm/v{version}/ping")
        except RestError as error:
            if error.status != 404:
                raise
            continue
        return {version}
    return set()
