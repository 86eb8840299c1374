"""What the server of the app refuses, and whom."""

import http.client
import json
import socket
import stat
from urllib.parse import quote

import pytest

from beyondchance.app import server as own_server, sessions
from beyondchance.app.sessions import Session
from refusals import assert_tells
from serving import KEY, Browser

CONLL = b"Zoe\tB-PER\nmet\tO\n\n"


def test_another_host_gets_nothing(browser):
    # As after a name of somebody else's was made to lead here.
    for host in (
        "evil.example",
        f"evil.example:{browser.port}",
        "127.0.0.1.evil.example",
        "127.0.0.1:8@evil",
        "",
    ):
        for path in (f"/{KEY}/", browser.path, f"{browser.path}state"):
            assert browser.ask("GET", path, host=host).status == 403, host
    # A tunnel may lead here from another port.
    assert browser.ask("GET", f"{browser.path}state", host="localhost:9").status == 200


def test_another_origin_changes_and_reads_nothing(browser):
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", None):
        asked = {} if origin is None else {"origin": origin}
        for name in ("work", "stop", "anew", "decisions"):
            headers = {"origin": None, **asked}
            answer = browser.ask("POST", browser.path + name, b"{}", **headers)
            assert answer.status == 403, (origin, name)
        put = browser.ask("PUT", f"{browser.path}files/a.conll", CONLL, **{"origin": None, **asked})
        assert put.status == 403
        if origin is not None:
            assert browser.ask("GET", f"{browser.path}state", origin=origin).status == 403
    assert browser.send("GET", "state")[1]["files"] == 0


def test_without_the_key_there_is_nothing(browser):
    names = ("", "state", "app.js", "report", "gold", "decisions", "files/a", "work")
    for key in ("", "x", KEY[:-1], f"{KEY}x", KEY.upper(), "%00", ".."):
        for name in names:
            for method in ("GET", "POST", "PUT"):
                status = browser.ask(method, f"/{key}/{name}", b"{}").status
                assert status in {404, 405}, (method, key, name)
    # The key of the app makes sessions, and is none.
    assert browser.ask("GET", f"/{KEY}/state").status == 404


def test_an_address_for_the_browser_works_once(server):
    port = server.port
    first, second = (Browser(port, "").ask("GET", "/once/") for _ in range(2))
    assert (first.status, second.status) == (303, 404)


def test_every_answer_tells_browsers_to_keep_it_to_themselves(browser):
    paths = (browser.path, f"{browser.path}state", f"/{KEY}/", "/nothing", f"{browser.path}report")
    for path in paths:
        headers = browser.ask("GET", path).headers
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "set-cookie" not in headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize(
    "name",
    [
        *("../../x", "..", ".", "a/../../x", "/etc/x", "a//b", "a/", "..\\x", "a\\..\\x", "a\0b"),
        *(".ssh/key", "a/.b", "a\nb", "\x7f", "/".join("a" * 17)),
    ],
)
def test_names_are_never_paths_elsewhere(server, browser, name):
    before = sorted(server.folder.rglob("*"))
    for asked in (quote(name, safe=""), quote(name)):
        status, found = browser.send("PUT", f"files/{asked}", CONLL)
        assert status in {400, 404}
        if status == 400:
            assert_tells(found["message"], "is no name of a file …")
    assert sorted(server.folder.rglob("*")) == before
    assert browser.send("GET", "state")[1]["files"] == 0


def test_paths_that_are_not_encoded(server, browser):
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    headers = {"Origin": f"http://127.0.0.1:{server.port}"}
    connection.request("PUT", f"{browser.path}files/../../../../x", CONLL, headers)
    assert connection.getresponse().status in {400, 404}
    connection.close()
    assert not list(server.folder.rglob("x"))


def test_names_that_a_file_can_have(server, browser):
    names = ["anna ben/doc:1.ann", "<img src=x onerror=alert(1)>.conll", "نص.txt", "-o", "a=b.csv"]
    browser.give(dict.fromkeys(names, CONLL))
    assert browser.send("GET", "state")[1]["files"] == 5
    (given,) = [x for x in server.folder.glob("*/given") if any(x.iterdir())]
    kept = [path for path in given.rglob("*") if path.is_file()]
    assert sorted(str(path.relative_to(given)) for path in kept) == sorted(names)
    assert stat.S_IMODE(given.parent.stat().st_mode) == 0o700


def test_names_that_take_the_place_of_others(browser):
    browser.give({"a/b": CONLL})
    for name, told in (("a/b", "is given already …"), ("a", "cannot be kept …"), ("a/b/c", "…")):
        status, found = browser.send("PUT", f"files/{quote(name, safe='')}", b"x")
        assert status == 400
        assert_tells(found["message"], told)
    status, found = browser.send("PUT", f"files/{'x' * 300}", b"x")
    assert_tells(found["message"], "cannot be kept (… too long)")
    assert browser.send("GET", "state")[1]["files"] == 1


