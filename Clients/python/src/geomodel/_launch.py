"""How the asynchronous client gets its server: a process that it starts, or one that it connects to."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Any, Callable, Coroutine, Generator, Iterable, Mapping, Sequence

from . import _start, _wire
from ._client import Server
from ._connection import Connection
from ._find import find_server
from ._framing import Framing
from ._process import ServerProcess
from ._web import WebSocket
from .errors import ClosedError, ServerDiedError


class Launch:
    """A server that is not started yet: `await` starts it, `async with` also ends it."""

    def __init__(self, start: Callable[[], Coroutine[Any, Any, Server]]) -> None:
        self._start = start
        self._server: Server | None = None

    def __await__(self) -> Generator[Any, None, Server]:
        return self._start().__await__()

    async def __aenter__(self) -> Server:
        self._server = await self._start()
        return self._server

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        await self._server.close()


def launch(
    server: str | os.PathLike[str] | Sequence[str] | None = None,
    *,
    allow_dir: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    allow_write: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    trace_file: str | os.PathLike[str] | None = None,
    attach: str | None = None,
    read_only: bool = False,
    args: Iterable[str] = (),
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    root_path: str | os.PathLike[str] | None = None,
    framing: Framing = "headers",
    client_name: str = "geomodel-python",
    start_timeout: float = 30.0,
    grace: float = 5.0,
) -> Launch:
    """Starts a server for this client: `async with geomodel.launch() as server:`

    With `attach="name"` this is one of several clients of the server of that name, which is started if there is none; `close` then
    ends this client alone. `read_only`: this client does not change the model.

    - `server`: an executable, or a command as a list; else GEOMODEL_SERVER, the one of a wheel, PATH, the checkout's build, in this order.
    - `allow_dir`: the server opens only files in these folders. `allow_write`: it writes only files in these, and
      `allow_dir` is then about reading alone. `trace_file`: the file to which it writes its traffic.
    - `args`: more arguments for it. `cwd`: its working directory. `env`: variables besides those of this process.
    - `root_path`: the folder of relative paths; its working directory when absent.
    - `framing`: "headers" (as LSP has it) or "lines" (one message per line).
    - `start_timeout`, `grace`: seconds to wait for it to start, and to end.
    """
    with _wire.encoding("launch"):
        flags = _start.flags(allow_dir, allow_write, trace_file, args)
        if attach is not None:
            flags += [f"--attach={attach}"]
        params = _start.greeting(client_name, root_path)
        if read_only:
            params["readOnly"] = True
        if framing == "headers":
            params["attachments"] = True

    def connection() -> Connection:
        with _wire.encoding("launch"):
            command = [*find_server(server), *flags]
        return Connection(lambda: ServerProcess(command, cwd, env, framing), grace)

    return Launch(lambda: _start_session(connection, params, start_timeout))


def connect(
    url: str,
    *,
    read_only: bool = False,
    root_path: str | os.PathLike[str] | None = None,
    client_name: str = "geomodel-python",
    start_timeout: float = 30.0,
    grace: float = 5.0,
) -> Launch:
    """Becomes a client of a server that listens for web sockets: `async with geomodel.connect(url) as server:`

    - `url`: the address with its token, `ws://127.0.0.1:PORT/?token=...`, as `geomodel-server --list` shows it.
    - `read_only`: this client does not change the model.
    - `root_path`: the folder of relative paths; that of the server when absent.
    - `start_timeout`, `grace`: seconds to wait for its answer, and for the end. `close` ends this client alone.
    """
    with _wire.encoding("connect"):
        params = _start.greeting(client_name, root_path)
        del params["processId"]
        if read_only:
            params["readOnly"] = True
    WebSocket(url)
    return Launch(lambda: _start_session(lambda: Connection(lambda: WebSocket(url), grace), params, start_timeout))


async def _start_session(make: Callable[[], Connection], params: Mapping[str, Any], start_timeout: float) -> Server:
    connection = make()
    try:
        await asyncio.wait_for(connection.start(), start_timeout)
    except (asyncio.TimeoutError, TimeoutError) as error:
        raise ServerDiedError(f"the server did not answer within {start_timeout} s", None, "") from error

    async def greet() -> Mapping[str, Any]:
        try:
            result = _start.check(await asyncio.wait_for(connection.request("initialize", params), start_timeout))
            connection.adapt(result.get("capabilities"), "attachments" in params)
            await connection.notify("initialized", {})
            return result
        except (asyncio.TimeoutError, TimeoutError) as error:
            raise ServerDiedError(
                f"the server did not answer initialize within {start_timeout} s", None, connection.stderr_tail
            ) from error

    try:
        return Server(connection, await greet(), greet)
    except BaseException:
        connection.kill()
        with contextlib.suppress(ClosedError):
            await connection.close()
        raise
