"""Finds the request that the server refused by an error whose id is null."""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Iterable, Mapping


class Refusals:
    """Probes outstanding requests by their own ids.

    A probe is a request with the id of an outstanding one. The server handles messages in order, so when it reads the
    probe it has run or refused the request. If the request is still running, its id is in use: the probe is refused, and
    that refusal has the id. If the request was answered, its answer precedes the probe's. Otherwise it was refused. Running requests
    are not affected.
    """

    def __init__(self) -> None:
        self._count = 0
        # The probed requests, with the number of the refusal that caused the probe.
        self._probed: dict[int, int] = {}
        self._errors: dict[int, Any] = {}
        self._last: Any = {}

    def add(self, error: Any, outstanding: Iterable[int]) -> list[dict[str, Any]]:
        """Takes a refusal and returns the probes to send: one for each request that is not probed already."""
        if not self._probed:
            self._errors.clear()
        self._count += 1
        self._errors[self._count] = error
        ids = [request_id for request_id in outstanding if request_id not in self._probed]
        self._probed.update(dict.fromkeys(ids, self._count))
        # A probe requests a map that does not exist. An echo would not do: it overtakes answers that are held back.
        params = {"map": _mark(self._count)}
        return [{"jsonrpc": "2.0", "id": probed, "method": "map/get", "params": params} for probed in ids]

    def is_alive(self, error: Any) -> bool:
        """Whether it is the refusal of a probe whose request is still running."""
        offending = _data(error).get("offendingId")
        return isinstance(offending, int) and self._probed.pop(offending, None) is not None

    def is_late(self, request_id: Any) -> bool:
        """Whether an unexpected answer is to a probe that was cancelled, or refused since the server was busy."""
        return isinstance(request_id, int) and self._probed.pop(request_id, None) is not None

    def answer(self, message: Mapping[str, Any]) -> Any:
        """The refusal of the request, if this answers a probe and the request was refused; else None."""
        request_id = message.get("id")
        if not isinstance(request_id, int) or request_id not in self._probed:
            return None
        number = self._probed[request_id]
        if _data(message.get("error")).get("id") != _mark(number):
            return None
        del self._probed[request_id]
        # Such answers arrive in order, as both tables are: entries of earlier probes are done.
        for earlier in list(takewhile(lambda key: self._probed[key] < number, self._probed)):
            del self._probed[earlier]
        for past in list(takewhile(lambda key: key < number, self._errors)):
            del self._errors[past]
        return next(iter(self._errors.values()), self._last)

    def take(self, refusal: Any) -> None:
        """Marks a refusal as reported: the next refused request has the next one, since both arrive in order."""
        self._last = refusal
        for number, error in self._errors.items():
            if error is refusal:
                del self._errors[number]
                break


def _mark(number: int) -> str:
    return f"outstanding-{number}"


def _data(error: Any) -> Mapping[str, Any]:
    data = error.get("data") if isinstance(error, Mapping) else None
    return data if isinstance(data, Mapping) else {}
