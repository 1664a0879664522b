"""Snapshots by slurmrestd: the same as by the commands, and what a bad server may send."""

from __future__ import annotations

import json
import random
import re
import ssl
import subprocess
import time

import pytest
from note_facts import has_note
from rest_forms import NEWER, answers_of, load
from snapshot_fields import compare_snapshots
from stub_slurmrestd import TOKEN, Reply, StubSlurmrestd

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.slurm.live import Snapshot
from cosched.slurm.live.rest.client import RestClient, RestError, is_loopback, parse_server
from cosched.slurm.live.rest.versions import SUPPORTED_VERSIONS, choose_version
from support import program

#: Outputs of commands that slurmrestd does not offer, in any version.
FURTHER = ("scontrol_config.txt", "sprio.txt", "scontrol_assoc_mgr.txt")


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("SLURM_JWT", TOKEN)
    monkeypatch.setenv("SLURM_USER_NAME", "root")


@pytest.fixture
def further_outputs(tmp_path):
    """A folder of what only commands tell."""
    folder = tmp_path / "further"
    folder.mkdir()
    for name in FURTHER:
        (folder / name).write_text(load("commands_22.05")[name])
    return folder


def snapshot_of_commands(without=()):
    texts = {name: text for name, text in load("commands_22.05").items() if name not in without}
    return Snapshot.of_texts(texts, "commands", timezone="UTC")


# --- the same snapshot ----------------------------------------------------------------------------

#: What no or not each version tells; in the recording, the moments of two outputs differ, too.
CLOCKS = {"clock: test", "clock: cycle", "clock: last_cycle", "clock: last_pass"}
OVERSUBSCRIBE = {"slurm refused"}  # the partition with FORCE:2
FLAGS = {"slurm refused", "slurm default_partition"}  # the partition with LLN
QOS_LIMITS = {"qos high: GrpSubmit", "qos high: GrpTRESMins"}
GAPS = {
    # It has no types of GPUs in what jobs hold; DefaultTime has the memory.
    "0.0.37": OVERSUBSCRIBE | QOS_LIMITS | {"slurm default_times: main"},
    "0.0.38": OVERSUBSCRIBE | QOS_LIMITS,
    "0.0.39": FLAGS | QOS_LIMITS,
    "0.0.40": FLAGS | QOS_LIMITS,
    "0.0.41": FLAGS | QOS_LIMITS,
    "0.0.42": FLAGS,
    "0.0.43": FLAGS,
}


@pytest.mark.parametrize("version", SUPPORTED_VERSIONS)
def test_the_same_snapshot_as_by_the_commands(version, further_outputs):
    if version < "0.0.40":
        (further_outputs / "sshare.txt").write_text(load("commands_22.05")["sshare.txt"])
    with StubSlurmrestd(answers_of(version)) as server:
        state = Snapshot.ask_rest(
            server.url, history="14days", folder=further_outputs, timezone="UTC"
        )
    by_commands = snapshot_of_commands()
    comparison = compare_snapshots(by_commands, state)
    assert comparison.count > 650
    assert len(state.jobs) == len(by_commands.jobs) == 12
    differing = set(comparison.differences) - CLOCKS
    assert differing <= GAPS[version], {k: comparison.differences[k] for k in differing}
    assert has_note(state.missing, NoteKind.READING, "REST version")
    assert has_note(state.missing, NoteKind.REPAIRED, "start") == (version == "0.0.37")


@pytest.mark.parametrize("version", SUPPORTED_VERSIONS)
def test_jobs_of_slurmdbd_are_the_same_log_as_by_sacct(tmp_path, version):
    answer = answers_of(version)[f"/slurmdb/v{version}/jobs"]
    (tmp_path / "jobs.json").write_text(json.dumps(answer))
    (tmp_path / "sacct.txt").write_text(load("commands_22.05")["sacct.txt"])
    (tmp_path / "machine.toml").write_text("[[nodes]]\ncount = 4\ncores = 4\nmemory_gb = 8\n")
    by_rest, by_sacct = (
        cs.cluster.from_sacct(tmp_path / name, tmp_path / "machine.toml", timezone="UTC",
                              include_running=True)
        for name in ("jobs.json", "sacct.txt")
    )  # fmt: skip
    names = ["id", "submit", "tasks", "estimate", "user", "account", "partition", "memory_gb",
             "nodes", "status"]  # fmt: skip
    ended = by_sacct.jobs.status == "completed"
    assert ended.any()
    assert by_rest.jobs[names].equals(by_sacct.jobs[names])
    columns = ["wait", "runtime"]
    assert by_rest.jobs.loc[ended, columns].equals(by_sacct.jobs.loc[ended, columns])
    assert has_note(by_rest.notes, NoteKind.REPAIRED, "start") == (version == "0.0.37")


