"""The options of a call besides its params."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Callable, Literal, Mapping, Union


Report = Callable[[dict[str, Any]], object]
# A function that is called with each report; a bar; nothing, not even in notebooks. None: a bar in notebooks alone.
Progress = Union[Report, Literal["bar", False], None]


@dataclass(frozen=True)
class CallOptions:
    """`origin` names the author, `if_revision` refuses the call when the object has changed since, `undo` false makes no
    step of history. `scope`, `key`, `task` and `task_timeout` say how the server joins, replaces, names and limits a
    task. `progress` is called with each report, or shows a bar. `timeout` is the time that the client waits for any call, in seconds.
    """

    origin: str | None = None
    if_revision: int | None = None
    undo: bool | None = None
    scope: str | None = None
    key: str | None = None
    task: str | None = None
    task_timeout: float | None = None
    progress: Progress = None
    timeout: float | None = None

    @property
    def on_report(self) -> Report | None:
        """What is called with each report."""
        return self.progress if callable(self.progress) else None

    def merged(self, **changes: Any) -> CallOptions:
        """These options, overridden by others; None leaves an option unchanged."""
        return dataclasses.replace(self, **{name: value for name, value in changes.items() if value is not None})

    def with_meta(self, params: Mapping[str, Any], token: str | None) -> dict[str, Any]:
        """The params with `meta`; members of their own `meta` take precedence."""
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
