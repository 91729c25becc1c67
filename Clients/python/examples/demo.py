#!/usr/bin/env python3
"""The demonstration: one session on real data, printed line by line, its claims checked at the end.

Each line of the transcript has the time, what was sent, the answer and its duration. Exits with 1 when a claim does not
hold. Needs only the standard library and the server: `make demo`, or `PYTHONPATH=Clients/python/src
python3 Clients/python/examples/demo.py`. With `--pictures DIR` its picture stays there.
"""

from __future__ import annotations

import array
import asyncio
import base64
import contextlib
import math
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import geomodel
from geomodel.errors import LibraryMissingError, SupersededError

from demo_support import (
    Transcript, box, driving, failing, flag, kind, metres, near, place, point, position, revision, shorten, where, within,
    scale, write_geojson,
)

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures"  # Their provenance is in README.md there.
BIG_FILE_BYTES = 100_000_000
CANCEL_BOUND = 0.050  # What the protocol promises, in seconds, from a cancel to its answer.
NAIROBI, REYKJAVIK = (36.82, -1.29), (-21.94, 64.15)
EUROPE: geomodel.types.Envelope = {"xMin": -10, "yMin": 36, "xMax": 20, "yMax": 60}
JACKSBORO = (-84.25, 36.6)
CHAD = (18.7, 15.4)
CONTINENTS = {
    "Africa": "#F6D9A8", "Asia": "#F2C5B5", "Europe": "#CFE0B8", "North America": "#F3E6A4", "South America": "#D9CBE6",
    "Oceania": "#F4CFDD", "Antarctica": "#F7F7F7",
}


async def show_the_world(server: geomodel.Server, say: Transcript) -> None:
    say.title("The world on a map")
    world = await say.step(
        "source/open  naturalearth_110m.gpkg",
        server.source.open(id="world", path=DATA / "naturalearth_110m.gpkg"),
        lambda source: ", ".join("{name}: {featureCount} {geometryType}".format(**each) for each in source["layers"]),
    )
    await say.step(
        "map/create  World", server.map.create(id="map", title="World"), lambda made: made["spatialReference"]
    )
    for name in ("countries", "cities"):
        await say.step(
            f"layer/add  {name}", server.layer.add(map="map", source="world", source_layer=name, id=name), revision
        )
        loaded = await say.step(
            f"layer/load  {name}",
            server.layer.load(layer=name),
            lambda result: f"{result['featureCount']} features, {box(result['extent'])}",
        )
        described = next(layer for layer in world["layers"] if layer["name"] == name)
        say.claim(loaded["featureCount"] == described["featureCount"], f"all {described['featureCount']} {name} are loaded")
    await say.step(
        "view/create  1024 x 768 over the map",
        server.view.create(id="view", map="map", width=1024, height=768),
        scale,
    )


async def draw_the_world(server: geomodel.Server, say: Transcript, folder: Path) -> None:
    say.title("The world as a picture")
    await server.map.create(id="atlas", spatial_reference="EPSG:8857", background_color="#DCE9F2")
    await server.layer.add(map="atlas", source="world", source_layer="countries", id="land")
    await server.layer.load(layer="land")
    values: Any = [
        {"values": [name], "symbol": {"type": "simpleFill", "color": color, "outline": {"color": "#8C8577", "width": 0.5}}}
        for name, color in CONTINENTS.items()
    ]
    text: Any = {"type": "text", "size": 9, "color": "#333333", "haloColor": "#FFFFFF", "haloWidth": 1.5}
    await say.step(
        "layer/update  a colour for each continent",
        server.layer.update(
            layer="land", renderer={"type": "uniqueValue", "fields": ["continent"], "uniqueValues": values}, labels_enabled=True,
            labels=[{"expression": "upper(name)", "symbol": text, "whereClause": "pop_est > 100000000"}],
        ),
        revision,
    )
    await server.view.create(id="page", map="atlas", width=720, height=360, viewpoint=place((0, 5), 200e6))
    middle = await server.view.to_screen(view="page", locations=[point(CHAD)])
    x, y = (int(middle["points"][0][axis]) for axis in ("x", "y"))
    try:
        drawn = await say.step(
            "view/render  world.png",
            server.view.render(
                view="page", path=folder / "world.png", replace=True, pick=True,
                layout={"graticule": {"interval": 30, "color": "#9DB4C4"}, "attribution": "Natural Earth"},
            ),
            lambda result: "{width} x {height}, {bytes:,} bytes, {labelCount} labels".format(**result["picture"]),
        )
    except LibraryMissingError as error:
        return say.line("view/render  world.png", f"not here: {error.message}")
    picture = drawn["picture"]
    numbers = array.array("I", base64.b64decode(picture["pick"]["pixels"]))
    picked = picture["pick"]["items"][numbers[y * picture["width"] + x] - 1]
    country = (await server.feature.query(layer="land", ids=[picked["id"]]))["features"][0]["properties"]["name"]
    with (folder / "world.png").open("rb") as file:
        say.claim(file.read(8) == b"\x89PNG\r\n\x1a\n", "the picture is a PNG of 720 x 360 pixels")
    say.claim((picture["width"], picture["height"]) == (720, 360) and picture["labelCount"] >= 10, "the names of large countries are in it")
    say.claim(country == "Chad", f"and its pixel {x}, {y} is {country}")


