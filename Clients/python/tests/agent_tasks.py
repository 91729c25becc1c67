"""What a map user asks an agent, as the calls that a good agent makes: 42 tasks with their answers, and what each may cost.

The numbers of Natural Earth are those of the file itself, which SQLite reads too; distances are those of the WGS 84 ellipsoid.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping

from pixels import pixels

Results = list[Any]
Arguments = Mapping[str, Any] | Callable[[Results], Mapping[str, Any]]


@dataclass(frozen=True)
class Task:
    """`bytes` limits the text of all answers together: what the agent reads. `{folder}` in a path is an empty folder."""

    question: str
    calls: list[tuple[str, Arguments]]
    answer: Callable[[Results], Any]
    expected: Any
    bytes: int


def names(at: int = -1, field: str = "name") -> Callable[[Results], Any]:
    """The names in the rows of an answer."""
    return lambda results: [row[field] for row in results[at]["rows"]]


def member(name: str, at: int = -1) -> Callable[[Results], Any]:
    return lambda results: results[at][name]


def rounded(value: Any, digits: int = 2) -> Any:
    if isinstance(value, (list, tuple)):
        return [rounded(each, digits) for each in value]
    return round(value, digits) if isinstance(value, float) else value


WORLD: tuple[str, Arguments] = ("open_file", {"path": "naturalearth_110m.gpkg"})
BERN = {"x": 7.45, "y": 46.95}
SITES = {
    "type": "FeatureCollection",
    "features": [
        {"type": "Feature", "properties": {"site": site}, "geometry": {"type": "Point", "coordinates": place}}
        for site, place in (("A", [2.3, 48.8]), ("B", [139.7, 35.7]), ("C", [-30.0, 0.0]))
    ],
}

TASKS = [
    # Looking at data
    Task(
        "Which layers are in this file, and how many features has each?",
        [WORLD],
        lambda results: {layer["layer"]: layer["count"] for layer in results[0]["layers"]}, {"cities": 243, "countries": 177}, 900,
    ),
    Task(
        "What do we know of each country?",
        [WORLD, ("describe_layer", {"layer": "countries", "sample": 1})],
        lambda results: results[1]["fields"],
        {"pop_est": "double", "continent": "string", "name": "string", "iso_a3": "string", "gdp_md_est": "integer"}, 1400,
    ),
    Task(
        "Is the shapefile of cities in degrees?",
        [("open_file", {"path": "cities.shp"})],
        lambda results: results[0]["layers"][0]["spatial_reference"], "EPSG:4326", 600,
    ),
    Task(
        "What is open on the map now?",
        [WORLD, ("describe_model", {})],
        lambda results: [results[1]["maps"][0]["layers"], results[1]["document"]], [["cities", "countries"], {"modified": True}], 1800,
    ),
    # Queries
    Task(
        "How many countries are in Africa?",
        [WORLD, ("query_features", {"layer": "countries", "where": "continent = 'Africa'", "limit": 0})],
        member("count"), 51, 1100,
    ),
    Task(
        "Which five countries have the most people?",
        [WORLD, ("query_features", {"layer": "countries", "order_by": ["pop_est desc"], "fields": ["name"], "limit": 5})],
        names(), ["China", "India", "United States of America", "Indonesia", "Pakistan"], 1300,
    ),
    Task(
        "How many countries have fewer than 100,000 people?",
        [WORLD, ("query_features", {"layer": "countries", "where": "pop_est < 1e5", "fields": ["name"]})],
        member("count"), 4, 1200,
    ),
    Task(
        "Which cities begin with San?",
        [WORLD, ("query_features", {"layer": "cities", "where": "name LIKE 'San%'", "order_by": ["name"]})],
        names(), ["San Francisco", "San José", "San Marino", "San Salvador", "Sanaa", "Santiago", "Santo Domingo"], 1300,
    ),
    Task(
        "Find sao paulo, however it is written.",
        [WORLD, ("query_features", {"layer": "cities", "where": "CASEI(ACCENTI(name)) = CASEI('sao paulo')"})],
        names(), ["São Paulo"], 1000,
    ),
    Task(
        "Which cities are between 5 and 11 degrees east and 45 and 48 degrees north?",
        [WORLD, ("query_features", {"layer": "cities", "bbox": [5, 45, 11, 48]})],
        lambda results: sorted(names()(results)), ["Bern", "Geneva", "Vaduz"], 1000,
    ),
    Task(
        "Which cities are near the date line, within 10 degrees on both sides?",
        [WORLD, ("query_features", {"layer": "cities", "bbox": [170, -50, -170, 50]})],
        lambda results: sorted(names()(results)), ["Apia", "Auckland", "Funafuti", "Majuro", "Nuku'alofa", "Suva", "Tarawa", "Wellington"],
        1200,
    ),
    Task(
        "Which three cities are nearest to Bern's old town, and how far are they in km?",
        [WORLD, ("query_features", {"layer": "cities", "near": BERN, "limit": 3})],
        lambda results: [(row["name"], round(row["distance"] / 1000)) for row in results[1]["rows"]],
        [("Bern", 4), ("Geneva", 130), ("Vaduz", 158)], 1300,
    ),
    Task(
        "How many cities are within 500 km of Paris?",
        [WORLD, ("query_features", {"layer": "cities", "near": {"x": 2.35, "y": 48.86, "max_distance": 500_000}, "limit": 0})],
        member("count"), 8, 1100,
    ),
    Task(
        "Which countries come after the first twenty, by name?",
        [WORLD, ("query_features", {"layer": "countries", "order_by": ["name"], "fields": ["name"], "offset": 20, "limit": 3})],
        names(), ["Brazil", "Brunei", "Bulgaria"], 1300,
    ),
    Task(
        "What is the rough outline of Switzerland?",
        [
            WORLD,
            ("query_features", {"layer": "countries", "where": "name = 'Switzerland'", "fields": [], "geometry": True, "simplify": 0.3}),
        ],
        lambda results: len(results[1]["rows"][0]["geometry"]["coordinates"][0][0]), 9, 1500,
    ),
    # Statistics
    Task(
        "On which continent do most people live?",
        [WORLD, (
            "statistics",
            {"layer": "countries", "statistics": ["sum(pop_est)"], "group_by": ["continent"], "order_by": ["sum_pop_est desc"], "limit": 1},
        )],
        lambda results: results[1]["rows"], [{"continent": "Asia", "sum_pop_est": 4550277153.0}], 1200,
    ),
    Task(
        "Which continents are there, and how many countries has each?",
        [WORLD, ("statistics", {"layer": "countries", "group_by": ["continent"]})],
        lambda results: {row["continent"]: row["count"] for row in results[1]["rows"]},
        {
            "Africa": 51, "Asia": 47, "Europe": 39, "North America": 18, "South America": 13, "Oceania": 7, "Antarctica": 1,
            "Seven seas (open ocean)": 1,
        },
        1200,
    ),
    Task(
        "What is the median of the economies of Europe, in millions of dollars?",
        [WORLD, ("statistics", {"layer": "countries", "statistics": ["median(gdp_md_est)"], "where": "continent = 'Europe'"})],
        lambda results: results[1]["rows"][0]["median_gdp_md_est"], 209852.0, 1000,
    ),
    Task(
        "How many economies are above a million million dollars?",
        [WORLD, ("statistics", {"layer": "countries", "statistics": ["count as large"], "where": "gdp_md_est > 1000000"})],
        lambda results: results[1]["rows"][0]["large"], 17, 900,
    ),
    Task(
        "Who earns most per head, of countries with more than a million people?",
        [WORLD, ("call", {
            "method": "feature/query",
            "params": {
                "layer": "countries", "whereClause": "pop_est > 1e6",
                "computedFields": [{"name": "each", "expression": "gdp_md_est * 1e6 / pop_est"}],
                "orderBy": [{"field": "each", "order": "descending"}], "limit": 2, "properties": ["name", "each"], "returnGeometry": False,
            },
        })],
        lambda results: [feature["properties"]["name"] for feature in results[1]["result"]["features"]], ["Switzerland", "Ireland"], 1300,
    ),
    # Places together
    Task(
        "Which country has most of these cities?",
        [WORLD, ("join", {"layer": "countries", "with_layer": "cities", "relationship": "contains", "limit": 1})],
        lambda results: [(row["name"], row["joined"]) for row in results[1]["rows"]], [("United States of America", 9)], 1100,
    ),
    Task(
        "In which country is Bern?",
        [
            WORLD,
            ("join", {"layer": "cities", "with_layer": "countries", "relationship": "within", "output": "pairs", "where": "name = 'Bern'"}),
        ],
        lambda results: [row["with"]["name"] for row in results[1]["rows"]], ["Switzerland"], 1000,
    ),
    Task(
        "Which countries border on Germany?",
        [WORLD, ("join", {
            "layer": "countries", "with_layer": "countries", "output": "pairs", "where": "name = 'Germany'",
            "with_where": "name <> 'Germany'",
        })],
        lambda results: sorted(row["with"]["name"] for row in results[1]["rows"]),
        ["Austria", "Belgium", "Czechia", "Denmark", "France", "Luxembourg", "Netherlands", "Poland", "Switzerland"], 2000,
    ),
    Task(
        "Which city is the nearest to Vienna, and how many km away?",
        [WORLD, ("join", {
            "layer": "cities", "with_layer": "cities", "relationship": "nearest", "output": "pairs", "where": "name = 'Vienna'",
            "with_where": "name <> 'Vienna'",
        })],
        lambda results: [(row["with"]["name"], round(row["distance"] / 1000)) for row in results[1]["rows"]], [("Bratislava", 56)], 1000,
    ),
    Task(
        "How many countries are within 300 km of Singapore, and how many people live there?",
        [WORLD, ("join", {
            "layer": "cities", "with_layer": "countries", "relationship": "withinDistance", "max_distance": 300_000,
            "where": "name = 'Singapore'", "statistics": ["sum(pop_est) as people"],
        })],
        lambda results: [(row["joined"], row["people"]) for row in results[1]["rows"]], [(2, 270625568.0 + 31949777.0)], 1000,
    ),
    Task(
        "To which countries do our sites belong?",
        [
            WORLD, ("add_features", {"name": "sites", "geojson": SITES}),
            ("join", {"layer": "sites", "with_layer": "countries", "relationship": "within", "output": "pairs", "fields": ["site"]}),
        ],
        lambda results: {row["site"]: row["with"]["name"] for row in results[2]["rows"]}, {"A": "France", "B": "Japan"}, 1700,
    ),
    # New layers
    Task(
        "Which cities are within 200 km of Bern? Show the area.",
        [
            WORLD, ("buffer", {"layer": "cities", "distance": 200_000, "where": "name = 'Bern'", "name": "around"}),
            ("join", {"layer": "cities", "with_layer": "around", "relationship": "within", "output": "pairs", "with_fields": []}),
        ],
        lambda results: sorted(row["name"] for row in results[2]["rows"]), ["Bern", "Geneva", "Vaduz"], 1500,
    ),
    Task(
        "Cut the countries to the box from 0 to 20 east and 40 to 55 north. How many are left?",
        [WORLD, ("clip", {"layer": "countries", "bbox": [0, 40, 20, 55], "name": "middle"})],
        lambda results: [results[1]["count"], results[1]["extent"]], [22, [0.0, 40.0, 20.0, 55.0]], 1300,
    ),
    Task(
        "Make one area of each continent, with its people. How many people has Oceania?",
        [
            WORLD,
            ("dissolve", {"layer": "countries", "group_by": ["continent"], "statistics": ["sum(pop_est) as people"], "name": "continents"}),
            ("query_features", {"layer": "continents", "where": "continent = 'Oceania'"}),
        ],
        lambda results: [results[1]["count"], results[2]["rows"][0]["people"]], [8, 41204874.0], 1700,
    ),
    # Measuring
    Task(
        "How far is it from Paris to New York, in km?",
        [("describe", {"name": "geometry/geodeticDistance"}), ("call", {
            "method": "geometry/geodeticDistance",
            "params": {
                "geometry": {"type": "Point", "coordinates": [2.35, 48.86]}, "other": {"type": "Point", "coordinates": [-74.0, 40.71]},
                "spatialReference": "EPSG:4326",
            },
        })],
        lambda results: round(results[1]["result"]["values"][0] / 1000), 5852, 3200,
    ),
    Task(
        "How many thousand square km has Switzerland on this map?",
        [WORLD, ("query_features", {"layer": "countries", "where": "name = 'Switzerland'", "fields": [], "geometry": True}), (
            "call",
            lambda results: {
                "method": "geometry/geodeticArea",
                "params": {"geometry": results[1]["rows"][0]["geometry"], "spatialReference": "EPSG:4326"},
            },
        )],
        lambda results: round(results[2]["result"]["values"][0] / 1e9, 1), 46.2, 2200,
    ),
    Task(
        "How high is the ground at 84.25 degrees west, 36.6 degrees north, by the raster of Jacksboro?",
        [("call", {"method": "scene/create", "params": {"id": "hills", "elevationSources": ["jacksboro_dem.tif"]}}), (
            "call",
            {"method": "scene/elevation", "params": {"scene": "hills", "points": [{"type": "Point", "coordinates": [-84.25, 36.6]}]}},
        )],
        lambda results: results[1]["result"]["elevations"][0]["elevation"], 513.0, 1000,
    ),
    # Showing
    Task(
        "Show me Chad.",
        [WORLD, ("set_viewpoint", {"layer": "countries", "where": "name = 'Chad'"})],
        lambda results: rounded(results[1]["viewpoint"]["center"]["coordinates"], 1), [18.7, 15.6], 1100,
    ),
    Task(
        "Center the map on Paris at 1:250,000.",
        [WORLD, ("set_viewpoint", {"center": [2.35, 48.86], "scale": 250_000})],
        lambda results: results[1]["viewpoint"]["targetScale"], 250_000, 1000,
    ),
    Task(
        "Color the countries by continent and look: is Africa, in the middle of the map, the color of its legend?",
        [
            WORLD, ("set_renderer", {"layer": "countries", "kind": "uniqueValue", "field": "continent"}),
            ("set_viewpoint", {"layer": "countries", "where": "name = 'Chad'", "picture": True}),
        ],
        lambda results: next(
            each["label"] for each in results[1]["legend"] if pixels(results[2]["pictures"][0]).count(each["color"]) > 200_000
        ),
        "Africa", 2300,
    ),
    Task(
        "What does the map look like now, and how many cities does one see?",
        [WORLD, ("set_viewpoint", {"bbox": [-10, 36, 20, 60]}), ("set_viewpoint", {"picture": True})],
        lambda results: [results[2]["features"]["cities"], results[2]["picture"]["width"], len(results[2]["pictures"])], [48, 800, 1], 1700,
    ),
    Task(
        "Select the countries of South America. How many are selected?",
        [
            WORLD, ("select_features", {"layer": "countries", "where": "continent = 'South America'"}),
            ("query_features", {"layer": "countries", "selected": True, "limit": 0}),
        ],
        lambda results: [results[1]["selected"], results[2]["count"]], [13, 13], 1200,
    ),
    Task(
        "Draw only Europe, then all again.",
        [
            WORLD, ("update_layer", {"layer": "countries", "filter": "continent = 'Europe'"}), ("undo", {}),
            ("describe_layer", {"layer": "countries", "sample": 0}),
        ],
        lambda results: [results[1]["matching"], results[2]["undone"], results[3]["matching"]], [39, ["layer/update"], 177], 1500,
    ),
    Task(
        "Colour the countries by people in four classes of equal number.",
        [WORLD, ("set_renderer", {"layer": "countries", "kind": "classBreaks", "field": "pop_est", "classes": 4})],
        lambda results: [entry["count"] for entry in results[1]["legend"]], [45, 44, 44, 44], 1200,
    ),
    Task(
        "Label the cities by their names, and make the countries half transparent.",
        [
            WORLD, ("update_layer", {"layer": "cities", "labels": "name"}), ("update_layer", {"layer": "countries", "opacity": 0.5}),
            ("call", {"method": "state/get", "params": {"path": "/layers/*/labelsEnabled"}}),
        ],
        lambda results: [value["value"] for value in results[3]["result"]["values"]], [True, False], 1200,
    ),
    # Files
    Task(
        "Write the countries of Asia to a GeoJSON file.",
        [WORLD, ("export", {"layer": "countries", "path": "{folder}/asia.geojson", "where": "continent = 'Asia'", "fields": ["name"]})],
        lambda results: [results[1]["count"], len(json.loads(Path(results[1]["path"]).read_text())["features"])], [47, 47], 1000,
    ),
    Task(
        "Save the map with its colours, and open it again.",
        [
            WORLD, ("set_renderer", {"layer": "countries", "kind": "uniqueValue", "field": "continent"}),
            ("save_document", {"path": "{folder}/world.json"}), ("open_document", {"path": "{folder}/world.json"}),
            ("query_features", {"layer": "countries", "where": "name = 'Fiji'", "fields": ["name"]}),
            ("call", {"method": "state/get", "params": {"path": "/layers/countries/renderer/type"}}),
        ],
        lambda results: [names(4)(results), results[5]["result"]["values"][0]["value"]], [["Fiji"], "uniqueValue"], 2200,
    ),
]
