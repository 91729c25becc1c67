"""Which request the server means when it refuses a message without saying so, by an error whose id is null."""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Iterable, Mapping


class Refusals:
    """Asks after outstanding requests, by their own ids.

    A question is a request under the id that it asks about. The server handles messages in order, so when it comes to the
    question it has run or refused what was written before. One that still works has its id taken: the question is refused,
    and that refusal does name the id. One that has been answered has its answer in front of the question's. What is left
    was refused. Nothing is guessed, and nothing that runs is disturbed.
    """

    def __init__(self) -> None:
        self._count = 0
        # After which requests has been asked, and because of which refusal, by its number.
        self._asked: dict[int, int] = {}
        self._errors: dict[int, Any] = {}
        self._last: Any = {}

    def add(self, error: Any, outstanding: Iterable[int]) -> list[dict[str, Any]]:
        """Takes a refusal, and gives the questions to send: for each request that is not asked after already."""
        if not self._asked:
            self._errors.clear()
        self._count += 1
        self._errors[self._count] = error
        ids = [request_id for request_id in outstanding if request_id not in self._asked]
        self._asked.update(dict.fromkeys(ids, self._count))
        # It asks for a map that is not there. An echo would not do: it overtakes answers that are held back.
        params = {"map": _mark(self._count)}
        return [{"jsonrpc": "2.0", "id": asked, "method": "map/get", "params": params} for asked in ids]

    def is_alive(self, error: Any) -> bool:
        """Whether it is the refusal of a question, since the request that it asks about still works."""
        offending = _data(error).get("offendingId")
        return isinstance(offending, int) and self._asked.pop(offending, None) is not None

    def is_late(self, asked: Any) -> bool:
        """Whether an answer that nobody waits for is to a question that was cancelled, or refused since the server was busy."""
        return isinstance(asked, int) and self._asked.pop(asked, None) is not None

    def answer(self, message: Mapping[str, Any]) -> Any:
        """What the request was refused with, if it was, when this answers a question; else None."""
        asked = message.get("id")
        if not isinstance(asked, int) or asked not in self._asked:
            return None
        number = self._asked[asked]
        if _data(message.get("error")).get("id") != _mark(number):
            return None
        del self._asked[asked]
        # Such answers come in order, and both tables are in it: what belongs to earlier questions has come.
        for earlier in list(takewhile(lambda key: self._asked[key] < number, self._asked)):
            del self._asked[earlier]
        for past in list(takewhile(lambda key: key < number, self._errors)):
            del self._errors[past]
        return next(iter(self._errors.values()), self._last)

    def take(self, refusal: Any) -> None:
        """Marks a refusal as told: the next request that was refused has the next one, since both come in order."""
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
