"""Requests made from the definition: valid ones, nearly valid ones, and damaged ones."""

from __future__ import annotations

import json
import random
from typing import Any, Iterable

# Members that hold the id of an object, with its collection in the state tree.
_COLLECTIONS = {
    "map": "maps", "scene": "scenes", "view": "views", "overlay": "overlays", "layer": "layers", "group": "layers",
    "binding": "bindings", "link": "links", "viewModel": "viewModels", "locationSource": "locationSources",
}  # fmt: skip
_ANY = ("owner", "node", "scope")
_TEXTS = ["", "a", "title", "žluťoučký 🐎", "e\u0301", "\u0000", "a\nb", "'", '"', "%", "😀", "x" * 300, "1.5", "null"]
_NUMBERS = [0, 1, -1, 2, 0.5, -0.0, 1e-15, -1e-15, 90, 180, 359.9999999999999, 360, -400.5, 1e6, 1e9, 1e15, 1e16, 1e300, 1e-300, 2**53 + 1, 2**63]
_EXPRESSIONS = [
    "name", "size > 3", "name LIKE 'g%'", "pop_est > 1000000 AND continent = 'Europe'", "size IS NULL OR NOT isOpen", "1 = 1",
    "name IN ('a', 'b')", "size + 1", "coalesce(size, 0) * 2", "upper(name)", "size BETWEEN 1 AND 4", "right * 10", "((", "nobody = 1",
]  # fmt: skip
_REFERENCES = ["EPSG:4326", "EPSG:3857", "EPSG:32633", "EPSG:2154", "EPSG:999999", "x"]
_FILES = ["naturalearth_110m.gpkg", "cities.shp", "cities.fgb", "jacksboro_dem.tif", "types.gpkg", "none.gpkg", "../x", "fifo", "a.json"]
_NAMES = ["count", "name", "items", "right", "wrong", "total", "status", "theme", "locale", "target", "table"]
_PATHS = ["/maps/*/title", "/views/*/viewpoint", "/overlays/*", "/layers/*/isVisible", "/clock", "", "/viewModels/*/count", "/x", "nothing"]


class Generator:
    """Makes requests for the objects that are known to exist."""

    def __init__(self, definition: dict[str, Any], rng: random.Random) -> None:
        self.rng = rng
        self.schemas = definition["components"]["schemas"]
        self.methods = {method["name"]: method for method in definition["methods"]}
        for left_out in ("initialize", "shutdown", "rpc.discover", "session/describe", "state/unobserve"):
            del self.methods[left_out]
        self.commands = [name for name, method in self.methods.items() if method["x-shape"] == "command" and not name.startswith("edit/")]
        self.objects: dict[str, list[str]] = {}
        self._made = 0

    # Requests

    def request(self, methods: Iterable[str]) -> tuple[str, Any]:
        """A method among those, with params that are valid or nearly so."""
        name = self.rng.choice(list(methods))
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
        """Of map and scene, layer and overlay most methods want one."""
        names = [one["name"] for one in method["params"]]
        for pair in (("map", "scene"), ("layer", "overlay")):
            if all(name in names for name in pair) and self.rng.random() < 0.9:
                kept = self.rng.choice(pair)
                for name in pair:
                    params.pop(name, None)
                params[kept] = self.id(kept)

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
        return self.rng.choice(_REFERENCES[:2] if self.rng.random() < 0.8 else _REFERENCES)

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
        x, y = round(self.rng.uniform(-180, 180), 6), round(self.rng.uniform(-90, 90), 6)
        point = {"type": "Point", "coordinates": [x, y]}
        if name in ("center", "points", "locations") or self.rng.random() < 0.5:
            return point
        return self.rng.choice([
            {"type": "LineString", "coordinates": [[x, y], [y, x / 2], [0, 0]]},
            {"type": "Polygon", "coordinates": [[[0, 0], [abs(y) + 1, 0], [0, abs(y) + 1], [0, 0]]]},
            {"type": "MultiPoint", "coordinates": [[x, y, 5], [0, 0, 6]]},
            {"type": "GeometryCollection", "geometries": [point, point]},
            {"type": "WKT", "text": f"LINESTRING M ({x} {y} 3, 0 0 4)"}, {"type": "WKT", "text": "POINT EMPTY"},
            {"type": "Envelope", "xMin": x, "yMin": -abs(y), "xMax": x / 2, "yMax": abs(y)},
            {"type": "WKB", "data": "AQEAAAAAAAAAAADwPwAAAAAAAABA"}, {"type": "Point", "coordinates": [1e300, 0]},
        ])  # fmt: skip

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
