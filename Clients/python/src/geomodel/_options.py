"""What a call may carry besides its params."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Callable, Mapping


@dataclass(frozen=True)
class CallOptions:
    """`origin` names the writer, `if_revision` refuses when the object has changed since, `undo` false leaves no step
    of history, `scope`, `key`, `task` and
    `task_timeout` say how a task is joined, replaced, named and limited by the server. `progress` is called with each
    report. `timeout` is the client's own patience, in seconds, with any call.
    """

    origin: str | None = None
    if_revision: int | None = None
    undo: bool | None = None
    scope: str | None = None
    key: str | None = None
    task: str | None = None
    task_timeout: float | None = None
    progress: Callable[[dict[str, Any]], object] | None = None
    timeout: float | None = None

    def merged(self, **changes: Any) -> CallOptions:
        """These with others over them; None leaves alone."""
        return dataclasses.replace(self, **{name: value for name, value in changes.items() if value is not None})

    def with_meta(self, params: Mapping[str, Any], token: str | None) -> dict[str, Any]:
        """The params with `meta`; what their own `meta` says goes first."""
        task = {"scope": self.scope, "key": self.key, "id": self.task, "timeout": self.task_timeout}
        meta: dict[str, Any] = {
            "origin": self.origin,
            "ifRevision": self.if_revision,
            "undo": self.undo,
            "progressToken": token,
            "task": {name: value for name, value in task.items() if value is not None} or None,
        }
        meta = {name: value for name, value in meta.items() if value is not None}
        own = params.get("meta") or {}
        merged = {**meta, **own}
        if "task" in meta and own.get("task"):
            merged["task"] = {**meta["task"], **own["task"]}
        out = {name: value for name, value in params.items() if name != "meta"}
        if merged:
            out["meta"] = merged
        return out
