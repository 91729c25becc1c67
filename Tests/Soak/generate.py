"""Requests made from the definition: valid ones, nearly valid ones, and damaged ones."""

from __future__ import annotations

import fnmatch
import json
import random
from typing import Any, Callable, Iterable

# Members that hold the id of an object, with its collection in the state tree.
_COLLECTIONS = {
    "map": "maps", "scene": "scenes", "view": "views", "overlay": "overlays", "layer": "layers", "group": "layers",
    "binding": "bindings", "link": "links", "viewModel": "viewModels", "locationSource": "locationSources",
}  # fmt: skip
_ANY = ("owner", "node", "scope")
# Members of which one is wanted.
_CHOICES = [("map", "scene"), ("layer", "overlay"), ("geometry", "geometries", "columns"), ("other", "others"), ("distance", "distances")]
_TEXTS = ["", "a", "title", "žluťoučký 🐎", "e\u0301", "\u0000", "a\nb", "'", '"', "%", "😀", "x" * 300, "1.5", "null"]
_NUMBERS = [
    0, 1, -1, 2, 0.5, -0.0, 1e-15, -1e-15, 90, 180, 359.9999999999999, 360, -400.5, 1e6, 1e9, 1e15, 1e16, 1e300, 1e-300, 2**53 + 1, 2**63,
]  # fmt: skip
_EXPRESSIONS = [
    "name", "size > 3", "name LIKE 'g%'", "pop_est > 1000000 AND continent = 'Europe'", "size IS NULL OR NOT isOpen", "1 = 1",
    "name IN ('a', 'b')", "size + 1", "coalesce(size, 0) * 2", "upper(name)", "size BETWEEN 1 AND 4", "right * 10", "((", "nobody = 1",
]  # fmt: skip
# Of the ellipsoid, of the earth's centre, with heights, of a pole, of half the earth, of the moon, of no place on earth.
_REFERENCES = [
    "EPSG:4326", "EPSG:3857", "EPSG:32633", "EPSG:2154", "EPSG:4978", "EPSG:4979", "EPSG:5773", "EPSG:4326+5773", "EPSG:3995", "EPSG:5041", "EPSG:2193",
    "ESRI:54030", "+proj=ortho +lat_0=40", "+proj=igh", "+proj=longlat +R=1737400", "+proj=utm +zone=32", "EPSG:999999", "x",
    'ENGCRS["site",EDATUM["site"],CS[Cartesian,2],AXIS["x",east],AXIS["y",north],LENGTHUNIT["metre",1]]',
]  # fmt: skip
_GEOMETRIES = [
    "Point", "MultiPoint", "LineString", "LineString", "MultiLineString", "Polygon", "Polygon", "MultiPolygon", "GeometryCollection", "Envelope",
    "WKT", "WKB",
]  # fmt: skip
_WKT = ["POINT EMPTY", "LINESTRING M (1 2 3, 0 0 4)", "MULTIPOLYGON EMPTY", "CIRCULARSTRING (0 0, 1 1, 2 0)"]
# Where longitudes and latitudes end, and what is none.
_ORDINATES = [0, 0, 1, 45, 90, -90, 180, -180, 179.9999999, 89.9999999, 181, 360, -540, 1e-12, 500_000, 2e7, 1e9, 1e15, 1e100, 1e300, -1e300]
_FILES = ["naturalearth_110m.gpkg", "cities.shp", "cities.fgb", "jacksboro_dem.tif", "types.gpkg", "none.gpkg", "../x", "fifo", "a.json"]
_NAMES = ["count", "name", "items", "right", "wrong", "total", "status", "theme", "locale", "target", "table"]
_PATHS = ["/maps/*/title", "/views/*/viewpoint", "/overlays/*", "/layers/*/isVisible", "/clock", "", "/viewModels/*/count", "/x", "nothing"]