async def fly(server: geomodel.Server, say: Transcript) -> None:
    say.title("A flight, interrupted by another")
    await say.step(
        "view/setViewpoint  0, 20",
        server.view.set_viewpoint(view="view", viewpoint=place((0, 20), 100e6)),
        scale,
    )

    async with server.observe_viewpoint("view") as seen:
        first = asyncio.create_task(
            say.step(
                "view/animateViewpoint  to Nairobi, 4 s",
                server.view.animate_viewpoint(view="view", viewpoint=place(NAIROBI, 1e6), duration=4),
                lambda result: f"arrived: {flag(result['arrived'])}",
            )
        )
        # The flight is observed and interrupted before it ends.
        await asyncio.sleep(1.2)
        midway = await say.step(
            "view/getViewpoint", server.view.get_viewpoint(view="view"), lambda now: where(now["viewpoint"])
        )
        second = await say.step(
            "view/animateViewpoint  to Reykjavik, 1.5 s",
            server.view.animate_viewpoint(view="view", viewpoint=place(REYKJAVIK, 1e6), duration=1.5),
            lambda result: f"arrived: {flag(result['arrived'])}",
        )
        interrupted = await first
        changes = seen.take_all()
    say.line("view/viewpointChanged", f"{len(changes)} times while flying")

    end = await say.step(
        "view/toLocation  the middle of the screen",
        server.view.to_location(view="view", points=[{"x": 512, "y": 384}], spatial_reference="EPSG:4326"),
        lambda result: position(result["locations"][0]["coordinates"]),
    )
    say.claim(interrupted["arrived"] is False, "the first flight says that it did not arrive")
    say.claim(second["arrived"] is True, "the second says that it did")
    halfway: Any = midway["viewpoint"]
    say.claim(1e6 < halfway["targetScale"] < 100e6, "in between the view was on its way")
    say.claim(len(changes) > 30, "subscribers were notified on the way")
    say.claim(near(end["locations"][0]["coordinates"], REYKJAVIK), "Reykjavik is in the middle of the screen")


async def add_cities(server: geomodel.Server, say: Transcript) -> None:
    say.title("The cities of a box, as graphics")
    found = await say.step(
        f"feature/query  cities in {box(EUROPE)}",
        server.feature.query(layer="cities", envelope=EUROPE, properties=["name"]),
        lambda result: f"{len(result['features'])}: " + shorten([f["properties"]["name"] for f in result["features"]]),
    )
    await say.step(
        "overlay/create  marks", server.overlay.create(id="marks", view="view", name="Cities of Europe"), revision
    )
    added = await say.step(
        "overlay/addGraphics  what came back",
        server.options(origin="demo").overlay.add_graphics(overlay="marks", graphics=found["features"]),
        lambda result: f"{result['count']} graphics",
    )
    overlay = await say.step(
        "overlay/get", server.overlay.get(overlay="marks"), lambda got: f"{got['graphicCount']}, {box(got['extent'])}"
    )

    # The same query, answered here from all of them.
    everything = await server.feature.query(layer="cities", limit=1000)
    inside = {f["id"] for f in everything["features"] if within(f["geometry"]["coordinates"], EUROPE)}
    say.claim({f["id"] for f in found["features"]} == inside, f"the box holds just the {len(inside)} cities that are in it")
    say.claim(added["count"] == overlay["graphicCount"] == len(inside), "each of them is a graphic")


