"""The MCP server: the tools and the state tree behind PyPI's `mcp`, over standard input and output."""

from __future__ import annotations

import argparse
import contextlib
import contextvars
import difflib
import logging
import os
from typing import Any, AsyncIterator, Callable, Iterable, Mapping, Sequence
from urllib.parse import unquote

import anyio
from anyio.abc import TaskStatus
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.server.mcpserver.tools import Tool
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types import INTERNAL_ERROR, CallToolResult, InputRequiredResult, Resource, TextContent, ToolAnnotations
from pydantic import ValidationError

from .._generated import __version__
from .._find import find_server
from .._launch import Launch, launch
from ..errors import Error, GeoModelError
from . import _advice
from ._answers import BYTES, size_of, text_of
from ._model import Misuse
from ._session import Report, Session
from ._tools import NAMES, Tools

INSTRUCTIONS = """\
A geo model: maps with layers of features, views, overlays, styles, undo. Start with open_file (data) or, on a live map, describe_model.
Layers are named by id or name. Call describe_layer before writing a where clause (CQL2: texts in single quotes). Coordinates are
[longitude, latitude] in EPSG:4326 unless spatial_reference says otherwise; distances are metres on the ellipsoid. Answers have the
count of all that match and at most 20 rows unless limit says otherwise, never more than 20 KB: narrow, summarize by statistics, or
export to a file. Changes are steps that undo takes back. describe and call reach every method of the server. State is also readable
as resources: geomodel:///layers/ID, geomodel:///views/ID/viewpoint."""
# Under this name programs find an error's kind and data in the `_meta` of a result.
ERROR_META = "geomodel/error"
_SCHEME = "geomodel:///"
_COLLECTIONS = ("maps", "scenes", "views", "layers", "overlays", "sources")
# Objects that are listed as resources; the templates reach all.
_LISTED = 200
_log = logging.getLogger("geomodel.mcp")
_report: contextvars.ContextVar[Report | None] = contextvars.ContextVar("report", default=None)


