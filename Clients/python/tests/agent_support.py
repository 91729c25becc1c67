"""What the tests of `geomodel mcp` share: agents over real stdio, by PyPI's `mcp`, and the server that they drive."""

from __future__ import annotations

import contextlib
import json
import stat
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, AsyncIterator

from support import FAKE, FIXTURES, SERVER, child_environment

from geomodel import mcp
from geomodel.mcp import _answers

needs_mcp = unittest.skipUnless(mcp.is_available() and SERVER, "no mcp, or no server")

# The most that an answer may have.
BYTES = _answers.BYTES


def environment() -> dict[str, str]:
    """For the agent's child: the MCP packages pass only a few variables on by themselves."""
    return {**child_environment(), **({"GEOMODEL_SERVER": SERVER} if SERVER else {})}


def command(*flags: str) -> list[str]:
    return [sys.executable, "-m", "geomodel.mcp", *flags]


@contextlib.asynccontextmanager
async def agent(*flags: str, mode: Any = "auto", cwd: Path = FIXTURES) -> AsyncIterator[Any]:
    """A client of PyPI's `mcp`, connected to `geomodel mcp` with these flags."""
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    words = command(*flags)
    parameters = StdioServerParameters(command=words[0], args=words[1:], env=environment(), cwd=cwd)
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


def script(folder: str, *words: str) -> str:
    """An executable that starts a command, with the arguments that it gets behind the command's own."""
    path = Path(folder) / "server"
    path.write_text(f"#!/bin/sh\necho \"$@\" >> {folder}/arguments\nexec {' '.join(words)} \"$@\"\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def fake(folder: str) -> str:
    """The fake server as an executable."""
    return script(folder, *FAKE)


def text_of(result: Any) -> str:
    return "".join(part.text for part in result.content if part.type == "text")


async def told(client: Any, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The structured content of a tool's answer, which its text says too."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    content: dict[str, Any] = result.structured_content
    assert json.loads(text_of(result)) == content
    return content


async def refused(client: Any, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The error of a tool's answer as programs read it; its text ends with what to do next."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text_of(result)
    error: dict[str, Any] = result.meta["geomodel/error"]
    text = text_of(result)
    assert text.startswith(f"{error['kind']}: ") and text.endswith(f"\nNext: {error['next']}."), text
    return error


class RawAgent:
    """Lines of JSON to `geomodel mcp` and from it: what no package would send."""

    def __init__(self, process: Any) -> None:
        self._process = process
        self._ids = 0
        self.notifications: list[Any] = []

    async def request(self, method: str, params: Any) -> Any:
        self._ids += 1
        await self.send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        return await self.answer(self._ids)

    async def answer(self, id: int | None) -> Any:
        while True:
            line = await self._process.stdout.readline()
            assert line, "geomodel mcp has ended"
            message = json.loads(line)
            if message.get("id") == id and "method" not in message:
                return message
            self.notifications.append(message)

    async def send(self, message: Any) -> None:
        await self.write(json.dumps(message).encode() + b"\n")

    async def write(self, data: bytes) -> None:
        self._process.stdin.write(data)
        await self._process.stdin.drain()

    async def initialize(self, version: str) -> Any:
        info = {"name": "raw", "version": "0"}
        answer = await self.request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": info})
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    async def end(self) -> int:
        self._process.stdin.close()
        return int(await self._process.wait())


@contextlib.asynccontextmanager
async def raw_agent(*flags: str) -> AsyncIterator[RawAgent]:
    import asyncio

    process = await asyncio.create_subprocess_exec(
        *command(*flags), cwd=FIXTURES, env=environment(), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL, limit=1 << 24,
    )
    try:
        yield RawAgent(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="geomodel-agent-")
