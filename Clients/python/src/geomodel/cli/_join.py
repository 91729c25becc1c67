"""Joins the features of A with those of B by place, and prints each pair as a feature of A with the fields of B.

Examples:

  geomodel join cities.gpkg countries.gpkg --predicate within --join-fields name
  geomodel join stops.csv stations.geojson --predicate nearest --max-distance 500
  geomodel join countries.gpkg cities.gpkg --count --format table
"""

from __future__ import annotations

import argparse
from typing import Any, Iterator, Mapping

from . import _features, _layers
from ._arguments import add_output, add_reading, add_server, names, whole
from ._failures import UsageError
from ._session import Session

# Pairs of one request.
_PAGE = 5000


class _Predicates:
    """The relations that the protocol has, read when one is named: the types of the protocol take long to import."""

    def __iter__(self) -> Iterator[str]:
        from typing import get_args

        from .._generated.types import JoinRelationship

        return iter(get_args(JoinRelationship))

    def __contains__(self, name: object) -> bool:
        return name in list(self)


def define(parser: argparse.ArgumentParser) -> None:
    _layers.add_input(parser, "a")
    _layers.add_input(parser, "b")
    parser.add_argument(
        "--predicate", default="intersects", choices=_Predicates(), metavar="RELATION",
        help="how A is related to B: intersects (when absent), within, contains, touches, nearest, withinDistance ...",
    )
    parser.add_argument("--max-distance", type=float, metavar="METRES", help="with nearest and withinDistance: no further away")
    parser.add_argument("--nearest", type=whole, metavar="N", help="with nearest: how many of B for each of A")
    parser.add_argument("--count", action="store_true", help="each feature of A once, with the number of those of B as `count`")
    parser.add_argument("--join-where", metavar="CQL2", help="only features of B for which this is true")
    parser.add_argument("--join-fields", type=names, metavar="A,B", help="these fields of B; all when absent")
    parser.add_argument("--join-layer", metavar="NAME", help="the layer of B, where the file has several")
    _layers.add_filter(parser, sorts=False)
    _features.add_format(parser)
    _layers.add_attach(parser)
    add_reading(parser)
    add_output(parser)
    add_server(parser)


def run(options: argparse.Namespace) -> int:
    form = _features.format_of(options)
    if options.a == options.b == "-":
        raise UsageError("only one of A and B is standard input", "geomodel join")
    with Session(options) as session:
        first = _layers.load(session, options.a, options)
        of_b = argparse.Namespace(**{**vars(options), "layer": options.join_layer})
        second = _layers.load(session, options.b, of_b, "joined", "--join-layer")
        params: dict[str, Any] = {
            **_layers.filters(options, first), "relationship": options.predicate, "join": {"layer": second.id},
            "output": "counts" if options.count else "pairs",
        }
        if options.join_where is not None:
            params["join"]["whereClause"] = options.join_where
        if options.max_distance is not None:
            params["maxDistance"] = options.max_distance
        if options.nearest is not None:
            params["nearestCount"] = options.nearest
        heads = first.names(options.fields)
        added = _added(options, heads, second)
        if not options.count:
            params["joinProperties"] = list(added)
        shape = {"outSpatialReference": _layers.DEGREES} if first.has_places and form != "table" else {}
        if options.fields is not None:
            shape["properties"] = options.fields
        limit = options.limit if options.limit is not None else _features.ROWS if form == "table" else None
        made = _joined(session, first, params, shape, added, limit)
        _features.write_made(session, made, form, [*heads, *added.values(), *_numbers(options)], None)
    return 0


def _numbers(options: argparse.Namespace) -> list[str]:
    """The fields that the join itself makes."""
    if options.count:
        return ["count"]
    return ["distance"] if options.predicate in ("nearest", "withinDistance") else []


def _added(options: argparse.Namespace, heads: list[str], second: _layers.Layer) -> dict[str, str]:
    """The fields of B by the names that they get: one that A has too begins with the name of B's layer."""
    if options.count:
        return {}
    taken = {*heads, *_numbers(options)}
    return {name: f"{second.name}_{name}" if name in taken else name for name in second.names(options.join_fields)}


def _joined(
    session: Session, first: _layers.Layer, params: Mapping[str, Any], shape: Mapping[str, Any], added: Mapping[str, str],
    limit: int | None,
) -> Iterator[_features.Feature]:
    """The pairs in pages, each a feature."""
    from .._values import unpacked

    offset = 0
    while limit is None or offset < limit:
        page = _PAGE if limit is None else min(_PAGE, limit - offset)
        found = session.call("feature/join", {**params, "offset": offset, "limit": page}, "joining")
        ids = unpacked(found["ids"])
        columns = found.get("joinedColumns", {}).get("attributes", {})
        values = {renamed: unpacked(columns[name]) for name, renamed in added.items() if name in columns}
        for name, member in (("distance", "distances"), ("count", "counts")):
            if member in found:
                values[name] = [round(number, 3) for number in unpacked(found[member])]
        query = {"layer": first.id, "ids": list(dict.fromkeys(ids)), **shape}
        by_id = {each["id"]: each for each in _features.queried(session, query)} if ids else {}
        for row, id in enumerate(ids):
            more = {name: column[row] for name, column in values.items()}
            yield {**by_id[id], "properties": {**by_id[id]["properties"], **more}}
        offset += len(ids)
        if not found["exceededLimit"]:
            return
    if limit == _features.ROWS:
        session.warn(f"{limit} of {found['pairCount']:,} pairs; --limit shows more")