class _Model:
    """The session as tools see it: their calls report progress to the agent whose request they serve."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        return await self._session.call(method, params, report=_report.get())


class AgentServer(MCPServer[None]):
    """MCP over one session. Whatever goes wrong is answered with what to do next."""

    def __init__(self, session: Session) -> None:
        self._session = session
        tools = Tools(_Model(session), self._definition)
        self._tools = {name: _tool(getattr(tools, name), hints) for name, hints in NAMES.items()}
        self._bus = InMemorySubscriptionBus()

        @contextlib.asynccontextmanager
        async def lifespan(_: MCPServer[None]) -> AsyncIterator[None]:
            try:
                yield None
            finally:
                with anyio.CancelScope(shield=True):
                    await session.close()

        super().__init__(
            "geomodel", title="Geo model", version=__version__, instructions=INSTRUCTIONS, lifespan=lifespan, log_level="WARNING",
            tools=list(self._tools.values()), subscriptions=self._bus, middleware=[self._listening],
        )
        self._add_resources()

    # Tools

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """A tool's result; errors are results with what to do next, and arguments that no tool has are errors."""
        tool = self._tools.get(name)
        if tool is None:
            near = difflib.get_close_matches(name, NAMES, 3, 0.5)
            return _failed(_advice.UNKNOWN_TOOL, f"There is no tool {name!r}{_did_you_mean(near)}", {"available": list(NAMES)})
        known = tool.parameters.get("properties", {})
        if unknown := [each for each in arguments if each not in known]:
            near = difflib.get_close_matches(unknown[0], known, 3, 0.6)
            message = f"{name} has no argument {unknown[0]!r}{_did_you_mean(near)}; it has {', '.join(known)}"
            return _failed(_advice.INVALID_ARGUMENTS, message, {"argument": unknown[0], "available": list(known)})
        held = _report.set(None if context is None else _reporter(context))
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            return self._explained(name, error.__cause__ or error, known)
        finally:
            _report.reset(held)

    def _explained(self, tool: str, error: BaseException, known: Mapping[str, Any]) -> CallToolResult:
        if isinstance(error, ValidationError):
            faults = [
                f"{'.'.join(map(str, each['loc'])) or tool}: {each['msg']}{_meaning(known, each['loc'])}" for each in error.errors(include_url=False)
            ]
            return _failed(_advice.INVALID_ARGUMENTS, f"{tool}: {'; '.join(faults[:5])}", {"faults": faults[:5]})
        if isinstance(error, Misuse):
            return _failed(_advice.INVALID_ARGUMENTS, f"{tool}: {error}", {})
        if isinstance(error, Error):
            kind = _advice.kind_of(error)
            after = self._session.after_loss if kind == _advice.SERVER_LOST else _advice.next_step(kind)
            if tool != "call" and kind in ("invalidParams", "unknownMember"):
                # The tool has other arguments than the method that it calls.
                after = _advice.next_step(_advice.INVALID_ARGUMENTS)
            return _failed(kind, getattr(error, "message", None) or str(error), _data(error), after)
        _log.error("the tool %s failed", tool, exc_info=error)
        return _failed("internalError", f"{tool} failed: {type(error).__name__}: {error}", {})

    async def _definition(self) -> Mapping[str, Any]:
        if self._session.definition is None:
            self._session.definition = await self._session.call("rpc.discover")
        return self._session.definition

    # Resources

    def _add_resources(self) -> None:
        # Paths of the state tree are no paths of files.
        security = ResourceSecurity(exempt_params={"path", "id", "member"})
        for name in _COLLECTIONS:
            self.resource(
                f"{_SCHEME}{name}/{{id}}", name=name[:-1], mime_type="application/json", security=security,
                description=f"One of the {name}, as it is now.",
            )(self._reader(name))
        self.resource(
            _SCHEME + "{+path}", name="state", mime_type="application/json", security=security,
            description="A value of the state tree by its path: views/v1/viewpoint, edit/canUndo; * for any one name.",
        )(self._state)

    def _reader(self, collection: str) -> Any:
        async def read(id: str) -> str:
            return await self._state(f"{collection}/{id}")

        return read

    async def _state(self, path: str) -> str:
        pointer = "/" + path.strip("/") if path.strip("/") else ""
        try:
            found = (await self._session.call("state/get", {"path": pointer}))["values"]
        except GeoModelError as error:
            raise ResourceError(f"{_advice.kind_of(error)}: {error.message}") from error
        except Error as error:
            raise ResourceError(f"{error}. Next: {self._session.after_loss}") from error
        if not found:
            raise ResourceNotFoundError(f"There is nothing at {pointer}: describe_model lists the ids")
        value = found[0]["value"] if len(found) == 1 and "*" not in pointer else {each["path"]: each["value"] for each in found}
        if size_of(value) > BYTES:
            members = ", ".join(list(value)[:20]) if isinstance(value, dict) else f"{len(value)} items"
            raise ResourceError(f"{pointer or '/'} has more than {BYTES} bytes: read a part of it below that path ({members})")
        return text_of(value)

    async def _listening(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """While an agent listens for changes of resources, their paths are observed in the model."""
        if ctx.method != "subscriptions/listen":
            return await call_next(ctx)
        wanted = (ctx.params or {}).get("notifications")
        uris = wanted.get("resourceSubscriptions") if isinstance(wanted, Mapping) else None
        async with anyio.create_task_group() as group:
            for uri in dict.fromkeys(uris if isinstance(uris, list) else []):
                if isinstance(uri, str) and uri.startswith(_SCHEME):
                    await group.start(self._watch, uri)
            result = await call_next(ctx)
            group.cancel_scope.cancel()
        return result

    async def _watch(self, uri: str, *, task_status: TaskStatus[None]) -> None:
        started = False
        try:
            path = unquote(uri.removeprefix(_SCHEME)).strip("/")
            async with await self._session.observe(f"/{path}" if path else "") as changes:
                task_status.started()
                started = True
                async for _ in changes:
                    await self._bus.publish(ResourceUpdated(uri=uri))
        except Error:
            if not started:
                task_status.started()
        # It is not observed any more: whoever reads it again learns why.
        await self._bus.publish(ResourceUpdated(uri=uri))

    async def list_resources(self) -> list[Resource]:
        """The objects that there are now."""
        listed: list[Resource] = []
        for collection in _COLLECTIONS:
            member = "title" if collection in ("maps", "scenes") else "name"
            key = collection[:-1]
            try:
                found = (await self._session.call(f"{key}/list"))[collection]
            except Error as error:
                raise MCPError(INTERNAL_ERROR, f"{error}. Next: {self._session.after_loss}") from error
            listed += [
                Resource(
                    uri=f"{_SCHEME}{collection}/{each[key]}", name=each[key], title=each.get(member), mime_type="application/json",
                    description=f"The {key} {each[key]}.",
                )
                for each in found[: _LISTED - len(listed)]
            ]
        return listed


def _tool(function: Callable[..., Any], hints: Mapping[str, bool]) -> Tool:
    read_only = hints.get("read_only", False)
    tool = Tool.from_function(function, annotations=ToolAnnotations(
        read_only_hint=read_only, destructive_hint=hints.get("destructive", False),
        idempotent_hint=read_only or hints.get("idempotent", False), open_world_hint=False,
    ))
    tool.parameters = _terse(tool.parameters)
    tool.fn_metadata.output_schema = _terse(tool.fn_metadata.output_schema)
    return tool


def _reporter(context: Context[None, Any]) -> Report:
    told = 0.0

    async def report(percentage: float, message: str | None) -> None:
        # A tool may make several calls, each from 0 to 100; an agent's progress must increase.
        nonlocal told
        if percentage > told:
            told = percentage
            await context.report_progress(percentage, 100, message)

    return report


def _failed(kind: str, message: str, data: Mapping[str, Any], after: str | None = None) -> CallToolResult:
    """An error as agents read it, and for programs in `_meta`: its structured form would not be of the tool's output schema."""
    after = after or _advice.next_step(kind)
    return CallToolResult(
        content=[TextContent(type="text", text=f"{kind}: {message[:4000]}\nNext: {after}.")], is_error=True,
        _meta={ERROR_META: {**data, "kind": kind, "message": message[:4000], "next": after}},
    )


def _data(error: Error) -> dict[str, Any]:
    data = dict(error.data) if isinstance(error, GeoModelError) else {}
    return data if size_of(data) < 4000 else {name: data[name] for name in ("kind", "path") if name in data}


def _terse(schema: Any) -> Any:
    """A schema without what tells an agent nothing: titles, and that what may be left out may be null."""
    if isinstance(schema, list):
        return [_terse(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: value for name, value in schema.items() if not (name == "title" and isinstance(value, str))}
    choices = [each for each in made.get("anyOf", ()) if each != {"type": "null"}]
    if len(choices) < len(made.get("anyOf", ())):
        if made.get("default", 0) is None:
            del made["default"]
        del made["anyOf"]
        made = {**(choices[0] if len(choices) == 1 else {"anyOf": choices}), **made}
        made.pop("title", None)
    return {name: _terse(value) for name, value in made.items()}


def _did_you_mean(near: Iterable[str]) -> str:
    names = ", ".join(near)
    return f", did you mean {names}?" if names else ""


def _meaning(known: Mapping[str, Any], place: Sequence[str | int]) -> str:
    """What the tool says of an argument."""
    described = known.get(str(place[0]), {}).get("description") if place else None
    return f" ({described})" if described else ""


def session_for(options: argparse.Namespace) -> Session:
    """The session that the command line asks for."""
    if options.attach is None:
        return Session(lambda: launch(
            options.server, root_path=options.root, allow_dir=options.allow_dir, allow_write=options.allow_write,
            trace_file=options.trace_file, client_name="geomodel-mcp",
        ), is_attached=False)

    def attach() -> Launch:
        # The live map's own folder is another one.
        command = [*find_server(options.server), "--attach", options.attach]
        return launch(command, root_path=options.root or os.getcwd(), client_name="geomodel-mcp")

    return Session(attach, is_attached=True)


def serve(options: argparse.Namespace) -> None:
    """Serves one agent until it closes standard input."""
    AgentServer(session_for(options)).run("stdio")