async def drive(server: geomodel.Server, say: Transcript) -> None:
    say.title("A drive that the view follows")
    road = {"type": "LineString", "coordinates": [[-21.94, 64.15], [-21.90, 64.14], [-21.80, 64.13]]}
    await say.step(
        "location/createSimulated  100 m/s, every 0.1 s",
        server.location.create_simulated(id="car", line=road, velocity=100, interval=0.1),
        lambda source: source["status"]["type"],
    )
    await say.step(
        "view/setLocationDisplay  recenter",
        server.view.set_location_display(
            view="view", source="car", auto_pan_mode="recenter", wander_extent_factor=0, initial_zoom_scale=25_000
        ),
        lambda result: result["locationDisplay"]["autoPanMode"],
    )
    locations: list[dict[str, Any]] = []
    async with server.observe_location("car") as notifications:
        await say.step(
            "location/start", server.location.start(location_source="car"), lambda result: result["status"]["type"]
        )
        while len(locations) < 21:
            change = await notifications.get(timeout=5)
            if change["method"] == "location/changed":
                locations.append(change["location"])
                if len(locations) % 10 == 1:
                    say.line("location/changed", driving(change["location"]))
        await say.step(
            "location/stop", server.location.stop(location_source="car"), lambda result: result["status"]["type"]
        )
    last = (await server.location.get(location_source="car"))["location"]["position"]["coordinates"]
    screen = await say.step(
        "view/toScreen  the car",
        server.view.to_screen(view="view", locations=[{"type": "Point", "coordinates": last}]),
        lambda result: "x {x:.1f}, y {y:.1f}".format(**result["points"][0]),
    )
    car = screen["points"][0]
    gone = sum(metres(a["position"]["coordinates"], b["position"]["coordinates"]) for a, b in zip(locations, locations[1:]))
    say.claim(195 < gone < 205, f"in 20 steps of 0.1 s at 100 m/s the car went 200 m ({gone:.1f})")
    say.claim(math.hypot(car["x"] - 512, car["y"] - 384) < 1, "the view kept it in its middle")


