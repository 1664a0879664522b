"""HTTP to a slurmrestd: one address, a token that nothing prints, and a limit for everything."""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import json
import os
import re
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from getpass import getuser
from typing import Any
from urllib.parse import urlencode, urlsplit

from cosched import io
from cosched.errors import InvalidInstance, shorten
from cosched.version import installed_version

#: Where the token is, and who it is for; slurmrestd's own documentation names both.
TOKEN_VARIABLE, USER_VARIABLE = "SLURM_JWT", "SLURM_USER_NAME"
DEFAULT_TIMEOUT = 60.0
_MAX_ANSWER_BYTES = 1_000_000_000
_CHUNK = 1 << 20
_TOKEN = re.compile(r"[\x21-\x7e]{1,16384}")
_USER = re.compile(r"[\x21-\x7e]{1,256}")
_PATH = re.compile(r"[\x21-\x7e]*")


class RestError(InvalidInstance):
    """An answer that is not what was asked for.

    Attributes
    ----------
    status : int
        HTTP status; 0: there was no answer.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class RestAddress:
    """The address of a slurmrestd, checked.

    Attributes
    ----------
    scheme, host : str
    port : int
    prefix : str
        What stands before its own paths: empty, or such as ``/rest`` behind a proxy.
    """

    scheme: str
    host: str
    port: int
    prefix: str

    @property
    def text(self) -> str:
        """The address as messages have it: without user, password, query and fragment."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.prefix}"


def parse_server(url: str, *, allow_http: bool = False) -> RestAddress:
    """Check the address of a slurmrestd.

    Parameters
    ----------
    allow_http : bool
        Also to other hosts than this one: the token then crosses the network for all to read.

    Raises
    ------
    InvalidInstance
        No http or https address, one with a user, or http to another host.

    Examples
    --------
    >>> parse_server("https://head.example.org:6820").text
    'https://head.example.org:6820'
    >>> parse_server("http://head.example.org:6820")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: --rest http://head.example.org:6820: the token would cross ...
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = parts.hostname or ""
    is_plain = parts.username is None and parts.password is None and not parts.query
    is_plain = is_plain and _PATH.fullmatch(parts.path) is not None and host.isascii()
    if parts.scheme not in ("http", "https") or not host or not is_plain or parts.fragment:
        # The address may hold a password, so that no message shows it.
        raise InvalidInstance("--rest: expected an address such as https://head:6820")
    if port is None:
        port = 443 if parts.scheme == "https" else 80
    server = RestAddress(parts.scheme, host, port, parts.path.rstrip("/"))
    if server.scheme == "http" and not allow_http and not is_loopback(host):
        raise InvalidInstance(
            f"--rest {server.text}: the token would cross the network unencrypted: expected "
            "https, or http to this host (--allow-http takes the risk)"
        )
    return server


def is_loopback(host: str) -> bool:
    """Whether a name or an address is this host itself, without asking a name server.

    Examples
    --------
    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("10.0.0.1")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def token_of_environment() -> str:
    """The token in the environment.

    Raises
    ------
    InvalidInstance
        There is none, or it is none; the message does not have it.
    """
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not _TOKEN.fullmatch(token):
        what = "is no token" if token else "is not set"
        raise InvalidInstance(
            f"{TOKEN_VARIABLE} {what}: expected the token that scontrol token prints: "
            "export $(scontrol token)"
        )
    return token


def user_of_environment() -> str:
    """Whose token it is."""
    try:
        user = os.environ.get(USER_VARIABLE) or os.environ.get("USER") or getuser()
    except (KeyError, OSError):  # a user number without a name
        user = ""
    if not _USER.fullmatch(user):
        raise InvalidInstance(f"{USER_VARIABLE} = {shorten(user)}: expected the user's name")
    return user


