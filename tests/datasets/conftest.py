"""A cache of each test's own, and a web server on this machine that can be told to misbehave."""

import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the user's cache or data directory."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("LIEWISE_CACHE", str(folder))
    monkeypatch.delenv("LIEWISE_DATA_DIR", raising=False)
    return folder


@dataclass
class Server:
    """Serves `files`, in the manner that is set for each, and remembers what it was asked."""

    files: dict[str, bytes] = field(default_factory=dict)
    manners: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)  # path, Range
    address: str = ""

    def url(self, name: str) -> str:
        return f"{self.address}/{name}"

    def asked_for(self, name: str) -> list[str | None]:
        return [wanted for path, wanted in self.asked if path == f"/{name}"]


class _Handler(http.server.BaseHTTPRequestHandler):
    server: "_Http"

    def do_GET(self):
        told = self.server.told
        name, wanted = self.path.lstrip("/"), self.headers.get("Range")
        told.asked.append((self.path, wanted))
        if name not in told.files:
            self.send_error(404)
            return
        data, manner = told.files[name], told.manners.get(name, "")
        start = 0
        if wanted and manner != "no-range":
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(data):
                self.send_error(416)
                return
            self.send_response(206)
            shown = 0 if manner == "wrong-range" else start
            self.send_header("Content-Range", f"bytes {shown}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        body = data[start:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if manner == "break-once":
            told.manners[name] = ""
            body = body[: len(body) // 2]
        if manner == "break-always":
            body = b""
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Http(http.server.ThreadingHTTPServer):
    told: Server


@pytest.fixture
def server() -> Iterator[Server]:
    """A web server on this machine."""
    http_server = _Http(("127.0.0.1", 0), _Handler)
    http_server.told = Server(address=f"http://127.0.0.1:{http_server.server_port}")
    thread = threading.Thread(target=http_server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield http_server.told
    http_server.shutdown()
    http_server.server_close()
    thread.join()