class Generator:
    """Makes requests for the objects that are known to exist."""

    def __init__(self, definition: dict[str, Any], rng: random.Random, pattern: str = "*") -> None:
        """Methods of the pattern are chosen four times of five."""
        self.rng = rng
        self.schemas = definition["components"]["schemas"]
        self.methods = {method["name"]: method for method in definition["methods"]}
        for left_out in ("initialize", "shutdown", "rpc.discover", "session/describe", "state/unobserve"):
            del self.methods[left_out]
        self.commands = [name for name, method in self.methods.items() if method["x-shape"] == "command" and not name.startswith("edit/")]
        self.objects: dict[str, list[str]] = {}
        self._preferred = fnmatch.filter(self.methods, pattern)
        self._made = 0

    # Requests

    def request(self, methods: Iterable[str] | None = None) -> tuple[str, Any]:
        """A method among those, or of all, with params that are valid or nearly so."""
        chosen = list(methods or (self._preferred if self.rng.random() < 0.8 else self.methods))
        name = self.rng.choice(chosen)
        return name, self.params(name)

    def params(self, name: str) -> Any:
        method = self.methods[name]
        example = next((one["params"] for one in method.get("examples", []) if "params" in one), None)
        if isinstance(example, list) and self.rng.random() < 0.15:
            params: Any = {one["name"]: one["value"] for one in example}
        else:
            params = {}
            for one in method["params"]:
                if one["required"] or self.rng.random() < (0.05 if one["name"] == "meta" else 0.3):
                    params[one["name"]] = self.value(one["schema"], one["name"], 0)
            self._choose_container(params, method)
        if self.rng.random() < 0.15:
            params = self.disturbed(params)
        return params

    def _choose_container(self, params: dict[str, Any], method: dict[str, Any]) -> None:
        """Of map and scene, layer and overlay, one geometry and several most methods want one."""
        names = [one["name"] for one in method["params"]]
        for choice in _CHOICES:
            given = [name for name in choice if name in names]
            if len(given) > 1 and self.rng.random() < 0.9:
                kept = self.rng.choice(given)
                for name in given:
                    params.pop(name, None)
                params[kept] = self.value(next(one["schema"] for one in method["params"] if one["name"] == kept), kept, 0)

    def disturbed(self, value: Any) -> Any:
        """The value with a change somewhere in it."""
        if isinstance(value, dict) and value and self.rng.random() < 0.8:
            name = self.rng.choice(list(value))
            kind = self.rng.random()
            if kind < 0.2:
                return {key: inner for key, inner in value.items() if key != name}
            if kind < 0.3:
                return {**value, name + "x": value[name]}
            return {**value, name: self.disturbed(value[name])}
        if isinstance(value, list) and value and self.rng.random() < 0.8:
            place = self.rng.randrange(len(value))
            return [*value[:place], self.disturbed(value[place]), *value[place + 1 :]]
        return self.json(1)

    def damaged(self, body: bytes) -> bytes:
        """A message with a few bytes that are not as they were."""
        bytes_ = bytearray(body)
        for _ in range(self.rng.randint(1, 4)):
            place = self.rng.randrange(len(bytes_))
            kind = self.rng.random()
            if kind < 0.4:
                bytes_[place] = self.rng.randrange(256)
            elif kind < 0.7:
                del bytes_[place]
            else:
                bytes_.insert(place, self.rng.choice(b'{}[]",:\\0x'))
            if not bytes_:
                break
        return bytes(bytes_).replace(b"\n", b" ") or b"{"

    # Values

    def id(self, name: str) -> str:
        """The id of an existing object that a member of that name may mean, or another one."""
        collection = _COLLECTIONS.get(name)
        if name == "source":
            collection = self.rng.choice(["sources", "sources", "sources", "locationSources"])
        known = self.objects.get(collection, []) if collection else []
        if name in _ANY or not known or self.rng.random() < 0.03:
            known = [id for ids in self.objects.values() for id in ids]
        return self.rng.choice(known) if known and self.rng.random() < 0.97 else "nobody"

    def new_id(self) -> str:
        self._made += 1
        return f"n{self._made}"

    def value(self, schema: dict[str, Any], name: str, depth: int) -> Any:
        if "$ref" in schema:
            title = schema["$ref"].rsplit("/", 1)[1]
            special = getattr(self, f"_{title}", None)
            if special is not None:
                return special(name)
            return self.value(self.schemas[title], name, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        for choice in ("oneOf", "anyOf"):
            if choice in schema:
                return self.value(self.rng.choice(schema[choice]), name, depth)
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            longest = min(schema.get("maxItems", 4), 4 if depth < 3 else 1)
            count = self.rng.randint(min(schema.get("minItems", 0), longest), longest)
            return [self.value(schema.get("items", {}), name, depth + 1) for _ in range(count)]
        if kind in ("number", "integer"):
            return self._number(schema)
        if kind == "string":
            return self._string(schema, name)
        if kind == "boolean":
            return self.rng.random() < 0.5
        return None if kind == "null" else self.json(depth)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        made = {}
        for name, inner in schema.get("properties", {}).items():
            if name in schema.get("required", []) or self.rng.random() < (0.4 if depth < 4 else 0.05):
                made[name] = self.value(inner, name, depth + 1)
        inner = schema.get("additionalProperties")
        if isinstance(inner, dict):
            for _ in range(self.rng.randint(0, 2)):
                made[self.rng.choice(_NAMES)] = self.value(inner, "", depth + 1)
        return made

    def _number(self, schema: dict[str, Any]) -> Any:
        low = schema.get("minimum", schema.get("exclusiveMinimum", -1000))
        high = schema.get("maximum", schema.get("exclusiveMaximum", max(low, 0) + 1000))
        if self.rng.random() < 0.1:
            return self.rng.choice([low, high, *_NUMBERS])
        if schema["type"] == "integer":
            return self.rng.randint(int(low), int(min(high, low + 5)) if self.rng.random() < 0.8 else int(high))
        return round(self.rng.uniform(low, high), self.rng.choice([0, 2, 15]))

    def _string(self, schema: dict[str, Any], name: str) -> str:
        if name in ("path", "paths", "first", "second", "before"):
            return self._path()
        if name in ("expression", "transform", "inverse"):
            return self.rng.choice(_EXPRESSIONS)
        if name == "now" or "Time" in name:
            return self.rng.choice(["2024-01-01T00:00:00Z", "2024-06-01T12:00:00.5+02:00", "yesterday"])
        if name == "sourceLayer":
            return self.rng.choice(["countries", "cities", "types", "none"])
        if self.rng.random() < 0.1 and "maxLength" in schema:
            return "x" * min(schema["maxLength"] + self.rng.choice([0, 1]), 70_000)
        return self.rng.choice(_TEXTS)

    def _path(self) -> str:
        """A path or pattern in the state tree, often of an object that exists."""
        path = self.rng.choice(_PATHS)
        known = self.objects.get(path.split("/")[1], []) if path.count("/") > 1 else []
        return path.replace("*", self.rng.choice(known)) if known and self.rng.random() < 0.8 else path

    def json(self, depth: int) -> Any:
        kind = self.rng.randrange(8 if depth < 3 else 6)
        if kind == 6:
            return [self.json(depth + 1) for _ in range(self.rng.randint(0, 3))]
        if kind == 7:
            return {self.rng.choice([*_NAMES, "id", "type"]): self.json(depth + 1) for _ in range(self.rng.randint(0, 3))}
        return [None, True, False, self.rng.choice(_NUMBERS), self.rng.choice(_TEXTS), self.rng.randint(-5, 5)][kind]

    # Types that a schema does not describe wholly

    def _ObjectId(self, name: str) -> str:
        if name == "id":
            return self.new_id() if self.rng.random() < 0.93 else self.id("owner")
        return self.id(name)

    def _FilePath(self, name: str) -> str:
        return self.rng.choice(_FILES)

    def _SpatialReference(self, name: str) -> str:
        return self.rng.choice(_REFERENCES[:2] if self.rng.random() < 0.7 else _REFERENCES)

    def _Expression(self, name: str) -> str:
        return self.rng.choice(_EXPRESSIONS)

    def _FeatureId(self, name: str) -> int:
        return self.rng.randint(0, 12)

    def _MemberName(self, name: str) -> str:
        return self.rng.choice(["title", "minScale", "maxScale", "renderer", "basemap", "definitionExpression", "popup", "labels", "bookmarks", "source"])

    def _PropertyName(self, name: str) -> str:
        return self.rng.choice(_NAMES)

    def _Color(self, name: str) -> str:
        return self.rng.choice(["#FF0000", "#00ff0080", "#000000FF", "red"])

    def _Column(self, name: str) -> Any:
        if name == "ids":
            return [self.rng.randint(0, 12) for _ in range(self.rng.randint(0, 3))]
        if self.rng.random() < 0.2:
            return {"type": "float64", "data": "AAAAAAAA8D8AAAAAAAAAQAAAAAAAAAhA"}
        return [self.rng.choice([1, 2.5, -170, None if name else 0]) for _ in range(3)]

    def _Geometry(self, name: str) -> Any:
        kind = self.rng.choice(["Point"] if name in ("center", "points", "locations") else _GEOMETRIES)
        # Most lie around a place; positions of the others are anywhere.
        if self.rng.random() < 0.6:
            x, y, size = self.rng.uniform(-180, 180), self.rng.uniform(-90, 90), self.rng.choice([0.001, 1, 30])
            ordinates = [(round(x + self.rng.uniform(-size, size), 6), round(y + self.rng.uniform(-size, size), 6)) for _ in range(8)]
        else:
            ordinates = [(self.rng.choice(_ORDINATES), self.rng.choice(_ORDINATES)) for _ in range(8)]
        return self._shape(kind, ordinates)

    def _shape(self, kind: str, places: list[tuple[float, float]]) -> Any:
        """A geometry of that type with positions among those."""
        third = [5] if self.rng.random() < 0.1 else []

        def some(least: int) -> list[list[float]]:
            return [] if self.rng.random() < 0.03 else [[*self.rng.choice(places), *third] for _ in range(self.rng.randint(least, 6))]

        def ring() -> list[list[float]]:
            if self.rng.random() < 0.5:
                west, south = self.rng.choice(places)
                east, north = self.rng.choice(places)
                line = [[west, south, *third], [east, south, *third], [east, north, *third], [west, north, *third]]
            else:
                line = some(3)
            return line + line[:1]

        if kind == "Envelope":
            (x, y), (x2, y2) = self.rng.choice(places), self.rng.choice(places)
            return {"type": kind, "xMin": x, "yMin": min(y, y2), "xMax": x2, "yMax": max(y, y2)}
        if kind == "WKT":
            return {"type": kind, "text": self.rng.choice(_WKT)}
        if kind == "WKB":
            return {"type": kind, "data": "AQEAAAAAAAAAAADwPwAAAAAAAABA"}
        if kind == "GeometryCollection":
            members = [self._shape(self.rng.choice(_GEOMETRIES), places) for _ in range(self.rng.randint(0, 3))]
            return {"type": kind, "geometries": members}
        made: dict[str, Callable[[], Any]] = {
            "Point": lambda: [*self.rng.choice(places), *third], "MultiPoint": lambda: some(1), "LineString": lambda: some(2),
            "MultiLineString": lambda: [some(2) for _ in range(self.rng.randint(0, 3))],
            "Polygon": lambda: [ring() for _ in range(self.rng.randint(1, 2))],
            "MultiPolygon": lambda: [[ring()] for _ in range(self.rng.randint(0, 3))],
        }  # fmt: skip
        return {"type": kind, "coordinates": made[kind]()}

    def _Graphic(self, name: str) -> Any:
        graphic: dict[str, Any] = {"geometry": self._Geometry("")}
        if self.rng.random() < 0.3:
            graphic["id"] = self._FeatureId("")
        if self.rng.random() < 0.6:
            graphic["attributes"] = {key: self.json(2) for key in self.rng.sample(["name", "size", "isOpen", "at"], 2)}
        if self.rng.random() < 0.3:
            graphic["symbol"] = self.value({"$ref": "#/components/schemas/Symbol"}, "symbol", 3)
        if self.rng.random() < 0.2:
            graphic[self.rng.choice(["isVisible", "isSelected"])] = self.rng.random() < 0.5
        return graphic

    def _Command(self, name: str) -> Any:
        method, params = self.request(self.commands)
        return {"method": method, "params": params}

    def _TaskOptions(self, name: str) -> Any:
        return {"key": self.rng.choice("ab")} if self.rng.random() < 0.5 else {}

    def _Meta(self, name: str) -> Any:
        return self.rng.choice([{}, {"origin": "me"}, {"progressToken": "t"}, {"ifRevision": self.rng.randint(0, 2000)}, {"step": "Named"}])

    def inline(self) -> Any:
        """GeoJSON for `source/openInline`."""
        features = [
            {"type": "Feature", "id": id, "geometry": {"type": "Point", "coordinates": [id, 0]},
             "properties": {"name": f"g{id}", "size": id, "isOpen": id % 2 == 0}}
            for id in range(1, self.rng.randint(2, 9))
        ]  # fmt: skip
        return json.loads(json.dumps({"type": "FeatureCollection", "features": features}))