@pytest.mark.parametrize("version", SUPPORTED_VERSIONS)
def test_what_a_version_does_not_tell_is_a_note(version):
    with StubSlurmrestd(answers_of(version)) as server:
        state = Snapshot.ask_rest(server.url)
    missing = {note.subject for note in state.missing if note.kind is NoteKind.MISSING_OUTPUT}
    assert {"scontrol_config.txt", "sprio.txt"} <= missing
    assert ("sshare.txt" in missing) == (version < "0.0.40")
    unknown = {note.subject for note in state.missing if note.kind is NoteKind.UNKNOWN}
    assert "scontrol_partition.txt" in unknown
    assert ("sacctmgr_qos.txt" in unknown) == (version < "0.0.42")


def test_start_times_are_predicted_of_it(tmp_path, capsys):
    path = tmp_path / "now.json"
    with StubSlurmrestd(answers_of("0.0.43")) as server:
        assert main(["snapshot", "--rest", server.url, "-o", str(path), "--history", "14d"]) == 0
    assert "wrote" in capsys.readouterr().out
    assert main(["when", str(path), "--json"]) == 0
    jobs = json.loads(capsys.readouterr().out)["jobs"]
    assert len(jobs) == len(Snapshot.read(path).pending)


def test_licences_and_the_version_of_slurm_without_a_configuration():
    with StubSlurmrestd(answers_of("0.0.38")) as server:
        state = Snapshot.ask_rest(server.url)
    assert state.version == "22.05.8"
    assert "Licenses = matlab:4" in state.scontrol_texts["config"]


def test_dates_are_in_the_time_zone_of_the_folder(further_outputs):
    with StubSlurmrestd(answers_of("0.0.38")) as server:
        utc = Snapshot.ask_rest(server.url, history="14days", folder=further_outputs,
                                timezone="UTC")  # fmt: skip
        tokyo = Snapshot.ask_rest(server.url, history="14days", folder=further_outputs,
                                  timezone="Asia/Tokyo")  # fmt: skip
        with pytest.raises(cs.InvalidInstance, match="expected their time zone"):
            Snapshot.ask_rest(server.url, folder=further_outputs)
    assert tokyo.history == utc.history
    assert tokyo.jobs == utc.jobs
    assert tokyo.clocks["boot"] == utc.clocks["boot"] - 9 * 3600


# --- versions -------------------------------------------------------------------------------------


def offering(*versions):
    answers = {}
    for version in versions:
        answers |= answers_of(version)
    paths = {f"/slurm/v{version}/jobs": {} for version in versions}
    return {**answers, "/openapi/v3": {"paths": {**paths, "/slurm/v0.0.44/jobs/": {}}}}


def test_the_newest_version_that_both_know():
    with StubSlurmrestd(offering("0.0.38", "0.0.40", "0.0.41")) as server:
        state = Snapshot.ask_rest(server.url)
        assert any("/slurm/v0.0.41/jobs" in path for path, _ in server.requests)
        Snapshot.ask_rest(server.url, version="0.0.38")
        assert any("/slurm/v0.0.38/jobs" in path for path, _ in server.requests)
        with pytest.raises(cs.InvalidInstance, match=r"0\.0\.38, 0\.0\.40, 0\.0\.41, 0\.0\.44 of"):
            Snapshot.ask_rest(server.url, version="0.0.43")
    assert str(state.missing[0]) == "read by slurmrestd, version 0.0.41"
    with pytest.raises(cs.InvalidInstance, match=r"--rest-version 1: expected one of 0\.0\.37"):
        Snapshot.ask_rest(server.url, version="1")


