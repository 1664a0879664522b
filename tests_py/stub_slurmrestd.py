"""A slurmrestd for tests: answers of a table, and faults, on the loopback."""

from __future__ import annotations

import json
import ssl
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "eyJhbGciOiJIUzI1NiJ9.c2VjcmV0LXRva2Vu.NEVER-TO-BE-SEEN"


@dataclass
class Reply:
    """What is sent instead of an answer."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    #: Seconds before each byte of the body.
    drip: float = 0.0
    #: Headers are sent that slowly, too.
    drips_headers: bool = False
    #: Bytes that are announced beyond those that are sent.
    missing_bytes: int = 0


class StubSlurmrestd:
    """A server of answers by path; a context. `requests` has the paths and headers of all."""

    def __init__(self, answers: dict[str, Any], context: ssl.SSLContext | None = None) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                stub.requests.append((self.path, dict(self.headers)))
                value = answers.get(path, answers.get("*"))
                if value is None:
                    value = Reply(404, b"Unable find requested URL.")
                elif not isinstance(value, Reply):
                    value = Reply(200, json.dumps(value).encode())
                if value.drips_headers:
                    self._drip_headers(value.drip)
                    return
                self.send_response(value.status)
                length = len(value.body) + value.missing_bytes
                for name, text in {"Content-Length": str(length), **value.headers}.items():
                    self.send_header(name, text)
                self.end_headers()
                try:
                    if not value.drip:
                        self.wfile.write(value.body)
                    else:
                        for k in range(len(value.body)):
                            self.wfile.write(value.body[k : k + 1])
                            self.wfile.flush()
                            time.sleep(value.drip)
                except OSError:  # the client has had enough
                    pass

            def _drip_headers(self, seconds: float) -> None:
                try:
                    for letter in b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 60:
                        self.wfile.write(bytes([letter]))
                        self.wfile.flush()
                        time.sleep(seconds)
                except OSError:
                    pass

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        scheme = "http"
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> StubSlurmrestd:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