@dataclass
class RestClient:
    """Asks one slurmrestd; nothing is changed there, and no redirection is followed.

    Attributes
    ----------
    server : RestAddress
    user : str
    token : str
        In no ``repr``, message or file.
    timeout : float
        For each answer as a whole (s).
    """

    server: RestAddress
    user: str
    token: str = field(repr=False)
    timeout: float = DEFAULT_TIMEOUT
    _context: ssl.SSLContext | None = field(default=None, repr=False)

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Mapping[str, Any]:
        """The object that a path answers with.

        Raises
        ------
        RestError
            Another status than 200, no answer in time, or no JSON object.
        """
        name = f"{self.server.text}{path}"
        status, reason, content = self._answer(path, query, name)
        if status != 200:
            raise RestError(f"{name}: {self._refusal(status, reason, content)}", status)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            raise RestError(f"{name}: not JSON: expected UTF-8", status) from None
        value = io.parse_json(text, name)
        if not isinstance(value, Mapping):
            kind = type(value).__name__
            raise RestError(f"{name}: a JSON value of type {kind}: expected an object", status)
        return value

    def _answer(
        self, path: str, query: Mapping[str, str] | None, name: str
    ) -> tuple[int, str, bytes]:
        """Status, reason and content, none of which has the token; RestError where there is no
        whole answer in time."""
        deadline = time.monotonic() + self.timeout
        connection = self._connection()
        timer: threading.Timer | None = None
        target = f"{self.server.prefix}{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            connection.connect()
            # A server that drips is as late as one that is silent, in its headers, too.
            seconds_left = max(deadline - time.monotonic(), 0.0)
            timer = threading.Timer(seconds_left, _hang_up, (connection.sock,))
            timer.daemon = True
            timer.start()
            connection.request("GET", target, headers=self._headers())
            answer = connection.getresponse()
            content = _content(answer, name)
            if time.monotonic() >= deadline:
                raise TimeoutError
        except (http.client.HTTPException, ValueError, OSError) as error:
            is_late = isinstance(error, TimeoutError) or time.monotonic() >= deadline
            why = f"no whole answer within {self.timeout:g} s" if is_late else _reason_of(error)
            raise RestError(f"{name}: {self._without_token(why)}") from None
        finally:
            if timer is not None:
                timer.cancel()
            connection.close()
        return answer.status, answer.reason, content.replace(self.token.encode(), b"***")

    def _connection(self) -> http.client.HTTPConnection:
        server = self.server
        if server.scheme == "http":
            return http.client.HTTPConnection(server.host, server.port, timeout=self.timeout)
        if self._context is None:  # certificates of the system, and names, are checked
            self._context = ssl.create_default_context()
        return http.client.HTTPSConnection(
            server.host, server.port, timeout=self.timeout, context=self._context
        )

    def _headers(self) -> dict[str, str]:
        return {
            "X-SLURM-USER-NAME": self.user,
            "X-SLURM-USER-TOKEN": self.token,
            "Accept": "application/json",
            "Connection": "close",
            "User-Agent": f"cosched/{installed_version()}",
        }

    def _refusal(self, status: int, reason: str, content: bytes) -> str:
        """What a status says, and the first error of the answer."""
        hint = ""
        if status in (401, 403):
            hint = f": {TOKEN_VARIABLE} is not accepted for user {shorten(self.user)}, or expired"
        elif status == 404:
            hint = ": there is no such path: is this the address of slurmrestd?"
        elif 300 <= status < 400:
            hint = ": a redirection, which is not followed: expected the address of slurmrestd"
        message = _first_error(content)
        message_text = f" ({shorten(self._without_token(message), 200)})" if message else ""
        return f"HTTP {status} {self._without_token(reason)}{hint}{message_text}"

    def _without_token(self, text: str) -> str:
        return " ".join(text.replace(self.token, "***").split())


def _hang_up(connected_socket: socket.socket) -> None:
    """End what waits for a socket."""
    with contextlib.suppress(OSError):  # it has ended
        connected_socket.shutdown(socket.SHUT_RDWR)


def _content(answer: http.client.HTTPResponse, name: str) -> bytes:
    """The content of an answer, piece by piece.

    Raises
    ------
    RestError
        It is too large.
    IncompleteRead
        The server announced more bytes than it sent.
    """
    pieces, size = [], 0
    while piece := answer.read1(_CHUNK):
        pieces.append(piece)
        size += len(piece)
        if size > _MAX_ANSWER_BYTES:
            raise RestError(f"{name}: the answer has more than {_MAX_ANSWER_BYTES:,} bytes")
    if answer.length:
        raise http.client.IncompleteRead(b"", answer.length)
    return b"".join(pieces)


def _reason_of(error: Exception) -> str:
    """Why there was no answer."""
    if isinstance(error, RestError):
        return str(error).partition(": ")[2] or str(error)
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS failed: certificate: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or type(error).__name__}"
    if isinstance(error, http.client.IncompleteRead):
        return "the answer is cut off"
    if isinstance(error, http.client.HTTPException):
        return f"no HTTP answer ({type(error).__name__})"
    if isinstance(error, OSError):
        return error.strerror or str(error) or type(error).__name__
    return f"no request ({type(error).__name__})"


def _first_error(content: bytes) -> str:
    """The first of the errors in a JSON answer; else the first line of a short text."""
    text = content[:65536].decode("utf-8", "replace")
    try:
        errors = json.loads(text).get("errors")
        first = errors[0]
        return str(first.get("description") or first.get("error") or "")
    except (ValueError, AttributeError, LookupError, TypeError, RecursionError):
        is_short_text = len(text) < 300 and not text.lstrip().startswith(("<", "{", "["))
        return text.strip().partition("\n")[0] if is_short_text else ""