def test_a_server_that_does_not_describe_itself_is_tried_from_the_newest_version_on():
    answers = answers_of("0.0.39")
    del answers["/openapi/v3"]
    answers["/slurm/v0.0.39/ping"] = {}
    with StubSlurmrestd(answers) as server:
        client = RestClient(parse_server(server.url), "root", TOKEN)
        assert choose_version(client) == "0.0.39"
    assert [path for path, _ in server.requests] == [
        "/openapi/v3", "/openapi", *(f"/slurm/v0.0.{k}/ping" for k in (43, 42, 41, 40, 39)),
    ]  # fmt: skip


def test_a_server_of_other_versions_alone():
    answers = {"/openapi/v3": {"paths": {"/slurm/v0.0.36/jobs": {}}}}
    message = r"offers version 0\.0\.36 of /slurm"
    with StubSlurmrestd(answers) as server, pytest.raises(cs.InvalidInstance, match=message):
        Snapshot.ask_rest(server.url)


# --- the token ------------------------------------------------------------------------------------


def test_the_token_is_sent_in_each_request_and_is_nowhere_else(tmp_path, capsys, caplog):
    path = tmp_path / "now.json"
    with StubSlurmrestd(answers_of("0.0.42")) as server:
        assert main(["-v", "snapshot", "--rest", server.url, "-o", str(path)]) in (0, 2)
        code = main(["snapshot", "-v", "--rest", server.url, "-o", str(path), "--history", "9"])
    assert code == 0
    assert len(server.requests) >= 9
    for _, headers in server.requests:
        assert headers["X-SLURM-USER-TOKEN"] == TOKEN
        assert headers["X-SLURM-USER-NAME"] == "root"
    printed = capsys.readouterr()
    for text in (printed.out, printed.err, caplog.text, path.read_text()):
        assert TOKEN not in text
    assert TOKEN not in repr(RestClient(parse_server(server.url), "root", TOKEN))


@pytest.mark.parametrize("value", ["", "  ", "two words", "new\nline", "é"])
def test_what_is_no_token_is_refused_without_showing_it(monkeypatch, value):
    monkeypatch.setenv("SLURM_JWT", value)
    with pytest.raises(cs.InvalidInstance, match=r"^SLURM_JWT is (not set|no token)") as error:
        Snapshot.ask_rest("http://127.0.0.1:1")
    assert not value.strip() or value not in str(error.value)


def test_a_server_that_sends_the_token_back(tmp_path, capsys):
    answers = answers_of("0.0.40")
    answers["/slurm/v0.0.40/jobs"]["jobs"][1]["name"] = f"job {TOKEN}"
    answers["/slurm/v0.0.40/nodes"]["nodes"][1]["features"] = [TOKEN]
    answers["/slurm/v0.0.40/diag"] = {"errors": [{"error": f"no {TOKEN} here"}]}
    path = tmp_path / "now.json"
    with StubSlurmrestd(answers) as server:
        assert main(["snapshot", "--rest", server.url, "-o", str(path)]) == 0
    printed = capsys.readouterr()
    assert "no *** here" in printed.out
    for text in (printed.out, printed.err, path.read_text()):
        assert TOKEN not in text


@pytest.mark.parametrize("user", ["a\nb", "ann b", "\u00e9va", "x" * 300])
def test_users_that_no_header_can_have(monkeypatch, user):
    monkeypatch.setenv("SLURM_USER_NAME", user)
    with pytest.raises(cs.InvalidInstance, match=r"^SLURM_USER_NAME = "):
        Snapshot.ask_rest("http://127.0.0.1:1")


def test_whose_token_it_is(monkeypatch):
    monkeypatch.delenv("SLURM_USER_NAME")
    monkeypatch.setenv("USER", "ann")
    message = "not accepted for user 'ann'"
    with (
        StubSlurmrestd({"*": Reply(401)}) as server,
        pytest.raises(cs.InvalidInstance, match=message),
    ):
        Snapshot.ask_rest(server.url)


