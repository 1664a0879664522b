"""Downloads: from a server on this machine; nothing here needs a network."""

import hashlib
import http.server
import threading

import pytest

import cosched as cs
from cosched import workloads
from cosched.cli import main
from cosched.cluster.files.swf import Log
from support import data

CONTENT = b"1 0 0 60 4 -1 -1 4 -1 -1 1 1 1 1 1 1 -1 -1\n"


@pytest.fixture
def server(monkeypatch):
    """Adds the logs good, wrong (another checksum), gone (404) and dead (no server)."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_response(404 if "gone" in self.path else 200)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(CONTENT)

        def log_message(self, *_):
            pass

    requests = []
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http_server:
        threading.Thread(target=http_server.serve_forever, daemon=True).start()
        root = f"http://127.0.0.1:{http_server.server_port}"
        right = hashlib.sha256(CONTENT).hexdigest()
        for name, url, digest in (
            ("good", f"{root}/good.swf", right),
            ("wrong", f"{root}/wrong.swf", "0" * 64),
            ("gone", f"{root}/gone.swf", right),
            ("dead", "http://127.0.0.1:9/dead.swf", right),
        ):
            monkeypatch.setitem(workloads.LOGS, name, Log(url, digest, "for a test"))
        yield requests
        http_server.shutdown()


def test_fetch_once(server, tmp_path, capsys):
    assert main(["fetch", "good", "--out", str(tmp_path)]) == 0
    path = tmp_path / "good.swf"
    assert str(path) in capsys.readouterr().out
    assert path.read_bytes() == CONTENT
    assert workloads.fetch("good", tmp_path) == path
    assert server == ["/good.swf"]  # the second time it was there
    assert workloads.read_swf(path)[1].kept == 1


def test_fetch_all(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(workloads, "LOGS", {"good": workloads.LOGS["good"]})
    assert main(["fetch", "--all", "--out", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["good.swf"]


@pytest.mark.parametrize(
    ("name", "said"),
    [("wrong", "checksum"), ("gone", "the server says 404"), ("dead", "no network")],
)
def test_failures_are_one_line_and_leave_nothing(server, tmp_path, capsys, name, said):
    assert main(["fetch", name, "--out", str(tmp_path)]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert said in lines[0]
    assert name in lines[0]
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_that_name_survives_a_failed_download(server, tmp_path):
    (tmp_path / "wrong.swf").write_text("mine")
    with pytest.raises(cs.SolverError, match="nothing was written"):
        workloads.fetch("wrong", tmp_path)
    assert (tmp_path / "wrong.swf").read_text() == "mine"


def test_bad_names_and_folders(tmp_path, capsys):
    assert main(["fetch", "HPC2N-2003"]) == 2
    assert "HPC2N-2002" in capsys.readouterr().err
    assert main(["fetch"]) == 2
    assert "NAME is missing" in capsys.readouterr().err
    assert main(["fetch", "HPC2N-2002", "--out", str(tmp_path / "none")]) == 2
    assert "no such folder" in capsys.readouterr().err


def test_list(capsys):
    assert main(["fetch", "--list"]) == 0
    listed = capsys.readouterr().out
    for name, log in workloads.LOGS.items():
        assert name in listed
        assert log.url in listed


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(workloads.LOGS))
def test_checksums_are_those_of_the_known_files(name):
    log = workloads.LOGS[name]
    assert hashlib.sha256(data("pwa", log.file).read_bytes()).hexdigest() == log.sha256


def test_generate_lublin(tmp_path):
    path = tmp_path / "week.csv"
    options = ["--option", "n=20", "--option", "nodes=16", "--option", "convention=rigid"]
    assert main(["generate", "lublin", "--seed", "3", "-o", str(path), *options]) == 0
    assert path.read_text().startswith("job,submit,tasks,cpu,memory,runtime\n")
    assert len(path.read_text().splitlines()) == 21
