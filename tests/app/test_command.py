"""The command that starts the app, and how it ends."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from beyondchance import installing
from beyondchance.cli import app
from beyondchance.cli.main import main
from refusals import assert_tells

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)(/[\w-]{32}/)\n")


def folders(place):
    return [path for path in Path(place).iterdir() if path.name.startswith("beyondchance-")]


@pytest.fixture
def started(tmp_path):
    """The app as a process of its own: the process, its port and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "beyondchance", "app", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    port, path = ADDRESS.fullmatch(process.stdout.readline()).groups()
    yield process, int(port), path
    process.kill()
    process.communicate()


def asked(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, body, {"Origin": f"http://127.0.0.1:{port}"})
    found = connection.getresponse()
    found.read()
    connection.close()
    return found


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="these signals are of other systems")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 0)],
)
def test_nothing_is_left_at_the_end(started, tmp_path, number, code):
    process, port, path = started
    session = asked(port, "GET", path).headers["location"]
    # Reading takes a while: it is ended too.
    row = "0,ada,0,1,X,5\n"
    table = f"document,annotator,start,end,label,length\n{row * 200_000}".encode()
    assert asked(port, "PUT", f"{session}files/a.csv", table).status == 200
    assert asked(port, "POST", f"{session}work", b'{"do": "read"}').status == 200
    time.sleep(0.3)
    assert len(folders(tmp_path)) == 1
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == code
    assert folders(tmp_path) == []
    assert "Traceback" not in said
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


@pytest.mark.slow
def test_it_is_for_this_machine_only(started):
    _, port, _ = started
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent; it chooses the own address
            own = probe.getsockname()[0]
        except OSError:
            pytest.skip("no network")
    with pytest.raises(OSError, match=r"refused|timed out"):
        socket.create_connection((own, port), timeout=2)


def test_a_port_that_is_taken(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["app", "--no-browser", "--port", str(port)]) == 1
    assert_tells(capsys.readouterr().err, f"beyondchance: port {port} cannot be used … --port …")


def test_the_browser_opens_on_an_address_that_works_once(monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(app.webbrowser, "open", opened.append)

    def serve(port, ready):
        assert port == 0
        ready("http://127.0.0.1:1/key/", "http://127.0.0.1:1/once/")

    monkeypatch.setattr("beyondchance.app.server.serve", serve)
    for words, seen in (([], ["http://127.0.0.1:1/once/"]), (["--no-browser"], [])):
        opened.clear()
        assert main(["app", *words]) == 0
        time.sleep(0.05)
        assert opened == seen
        assert capsys.readouterr().out == "http://127.0.0.1:1/key/\n"


def test_without_its_libraries_it_says_how_to_install_them(monkeypatch, capsys):
    def missing(name):
        raise ImportError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(installing, "import_module", missing)
    assert main(["app"]) == 1
    said = capsys.readouterr().err
    assert_tells(said, "the app needs the library starlette … install …")
    for library in ("starlette>=", "uvicorn>=", "jinja2>="):
        assert library in said