# --- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("head:6820", "expected an address"),
        ("ftp://head", "expected an address"),
        ("https://", "expected an address"),
        ("https://ann:secret@head", "expected an address"),
        ("https://head:99999", "expected an address"),
        ("https://head/?token=secret", "expected an address"),
        ("https://head/a b", "expected an address"),
        ("https://h\u00e9ad/", "expected an address"),
        ("https://head/\u00e9", "expected an address"),
        ("http://head.example.org:6820", "unencrypted: expected https"),
        ("http://10.0.0.1", "unencrypted: expected https"),
        ("http://localhost.example.org", "unencrypted: expected https"),
    ],
)
def test_addresses_that_are_refused(url, message):
    with pytest.raises(cs.InvalidInstance, match=message) as error:
        parse_server(url)
    assert "secret" not in str(error.value)


def test_addresses_of_this_host_and_of_others_that_are_allowed():
    assert parse_server("http://[::1]:6820").text == "http://[::1]:6820"
    assert parse_server("https://head/rest/").text == "https://head:443/rest"
    assert parse_server("http://head:1", allow_http=True).scheme == "http"
    assert is_loopback("127.8.9.1")
    assert not is_loopback("128.0.0.1")


def test_options_of_rest_alone(tmp_path, capsys):
    for option in (["--rest-version", "0.0.40"], ["--timeout", "3"], ["--allow-http"]):
        assert main(["snapshot", *option, "-o", str(tmp_path / "a.json")]) == 2
        assert f"{option[0]} is for --rest only" in capsys.readouterr().err
    words = ["snapshot", "--rest", "http://127.0.0.1:1", "--history", "sacct.txt"]
    assert main([*words, "-o", str(tmp_path / "a.json")]) == 2
    assert "--history FILE is not for --rest" in capsys.readouterr().err


# --- what a server may send -----------------------------------------------------------------------

