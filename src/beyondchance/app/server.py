"""The server of the app: what pages on this machine may ask for, and nobody else."""

from __future__ import annotations

import re
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import current_thread, main_thread
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beyondchance.app import sessions
from beyondchance.app.sessions import Session
from beyondchance.app.work import NEXT
from beyondchance.errors import BeyondChanceError, DataError, defect
from beyondchance.io.sources import parsed_json
from beyondchance.page.page import PAGE

HOST = "127.0.0.1"
_OWN_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:\d+)?", re.ASCII)
"""With any port, because a tunnel may lead here from another one."""
MOST_SESSIONS = 16
MOST_JSON = 50 * 10**6
"""Bytes of what a page may send besides files."""
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_FILES = {
    "": (("app/app.html",), "text/html"),
    "app.js": (("app/app.js",), "text/javascript"),
    "app.css": (("page/page.css", "app/app.css"), "text/css"),
}
"""What the page consists of, by address."""


def serve(port: int, ready: Callable[[str, str], None]) -> None:
    """Serve the app until the process is asked to end, and remove all files then.

    Parameters
    ----------
    port : int
        0 for one that is free.
    ready : function
        Called with the address of the app, and with one that can be opened once only: whoever
        may look at the processes of this machine sees what its browser was called with.
    """
    try:
        listening = socket.create_server((HOST, port))
    except OSError:
        problem = f"port {port} cannot be used, perhaps because another program uses it"
        raise DataError(problem, remedy="leave out --port for one that is free") from None
    # Answers are written in two parts: the second would wait until the first is acknowledged.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with (
        listening,
        TemporaryDirectory(prefix="beyondchance-", ignore_cleanup_errors=True) as folder,
    ):
        address = f"http://{HOST}:{listening.getsockname()[1]}"
        key, once = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        config = uvicorn.Config(
            application(Path(folder), key, once),
            http="h11",
            loop="asyncio",
            ws="none",
            log_level="critical",
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        if hasattr(signal, "SIGHUP") and current_thread() is main_thread():
            signal.signal(signal.SIGHUP, server.handle_exit)
        ready(f"{address}/{key}/", f"{address}/{once}/")
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


def application(folder: Path, key: str, once: str = "") -> ASGIApp:
    """Build the app.

    Every address begins with a secret: with the key of the app, for which there is a new session,
    or with the key of a session, which opens this one only. So what a page could give away,
    whatever stands in its texts, is its own session.

    Parameters
    ----------
    folder : Path
        Where files are kept.
    key : str
    once : str
        A key that is good for one new session.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        for session in app.state.sessions.values():
            sessions.remove(session)

    app = Starlette(
        routes=[
            Route("/{key}/files/{name:path}", _put_file, methods=["PUT"]),
            Route("/{key}/room", _check_room, methods=["POST"]),
            Route("/{key}/state", _state),
            Route("/{key}/work", _begin, methods=["POST"]),
            Route("/{key}/stop", _stop, methods=["POST"]),
            Route("/{key}/anew", _anew, methods=["POST"]),
            Route("/{key}/report", _report),
            Route("/{key}/decisions", _decisions),
            Route("/{key}/decisions", _decide, methods=["POST"]),
            Route("/{key}/gold", _gold),
            Route("/{key}/{name:path}", _page),
        ],
        exception_handlers={BeyondChanceError: _refused, Exception: _failed},
        lifespan=lifespan,
    )
    app.state.folder, app.state.key, app.state.once, app.state.sessions = folder, key, once, {}
    return _guarded(app)


def _guarded(app: ASGIApp) -> ASGIApp:
    """Let only pages of this server ask for anything, and add headers to every answer.

    A name that leads to this machine is no way in for pages from elsewhere, because the host must
    be this machine; and what changes anything must say that it comes from here.
    """

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        is_silent = origin is None and scope["method"] in {"GET", "HEAD"}
        if _OWN_HOST.fullmatch(host) and (is_silent or origin == f"http://{host}"):
            await app(scope, receive, answer)
        else:
            await PlainTextResponse("not from here", 403)(scope, receive, answer)

    return guarded


def _session(request: Request) -> Session:
    """Return the session of an address, the last that was used."""
    known, key = request.app.state.sessions, request.path_params["key"]
    if key not in known:
        raise HTTPException(404)
    known[key] = found = known.pop(key)
    return found  # type: ignore[no-any-return]


async def _page(request: Request) -> Response:
    """Answer with the page of a session, a new one for the key of the app."""
    state, key, name = request.app.state, request.path_params["key"], request.path_params["name"]
    if not name and key and key in {state.key, state.once}:
        state.once = "" if key == state.once else state.once
        _make_room(state.sessions)
        own = secrets.token_urlsafe(24)
        state.sessions[own] = sessions.new_session(state.folder)
        return RedirectResponse(f"/{own}/", 303)
    _session(request)
    if name not in _FILES:
        raise HTTPException(404)
    parts, kind = _FILES[name]
    package = files("beyondchance")
    return Response(
        "\n".join(package.joinpath(x).read_text("utf-8") for x in parts), 200, None, kind
    )


def _make_room(known: dict[str, Session]) -> None:
    """Remove the session that was not used for longest, one without files if there is one."""
    if len(known) < MOST_SESSIONS:
        return
    idle = [key for key, x in known.items() if not x.is_busy and not x.decisions]
    if not idle:
        problem = f"{MOST_SESSIONS} pages have decisions, or are at work"
        raise DataError(problem, remedy="go on in one of them, or end the app and start it again")
    sessions.remove(known.pop(min(idle, key=lambda key: bool(known[key].files))))


async def _put_file(request: Request) -> Response:
    n_bytes = int(request.headers.get("content-length", 0))
    name = request.path_params["name"]
    await sessions.receive(_session(request), name, request.stream(), n_bytes)
    return JSONResponse({})


async def _check_room(request: Request) -> Response:
    """Refuse files before they are sent: browsers read no answer before they have sent all."""
    asked = await _json(request)
    numbers = [asked.get(name) for name in ("files", "bytes")]
    sessions.check_room(_session(request), *(n if isinstance(n, int) else 0 for n in numbers))
    return JSONResponse({})


async def _json(request: Request) -> dict[str, Any]:
    """Return the object that a page sent."""
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_JSON:
            raise DataError("the page sent too much", expected=f"at most {MOST_JSON:,} bytes")
    found = parsed_json(content.decode(errors="replace"), "the page")
    if not isinstance(found, dict):
        raise DataError("the page sent something else than an object")
    return found


async def _state(request: Request) -> Response:
    return JSONResponse(sessions.described(_session(request)))


async def _begin(request: Request) -> Response:
    session = _session(request)
    sessions.begin(session, await _json(request), f"/{request.path_params['key']}/decisions")
    return JSONResponse(sessions.described(session))


async def _stop(request: Request) -> Response:
    sessions.stop(_session(request))
    return JSONResponse({})


async def _anew(request: Request) -> Response:
    """Forget everything of a session."""
    sessions.remove(_session(request))
    state, key = request.app.state, request.path_params["key"]
    state.sessions[key] = sessions.new_session(state.folder)
    return JSONResponse({})


async def _report(request: Request) -> Response:
    """Answer with the report, which may send decisions and nothing else."""
    session = _session(request)
    if session.about is None:
        raise HTTPException(404)
    to = request.url.replace(path=f"/{request.path_params['key']}/decisions", query="", fragment="")
    policy = f"connect-src {to}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return FileResponse(session.report, 200, {"content-security-policy": policy})


async def _decide(request: Request) -> Response:
    """Keep the decisions that the report sends, and answer with what is decided."""
    session = _session(request)
    text = (await _json(request)).get("text")
    decisions = parsed_json(text if isinstance(text, str) else "", "decisions")
    decided = await sessions.decide(session, decisions)
    return JSONResponse({"message": f"Saved. {decided} {NEXT}"})


async def _decisions(request: Request) -> Response:
    session = _session(request)
    if not session.decisions:
        raise HTTPException(404)
    attached = {"content-disposition": 'attachment; filename="decisions.json"'}
    return JSONResponse(session.decisions[0], 200, attached)


async def _gold(request: Request) -> Response:
    session = _session(request)
    if session.gold is None:
        raise HTTPException(404)
    return FileResponse(session.gold, filename=session.gold.name)


async def _refused(_: Request, error: Exception) -> Response:
    """Answer with the sentence of an error."""
    known = error if isinstance(error, BeyondChanceError) else DataError(defect(error))
    return JSONResponse({"message": known.spoken(PAGE)}, 400)


async def _failed(_: Request, error: Exception) -> Response:
    return JSONResponse({"message": defect(error)}, 500)