async def ask_heights(server: geomodel.Server, say: Transcript) -> None:
    say.title("Heights: the newer question wins")
    await say.step(
        "scene/create  jacksboro_dem.tif",
        server.scene.create(id="scene", elevation_sources=[DATA / "jacksboro_dem.tif"]),
        lambda scene: box(scene["baseSurface"]["elevationSources"][0]["extent"]),
    )
    asking = server.options(scope="scene", key="height")
    newer = asking.options(task="newer")
    grid = [point((-84.4 + (n % 400) * 0.0007, 36.5 + (n // 400) * 0.0008)) for n in range(100_000)]
    began = time.perf_counter()
    # Both are written before either is answered, in this order.
    many = asyncio.create_task(failing(asking.scene.elevation(scene="scene", points=grid)))
    await asyncio.sleep(0)
    one = await say.step(
        "scene/elevation  1 point, same scope and key",
        newer.scene.elevation(scene="scene", points=[point(JACKSBORO)], interpolation="nearest"),
        lambda result: "{elevation:g} m".format(**result["elevations"][0]),
    )
    error, ended = await many
    by = error.data.get("by") if isinstance(error, SupersededError) else None
    say.line("scene/elevation  100,000 points, first request", f"{kind(error)} by task {by}", ended - began)
    other = await say.step(
        "scene/elevation  1 point in the Atlantic",
        server.scene.elevation(scene="scene", points=[point((-40, 30))]),
        lambda result: result["elevations"][0]["type"],
    )
    say.claim(by == "newer", "the older question was superseded by the newer")
    say.claim(one["elevations"][0].get("elevation") == 513, "the height at -84.25, 36.6 is 513 m")
    say.claim(other["elevations"] == [{"type": "outside"}], "no height is made up where there is none")


async def cancel_a_load(server: geomodel.Server, say: Transcript) -> None:
    say.title("A large file, cancelled while it is read")
    with tempfile.TemporaryDirectory(prefix="geomodel-demo-") as folder:
        path = Path(folder) / "large.geojson"
        began = time.perf_counter()
        await asyncio.to_thread(write_geojson, path, BIG_FILE_BYTES)
        size = path.stat().st_size
        say.line("(writing a file)  large.geojson", f"{size / 1e6:,.1f} MB", time.perf_counter() - began)
        await say.step(
            "source/open  large.geojson", server.source.open(id="large", path=path), lambda source: source["driver"]
        )
        await say.step(
            "layer/add  places", server.layer.add(map="map", source="large", id="places"), revision
        )

        reports: list[int] = []
        progressing = asyncio.Event()

        def progress(report: dict[str, Any]) -> None:
            reports.append(report.get("percentage") or 0)
            if reports[-1] >= 5:
                progressing.set()

        began = time.perf_counter()
        load = asyncio.create_task(failing(server.options(task="big", progress=progress).layer.load(layer="places")))
        await asyncio.wait({load, asyncio.create_task(progressing.wait())}, return_when=asyncio.FIRST_COMPLETED)
        say.line("layer/load  places", f"on the way: {max(reports, default=0)} %", time.perf_counter() - began)

        began = time.perf_counter()
        await server.task.cancel(task="big")
        error, ended = await load
        answered = ended - began
        say.line("task/cancel  the load", f"the load was answered: {kind(error)}", answered)
        while (status := await server.session.status())["tasks"]["working"] and time.perf_counter() - began < 10:
            # There is no notification when cancelled work has stopped: it is polled.
            await asyncio.sleep(0.001)
        stopped = time.perf_counter() - began
        say.line("session/status", f"{status['tasks']['working']} tasks at work", stopped)
        layer = await say.step(
            "layer/get  places", server.layer.get(layer="places"), lambda got: got["loadStatus"]["type"]
        )
        await say.step("layer/remove  places", server.layer.remove(layer="places"), revision)
        await say.step("source/close  large.geojson", server.source.close(source="large"), revision)
    say.claim(size >= BIG_FILE_BYTES, "the file had 100 MB")
    say.claim(isinstance(error, geomodel.GeoModelError) and error.kind == "cancelled", "the load was cancelled")
    say.claim(answered < CANCEL_BOUND, f"that was answered within {CANCEL_BOUND * 1000:.0f} ms")
    say.claim(status["tasks"]["working"] == 0, "and the work really stopped")
    say.claim(layer["loadStatus"] == {"type": "notLoaded"}, "the layer can be loaded again")
    say.claim(not path.exists(), "the file is gone")


async def compare_copies(server: geomodel.Server, say: Transcript, watched: geomodel.StateSubscription) -> None:
    say.title("The observer's copy")
    changes = watched.take_all()
    deltas = sum(len(change.changes) for change in changes)
    say.line("state/changed", f"{len(changes)} notifications, {deltas} changes")
    truth = await say.step(
        "state/get  everything", server.state.get(path=""), revision
    )
    say.claim(deltas > 0 and not any(change.resynced for change in changes), "the subscriber got every change")
    say.claim(watched.revision == truth["revision"], f"its copy is of revision {truth['revision']} as well")
    say.claim(watched.state == truth["values"][0]["value"], "and equal to what the server has, to the last member")


async def main() -> int:
    say = Transcript()
    print("geomodel-server: a session on real data\n")
    print(f"{'at':>9} {'took':>12}  {'sent':<56}  came back")
    began = time.perf_counter()
    async with geomodel.launch() as server:
        info = server.server_info
        say.title("Start")
        spoken = f"{info['name']} {info['version']}, protocol {server.protocol_version}"
        say.line("initialize", spoken, time.perf_counter() - began)
        async with server.observe("") as watched:
            say.line("state/observe  everything", f"from revision {watched.revision} on")
            await show_the_world(server, say)
            with contextlib.ExitStack() as ended:
                kept = sys.argv[2] if sys.argv[1:2] == ["--pictures"] else ended.enter_context(tempfile.TemporaryDirectory())
                folder = Path(kept).resolve()
                folder.mkdir(parents=True, exist_ok=True)
                await draw_the_world(server, say, folder)
            for part in (fly, add_cities, drive, ask_heights, cancel_a_load):
                await part(server, say)
            await compare_copies(server, say, watched)
        began = time.perf_counter()
    say.title("End")
    say.line("shutdown, exit", f"status {server.exit_status}", time.perf_counter() - began)
    say.claim(server.exit_status == 0, "the server ended on request")
    return 0 if say.verdict() else 1


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main()))
    except geomodel.Error as error:
        sys.exit(f"\nThe demonstration failed: {type(error).__name__}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