_ERRORS = {"errors": [{"error_number": 1, "description": f"bad token {TOKEN}\nsecond line"}]}
FAULTS = {
    "401": (Reply(401, b"Authentication failure"), "HTTP 401 .*SLURM_JWT is not accepted"),
    "403": (Reply(403), "HTTP 403 .*not accepted for user 'root'"),
    "404": (Reply(404), "HTTP 404.*: expected the address of slurmrestd"),
    "500": (Reply(500, json.dumps(_ERRORS).encode()), r"HTTP 500 .*bad token \*\*\* second line"),
    "502": (Reply(502, b"<html><body>" + b"x" * 9999), r"HTTP 502 Bad Gateway$"),
    "redirect": (Reply(302, headers={"Location": "http://127.0.0.1:9/"}), "302 .*not followed"),
    "html": (Reply(200, b"<html>Welcome</html>"), "line 1, column 1: not JSON"),
    "list": (Reply(200, b"[1, 2]"), "a JSON value of type list: expected an object"),
    "empty": (Reply(200, b""), "not JSON"),
    "no UTF-8": (Reply(200, b'{"a": "\xff"}'), "not JSON: expected UTF-8"),
    "cut": (Reply(200, b'{"paths": {', missing_bytes=40), "the answer is cut off"),
    "cut text": (Reply(200, b'{"paths": {"/slurm/v0.0.40/jo'), "not JSON"),
    "nested": (Reply(200, b'{"a":' * 100_000), "/openapi/v3: "),
    "drips headers": (Reply(drip=0.1, drips_headers=True), "no whole answer within 1 s"),
    "drips": (Reply(200, b'{"paths": {}}' * 50, drip=0.1), "no whole answer within 1 s"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_one_line_and_no_file_where_a_server_fails(tmp_path, capsys, name):
    reply, message = FAULTS[name]
    path = tmp_path / "now.json"
    begin = time.monotonic()
    with StubSlurmrestd({"*": reply}) as server:
        words = ["snapshot", "--rest", server.url, "--timeout", "1", "-o", str(path)]
        assert main(words) == 2
    assert time.monotonic() - begin < 5
    error = capsys.readouterr().err
    assert error.startswith("cosched: error: ")
    assert error.count("\n") == 1
    assert re.search(message, error.strip()), error
    assert TOKEN not in error
    assert not path.exists()


def test_a_redirection_does_not_carry_the_token_away():
    with StubSlurmrestd({"*": {"paths": {}}}) as other:
        reply = Reply(307, headers={"Location": f"{other.url}/openapi/v3"})
        with StubSlurmrestd({"*": reply}) as server, pytest.raises(RestError, match="307"):
            Snapshot.ask_rest(server.url)
        assert other.requests == []


def test_nobody_listens(tmp_path, capsys):
    with StubSlurmrestd({}) as server:
        url = server.url
    assert main(["snapshot", "--rest", url, "-o", str(tmp_path / "a.json")]) == 2
    assert "Connection refused" in capsys.readouterr().err


def test_some_answers_that_fail_are_notes_and_others_end_it():
    answers = answers_of("0.0.40")
    answers["/slurmdb/v0.0.40/qos"] = Reply(500, b'{"errors": [{"error": "no slurmdbd"}]}')
    answers["/slurm/v0.0.40/diag"] = Reply(404)
    answers["/slurmdb/v0.0.40/associations"] = {"errors": [{"error": "denied"}]}
    with StubSlurmrestd(answers) as server:
        state = Snapshot.ask_rest(server.url)
    failed = {note.subject: str(note) for note in state.missing if note.kind is NoteKind.FAILED}
    assert set(failed) == {
        "/slurmdb/v0.0.40/qos", "/slurm/v0.0.40/diag", "/slurmdb/v0.0.40/associations",
    }  # fmt: skip
    assert "no slurmdbd" in failed["/slurmdb/v0.0.40/qos"]
    for path in ("/slurm/v0.0.40/jobs", "/slurm/v0.0.40/nodes"):
        with (
            StubSlurmrestd({**answers, path: Reply(500)}) as server,
            pytest.raises(RestError, match=f"{path}: HTTP 500"),
        ):
            Snapshot.ask_rest(server.url)
    with (
        StubSlurmrestd({**answers, "/slurmdb/v0.0.40/qos": Reply(401)}) as server,
        pytest.raises(RestError, match="HTTP 401"),
    ):
        Snapshot.ask_rest(server.url)


def test_certificates_are_verified(tmp_path, capsys):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-keyout", str(key), "-out", str(certificate),
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with StubSlurmrestd(answers_of("0.0.40"), context) as server:
        words = ["snapshot", "--rest", server.url, "-o", str(tmp_path / "now.json")]
        assert main(words) == 2
        assert "TLS failed: " in capsys.readouterr().err
        assert server.requests == []
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSL_CERT_FILE", str(certificate))
            assert main(words) == 0
    assert len(server.requests) >= 8


# --- damaged answers ------------------------------------------------------------------------------

_PIECES = [b"null", b"-1", b"1e400", b"NaN", b'"', b"[]", b"{}", b"9" * 30, b"true", b",", b":"]


def damaged_answers(version, rng):
    """Answers of which one has some bytes changed, cut out or put in, as long as it is JSON."""
    answers = answers_of(version)
    path = rng.choice([path for path in answers if path != "/openapi/v3"])
    data = bytearray(json.dumps(answers[path]).encode())
    for _ in range(rng.randint(1, 6)):
        place = rng.randrange(len(data))
        kind = rng.randrange(3)
        if kind == 0:
            data[place] = rng.randrange(256)
        elif kind == 1:
            colon = data.find(b":", place)
            end = data.find(b",", colon)
            if 0 < colon < end:
                data[colon + 1 : end] = rng.choice(_PIECES)
        else:
            data[place:place] = rng.choice(_PIECES)
    answers[path] = Reply(200, bytes(data))
    return answers


@pytest.mark.parametrize("version", SUPPORTED_VERSIONS)
def test_damaged_answers_never_break_it(tmp_path, version, capsys):
    rng = random.Random(version)
    path = tmp_path / "now.json"
    for number in range(25):
        with StubSlurmrestd(damaged_answers(version, rng)) as server:
            code = main(["snapshot", "--rest", server.url, "-o", str(path), "--history", "14"])
        error = capsys.readouterr().err
        if code:
            assert code == 2
            assert error.startswith("cosched: error: "), number
            assert error.count("\n") == 1
            assert not path.exists()
        else:
            Snapshot.read(path)
            path.unlink()


def test_the_fixtures_of_newer_versions_have_their_forms():
    for version in NEWER:
        (job,) = [job for job in answers_of(version)[f"/slurm/v{version}/jobs"]["jobs"]
                  if job["job_id"] == 4]  # fmt: skip
        assert isinstance(job["job_state"], list) == (version >= "0.0.40")
        assert ("allocation" in str(job["job_resources"])) == (version >= "0.0.41")
