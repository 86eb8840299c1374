"""A server of the app, and how tests talk to it: by HTTP, as a browser or an attacker would."""

import http.client
import json
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace
from urllib.parse import quote

import uvicorn

from beyondchance.app.server import application

KEY = "the-key-of-the-app"


class Browser:
    """What talks to a server; ``path`` is where its session is."""

    def __init__(self, port, key=KEY):
        self.port, self.path = port, ""
        if key:
            answer = self.ask("GET", f"/{key}/")
            assert answer.status == 303
            self.path = answer.headers["location"]

    def ask(self, method, path, body=None, **headers):
        """The answer to a request; headers of a page of the app unless others are given."""
        own = {"Host": f"127.0.0.1:{self.port}"}
        own |= {"Origin": f"http://127.0.0.1:{self.port}"} if method != "GET" else {}
        own |= {name.title().replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            sent = {name: value for name, value in own.items() if value is not None}
            connection.request(method, path, body, sent)
            found = connection.getresponse()
            content = found.read()
        finally:
            connection.close()
        return SimpleNamespace(status=found.status, headers=found.headers, content=content)

    def send(self, method, name, content=None):
        """What the page of the session gets."""
        body = content if content is None or isinstance(content, bytes) else json.dumps(content)
        answer = self.ask(method, self.path + name, body)
        is_json = answer.headers["content-type"] == "application/json"
        return answer.status, json.loads(answer.content) if is_json else answer.content

    def give(self, files):
        """Drop files, by name."""
        for name, content in files.items():
            status, found = self.send("PUT", f"files/{quote(name, safe='')}", content)
            assert status == 200, found

    def work(self, **asked):
        """Ask for work, wait for it, and return what there is then."""
        status, found = self.send("POST", "work", asked)
        assert status == 200, found
        return self.wait()

    def wait(self):
        """Wait until all work is done."""
        return self.until(lambda state: not state["busy"])

    def wait_for(self, doing):
        """Wait until the work says what it does."""
        return self.until(lambda state: state["doing"] and state["doing"][0] == doing)

    def until(self, is_so):
        """Wait until the state of the session is such."""
        for _ in range(3000):
            state = self.send("GET", "state")[1]
            if is_so(state):
                return state
            time.sleep(0.02)
        raise AssertionError(state)


@contextmanager
def serving(folder):
    """Run a server; its port and its folder."""
    app = application(folder, KEY, "once")
    own = uvicorn.Server(uvicorn.Config(app, port=0, http="h11", ws="none", log_level="critical"))
    thread = threading.Thread(target=own.run)
    thread.start()
    while not own.started:
        time.sleep(0.01)
    port = own.servers[0].sockets[0].getsockname()[1]
    try:
        yield SimpleNamespace(port=port, folder=folder, address=f"http://127.0.0.1:{port}/{KEY}/")
    finally:
        own.should_exit = True
        thread.join()
