"""Sends GeoDataFrames to overlays and sources, and reads features back, in as many messages as they need."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Callable, Mapping, TypedDict

from ._caller import Caller
from ._features import Features, ids_of
from ._frames import Frame, Part, as_frame, needed
from ._generated import types
from ._parts import Parts
from ._values import column
from ._wire import encoding
from .errors import ContentModifiedError, EditInProgressError, EncodeError, GeoModelError

# Size of the text of a part: small enough that other requests are answered between two parts, far below the limit of 16 MiB.
_PART_BYTES = 4 << 20
# Maximum number of features in the answer to a query.
_PAGE = 100_000
_ATTEMPTS = 3


class Added(TypedDict):
    """The result of `overlay.add`."""

    revision: int
    """The world's revision after this."""
    count: int
    """Number of graphics added."""
    ids: Any
    """Their ids in the order of the rows, an array of numpy."""


class _Progress:
    """Progress reports that the client makes, in the form of those of tasks."""

    def __init__(self, client: Caller, title: str, total: int) -> None:
        self._call, self._total, self._done = client._options.on_report, total, 0
        self._report({"kind": "begin", "title": title, "percentage": 0})

    def add(self, count: int) -> None:
        self._done += count
        self._report({"kind": "report", "percentage": 100 * self._done // max(self._total, 1)})

    def end(self) -> None:
        self._report({"kind": "end"})

    def _report(self, event: dict[str, Any]) -> None:
        if self._call is not None:
            self._call(event)


async def add(client: Caller, overlay: str, data: Any, keep_ids: bool) -> Added:
    """Adds the rows of a frame to an overlay, all or none; see `OverlayMethods.add`."""
    numpy = needed("numpy")
    frame, parts = _prepared("overlay.add", data, f"the overlay {overlay!r}", keep_ids)
    progress = _Progress(client, "overlay.add", len(frame))
    added: list[Any] = []
    result: Added = {"revision": 0, "count": 0, "ids": numpy.arange(0)}

    def finish(part: Part, answer: Mapping[str, Any]) -> None:
        minted = answer.get("firstId", 0)
        rows = slice(part.first, part.first + part.count)
        added.append(numpy.arange(minted, minted + part.count) if frame.ids is None else numpy.asarray(frame.ids[rows]))
        result["revision"] = answer["revision"]
        result["count"] += answer["count"]
        progress.add(part.count)

    def message(part: Part) -> dict[str, Any]:
        reference = {} if frame.reference is None else {"spatialReference": frame.reference}
        return {"overlay": overlay, **reference, **part.columns}

    first, later = client._with(progress=False), client._with(progress=False, if_revision=None)
    async with _one_step(later, f"Add {len(frame):,} graphics", len(parts) > 1):
        try:
            finish(parts[0], await _call(first, "overlay/addColumns", message(parts[0]), parts[0]))
            await _send(later, "overlay/addColumns", message, parts[1:], finish)
        except BaseException:
            if added:
                taken = column(numpy.concatenate(added), "ids")
                await asyncio.shield(later.call("overlay/removeGraphics", {"overlay": overlay, "ids": taken}))
            raise
    progress.end()
    result["ids"] = numpy.concatenate(added)
    return result


async def open_frame(client: Caller, id: str | None, data: Any, keep_ids: bool) -> types.Source:
    """Opens a source over the rows of a frame, all or none; see `SourceMethods.add`."""
    frame, parts = _prepared("source.add", data, "degrees (EPSG:4326)", keep_ids)
    progress = _Progress(client, "source.add", len(frame))
    later = client._with(progress=False, if_revision=None, scope=None, key=None, task=None)
    params = {"id": id, "columns": parts[0].columns, "fields": frame.fields(), "spatialReference": frame.reference}
    given = {name: value for name, value in params.items() if value is not None}
    opened: types.Source = await _call(client._with(progress=False), "source/openInline", given, parts[0])
    progress.add(parts[0].count)
    source = opened["source"]
    if len(parts) > 1:
        try:
            await _send(
                later, "source/addColumns", lambda part: {"source": source, "columns": part.columns}, parts[1:],
                lambda part, _: progress.add(part.count),
            )
        except BaseException:
            await asyncio.shield(later.call("source/close", {"source": source}))
            raise
        opened = await later.call("source/get", {"source": source})
    progress.end()
    return opened


def _prepared(what: str, data: Any, container: str, keep_ids: bool) -> tuple[Frame, list[Part]]:
    with encoding(what):
        frame = as_frame(data, "data")
        if frame is None:
            raise EncodeError(f"data: a GeoDataFrame or a GeoSeries is expected, not {type(data).__name__}")
        frame.warn(container)
        frame = frame if keep_ids else frame.without_ids()
        return frame, list(frame.parts(_PART_BYTES))


async def _send(
    client: Caller,
    method: str,
    message: Callable[[Part], dict[str, Any]],
    parts: list[Part],
    finish: Callable[[Part, Mapping[str, Any]], None],
) -> None:
    """Sends parts in order; the next part is made and sent while the server works on the last one.

    Returns or raises when all sent parts are answered: to undo what the server has done, the caller has to know it.
    """
    waiting: deque[tuple[Part, asyncio.Task[Any]]] = deque()
    failure: BaseException | None = None

    async def settle(until: int) -> None:
        nonlocal failure
        while len(waiting) > until:
            part, task = waiting[0]
            try:
                # A cancel ends this wait, not the request.
                await asyncio.wait({task})
                waiting.popleft()
                finish(part, task.result())
            except BaseException as error:
                failure = failure or error

    for part in parts:
        if failure is not None:
            break
        waiting.append((part, asyncio.ensure_future(_call(client, method, message(part), part))))
        try:
            # This part is sent before the next one is made.
            await asyncio.sleep(0)
        except asyncio.CancelledError as error:
            failure = error
        await settle(1)
    await settle(0)
    if failure is not None:
        raise failure


async def _call(client: Caller, method: str, params: dict[str, Any], part: Part) -> Any:
    """Waits for the answer to a part; an error names the rows of the frame."""
    try:
        return await client.call(method, params)
    except GeoModelError as error:
        for item in error.data.get("items", ()):
            item["index"] += part.first
        raise


@asynccontextmanager
async def _one_step(client: Caller, name: str, applies: bool) -> AsyncIterator[None]:
    """Combines several commands into one step of history, unless an edit in progress does so already."""
    if applies:
        try:
            await client.call("edit/begin", {"name": name})
        except EditInProgressError:
            applies = False
    try:
        yield
    finally:
        if applies:
            await asyncio.shield(client.call("edit/end"))


async def fetch(client: Caller, query: Mapping[str, Any]) -> Any:
    """A frame of all features of a query, of one revision; see `to_geodataframe`."""
    with encoding("to_geodataframe"):
        params = {_camel(name): value for name, value in query.items() if value is not None}
        offset, limit = int(params.pop("offset", 0)), params.pop("limit", None)
    for attempt in range(_ATTEMPTS):
        try:
            return await _fetch(client, params, offset, None if limit is None else int(limit))
        except ContentModifiedError:
            # The revision changed while reading: everything is read again.
            if client._options.if_revision is not None or attempt == _ATTEMPTS - 1:
                raise


async def _fetch(client: Caller, params: Mapping[str, Any], offset: int, limit: int | None) -> Any:
    features = Features()
    total = await _total(client, params, offset, limit)
    progress = _Progress(client, "to_geodataframe", total)
    asked = {**params, "format": "columns"}
    page = _PAGE if limit is None else min(_PAGE, limit)
    answer = await client._with(progress=False).call("feature/query", {**asked, "offset": offset, "limit": page})
    done = len(ids_of(answer))
    features.append(answer)
    progress.add(done)
    if answer["exceededLimit"] and done and (limit is None or done < limit):
        # A large result comes in parts: the server makes the next one while this one is read.
        rest = {**asked, "offset": offset + done, **({} if limit is None else {"limit": limit - done})}
        async with Parts(client._with(progress=False, if_revision=answer["revision"]), "feature/query", rest) as parts:
            async for part in parts:
                features.append({**part, "fields": answer["fields"]})
                progress.add(len(ids_of(part)))
    progress.end()
    return features.frame()


async def _total(client: Caller, params: Mapping[str, Any], offset: int, limit: int | None) -> int:
    """The number of features, if progress is to be reported."""
    if client._options.on_report is None:
        return 0
    others = ("orderBy", "properties", "returnGeometry", "returnM", "outSpatialReference")
    asked = {name: value for name, value in params.items() if name not in others}
    count = max(int((await client._with(progress=False).call("feature/queryCount", asked))["count"]) - offset, 0)
    return count if limit is None else min(count, limit)


def _camel(name: str) -> str:
    return re.sub("_([a-z])", lambda found: found[1].upper(), name)
