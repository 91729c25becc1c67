"""A part of the server's state tree, kept equal to it by JSON Patch."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

from .errors import ProtocolError

_MISSING = object()


class Replica:
    """The values at the observed paths, in a tree that has only those."""

    def __init__(self) -> None:
        self.root: Any = {}

    def clear(self) -> None:
        self.root = {}

    def place(self, values: Iterable[Mapping[str, Any]]) -> None:
        """Sets the values of a snapshot, or some of them; an object that exists already gets the members of the new one."""
        for entry in values:
            parts = parse_pointer(entry["path"])
            here = self._find(parts, _MISSING)
            self._set(parts, _merged(here, entry.get("value")))

    def apply(self, changes: Iterable[Mapping[str, Any]]) -> None:
        for change in changes:
            parts, op = parse_pointer(change["path"]), change["op"]
            if op == "remove":
                self._remove(parts)
            elif op == "move":
                start = parse_pointer(change["from"])
                value = self._find(start, _MISSING)
                if value is _MISSING:
                    raise ProtocolError(f"a move from {change['from']!r}, where nothing stands")
                self._remove(start)
                self._set(parts, value, insert=True)
            elif op in ("add", "replace"):
                self._set(parts, copied(change.get("value")), insert=op == "add")
            else:
                raise ProtocolError(f"a change with the operation {op!r}")

    def get(self, path: str, default: Any = None) -> Any:
        return self._find(parse_pointer(path), default)

    def _find(self, parts: list[str], default: Any) -> Any:
        here = self.root
        for part in parts:
            try:
                here = here[int(part)] if isinstance(here, list) else here[part]
            except (KeyError, IndexError, ValueError, TypeError):
                return default
        return here

    def _set(self, parts: list[str], value: Any, insert: bool = False) -> None:
        if not parts:
            self.root = value
            return
        here = self._parent(parts)
        last = parts[-1]
        if isinstance(here, list):
            index = len(here) if last == "-" else int(last)
            if insert:
                here.insert(index, value)
            else:
                here[index] = value
        else:
            here[last] = value

    def _remove(self, parts: list[str]) -> None:
        if not parts:
            self.root = {}
            return
        here = self._parent(parts)
        try:
            if isinstance(here, list):
                del here[int(parts[-1])]
            else:
                del here[parts[-1]]
        except (KeyError, IndexError):
            pass  # A place above may have been removed first.

    def _parent(self, parts: list[str]) -> Any:
        here = self.root
        for part in parts[:-1]:
            if isinstance(here, list):
                here = here[int(part)]
                continue
            inner = here.get(part)
            if not isinstance(inner, (dict, list)):
                # The tree has only the observed paths: containers above them are made when they are first needed.
                inner = here[part] = {}
            here = inner
        return here


def parse_pointer(path: str) -> list[str]:
    """The segments of a JSON Pointer."""
    if path == "":
        return []
    if not path.startswith("/"):
        raise ProtocolError(f"no JSON Pointer: {path!r}")
    return [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]


def _merged(here: Any, value: Any) -> Any:
    # In place: a container of a million members arrives in a thousand parts.
    if isinstance(here, dict) and isinstance(value, dict):
        for key, inner in value.items():
            here[key] = _merged(here.get(key, _MISSING), inner)
        return here
    return copied(value)


def copied(value: Any) -> Any:
    """A copy with containers of its own: what was handed out must not show later changes."""
    if isinstance(value, dict):
        return {key: copied(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [copied(inner) for inner in value]
    return value