def test_what_is_too_large_is_refused_while_it_comes(server, browser, monkeypatch):
    monkeypatch.setattr(sessions, "MOST_BYTES", 100)
    browser.give({"a": b"x" * 60})
    for body in (b"x" * 41, (part for part in [b"x" * 30, b"x" * 30])):  # known, and chunked
        answer = browser.ask("PUT", f"{browser.path}files/b", body)
        assert answer.status == 400
        assert_tells(json.loads(answer.content)["message"], "too large; expected … 100 … terminal")
    browser.give({"b": b"x" * 40})
    assert browser.send("GET", "state")[1]["files"] == 2
    kept = [path for path in server.folder.rglob("*") if path.is_file()]
    assert sorted(path.name for path in kept) == ["a", "b"]


def test_a_length_that_lies(server, browser):
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    headers = {"Origin": f"http://127.0.0.1:{server.port}", "Content-Length": "x"}
    connection.request("PUT", f"{browser.path}files/a", b"x", headers)
    assert connection.getresponse().status == 400
    connection.close()


def test_too_many_files(browser, monkeypatch):
    monkeypatch.setattr(sessions, "MOST_FILES", 2)
    browser.give({"a": b"", "b": b""})
    assert_tells(browser.send("PUT", "files/c", b"")[1]["message"], "more than 2 files …")


def test_too_much_of_anything_else(browser, monkeypatch):
    monkeypatch.setattr(own_server, "MOST_JSON", 10)
    status, found = browser.send("POST", "work", {"do": "read", "x": "x" * 20})
    assert status == 400
    assert_tells(found["message"], "… too much … 10 …")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b'{"do": "x"}', b'{"do": NaN}', b"1"])
def test_what_no_page_sends(browser, body):
    status, found = browser.send("POST", "work", body)
    assert status == 400
    assert found["message"]
    assert browser.send("POST", "decisions", body)[0] == 400


def test_there_is_room_for_some_sessions(server, monkeypatch):
    monkeypatch.setattr(own_server, "MOST_SESSIONS", 3)
    known = {name: Session(server.folder / name) for name in ("old", "empty", "new")}
    for name, session in known.items():
        session.folder.mkdir()
        session.files = {} if name == "empty" else {"a": 1}
    own_server._make_room(known)
    assert [*known] == ["old", "new"]
    assert not (server.folder / "empty").exists()
    known["third"] = Session(server.folder / "third", files={"a": 1})
    for session in known.values():
        session.decisions = [{}]
    known["new"].decisions = []
    own_server._make_room(known)
    assert [*known] == ["old", "third"]
    known["fourth"] = Session(server.folder / "fourth", decisions=[{}])
    with pytest.raises(Exception, match="3 pages have decisions"):
        own_server._make_room(known)


def test_what_is_not_there_yet(browser):
    for name in ("report", "gold", "decisions"):
        assert browser.send("GET", name)[0] == 404
    for asked, told in (("report", "nothing is read …"), ("gold", "… nothing to decide …")):
        assert_tells(browser.work(do=asked)["error"], told)


def test_a_new_beginning_forgets_everything(server, browser):
    browser.give({"a.conll": CONLL})
    assert browser.send("POST", "anew", {})[0] == 200
    state = browser.send("GET", "state")[1]
    assert (state["files"], state["people"], state["report"]) == (0, [], False)
    assert not [path for path in server.folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("asked", ['{"files": 1e400}', '{"files": "x"}', '{"bytes": [1]}'])
def test_sizes_that_are_none(browser, asked):
    assert browser.send("POST", "room", asked.encode())[0] == 200


def test_files_are_there_when_all_of_them_is(server, browser):
    address = ("127.0.0.1", server.port)
    head = f"PUT {browser.path}files/late.conll HTTP/1.1\r\nHost: {address[0]}:{server.port}\r\n"
    head += f"Origin: http://{address[0]}:{server.port}\r\nContent-Length: {len(CONLL)}\r\n\r\n"
    browser.give({"a.conll": CONLL})
    with socket.create_connection(address) as sent:
        sent.sendall(head.encode() + CONLL[:5])
        browser.until(lambda state: state["files"] == 2)
        assert [one[0] for one in browser.work(do="read")["people"]] == ["a"]
    # What is cut off is forgotten.
    browser.until(lambda state: state["files"] == 1)
    assert [path.name for path in server.folder.rglob("*") if path.is_file()] == ["a.conll"]
    with socket.create_connection(address) as sent:
        sent.sendall(head.encode() + CONLL[:5])
        browser.until(lambda state: state["files"] == 2)
        browser.send("POST", "anew", {})
        sent.sendall(CONLL[5:])
        assert b" 400 " in sent.recv(1000)
    assert not [path for path in server.folder.rglob("*") if path.is_file()]


def test_answers_do_not_wait_for_each_other(monkeypatch):
    """Sockets send what they have at once: 3,000 files would take two minutes otherwise."""
    options = []

    def run(_, sockets):
        options.append(sockets[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(own_server.uvicorn.Server, "run", run)
    own_server.serve(0, lambda *_: None)
    assert options != [0]
