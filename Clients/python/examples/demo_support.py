"""The output of the demonstration: the transcript with its claims, and the wording of places, boxes and errors."""

from __future__ import annotations

import math
import os
import sys
import time
from pathlib import Path
from typing import Any, Awaitable, Callable, TypeVar

import geomodel

T = TypeVar("T")


class Transcript:
    """Prints the steps as they are answered, and the claims at the end."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._bold = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        self._claims: list[tuple[bool, str]] = []

    def title(self, text: str) -> None:
        print(f"\n\033[1m{text}\033[0m" if self._bold else f"\n{text}", flush=True)

    def line(self, sent: str, came: str, took: float | None = None) -> None:
        at = time.perf_counter() - self._start
        span = "" if took is None else f"{took * 1000:,.1f} ms"
        method, _, what = sent.partition("  ")
        print(f"{at:7.3f} s {span:>12}  {method:<25} {what.strip():<30}  {came}", flush=True)

    async def step(self, sent: str, call: Awaitable[T], came: Callable[[T], str]) -> T:
        """Awaits a call, then prints it; `sent` is the method and, after two spaces, its params; `came` describes the result."""
        began = time.perf_counter()
        result = await call
        self.line(sent, came(result), time.perf_counter() - began)
        return result

    def claim(self, holds: bool, text: str) -> None:
        self._claims.append((bool(holds), text))

    def verdict(self) -> bool:
        self.title("What was claimed")
        for holds, text in self._claims:
            print(f"  {'yes' if holds else 'NO ':<4} {text}")
        wrong = sum(not holds for holds, _ in self._claims)
        seconds = time.perf_counter() - self._start
        print(f"\n{len(self._claims)} claims, {wrong} of them false; {seconds:.1f} s.", flush=True)
        return wrong == 0


async def failing(call: Awaitable[Any]) -> tuple[Any, float]:
    """The error that ends a call (its result, if it has one), and the time."""
    try:
        outcome = await call
    except geomodel.GeoModelError as error:
        outcome = error
    return outcome, time.perf_counter()


def write_geojson(path: Path, size: int) -> None:
    """Points all over the world, the same 20,000 repeated until the file has the size."""
    places = ",\n".join(
        f'{{"type":"Feature","geometry":{{"type":"Point","coordinates":[{n * 7919 % 36000 / 100 - 180:.2f},'
        f'{n * 4729 % 18000 / 100 - 90:.2f}]}},"properties":{{"name":"place {n}","kind":"k{n % 8}","value":{n}}}}}'
        for n in range(20_000)
    )
    with path.open("w", encoding="ascii") as file:
        file.write(f'{{"type":"FeatureCollection","features":[\n{places}')
        while file.tell() < size:
            file.write(f",\n{places}")
        file.write("\n]}\n")


def scale(view: Any) -> str:
    return f"1 : {view['viewpoint']['targetScale']:,.0f}"


def point(at: Any) -> dict[str, Any]:
    return {"type": "Point", "coordinates": list(at)}


def place(at: tuple[float, float], scale: float) -> Any:
    return {"type": "centerAndScale", "center": point(at), "targetScale": scale}


def near(a: Any, b: Any) -> bool:
    return math.dist(a[:2], b[:2]) < 1e-6


def within(at: list[float], area: geomodel.types.Envelope) -> bool:
    return area["xMin"] <= at[0] <= area["xMax"] and area["yMin"] <= at[1] <= area["yMax"]


def metres(a: list[float], b: list[float]) -> float:
    """Great-circle distance, on a sphere: good to half a percent."""
    (x1, y1), (x2, y2) = (map(math.radians, at[:2]) for at in (a, b))
    half = math.sin((y2 - y1) / 2) ** 2 + math.cos(y1) * math.cos(y2) * math.sin((x2 - x1) / 2) ** 2
    return 2 * 6_371_008.8 * math.asin(math.sqrt(half))


def position(at: list[float]) -> str:
    return f"{at[0]:.4f}, {at[1]:.4f}"


def where(viewpoint: Any) -> str:
    return f"on the way: {position(viewpoint['center']['coordinates'])}, 1 : {viewpoint['targetScale']:,.0f}"


def driving(location: dict[str, Any]) -> str:
    return f"{position(location['position']['coordinates'])}, {location['speed']:g} m/s, course {location['course']:.0f}"


def box(area: Any) -> str:
    return "{xMin:.4g} {yMin:.4g} ... {xMax:.4g} {yMax:.4g}".format(**area)


def shorten(names: list[str], at_most: int = 4) -> str:
    return ", ".join(names[:at_most]) + (" ..." if len(names) > at_most else "")


def revision(result: Any) -> str:
    return f"revision {result['revision']}"


def flag(value: bool) -> str:
    return "true" if value else "false"


def kind(outcome: Any) -> str:
    return outcome.kind if isinstance(outcome, geomodel.GeoModelError) else "an answer"
