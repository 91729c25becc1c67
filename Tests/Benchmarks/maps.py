"""Times pictures and tiles of a server beside mapnik, datashader and PostGIS, each in its own process.

    python3 maps.py make FOLDER                    the data, with GeoPandas: a million points, 100,000 polygons
    python3 maps.py mapnik FOLDER WORLD            by a Python that has mapnik
    python3 maps.py datashader FOLDER
    python3 maps.py postgis FOLDER                 a cluster of its own, as another user than root
    python3 maps.py server FOLDER WORLD -- COMMAND

WORLD is a GeoPackage of countries. Prints figures, one per line, as the C programs beside it do. Everything is loaded before, and drawn once;
figures are the medians of five (of mapnik's points, one). A picture has 1,920 x 1,080 pixels and ends as PNG; mapnik's in its memory, the server's in a file.
"""

from __future__ import annotations

import os
import pwd
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

WIDTH, HEIGHT, POINTS, POLYGONS, ROUNDS = 1920, 1080, 1_000_000, 100_000, 5
# What is seen, in EPSG:3857, and all data inside: the world's 16:9 part around the equator, as the countries fill it.
EXTENT = (-20_037_508.0, -11_271_098.0, 20_037_508.0, 11_271_098.0)
TILED = 10_000


def report(name: str, work: Callable[[], Any], rounds: int = ROUNDS) -> None:
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    print(f"{name}_milliseconds {statistics.median(times[1:]) * 1e3:.2f}")


def make(folder: Path) -> None:
    import geopandas
    import numpy
    import shapely

    numbers = numpy.random.default_rng(1)
    xs, ys = numbers.uniform(EXTENT[0], EXTENT[2], POINTS), numbers.uniform(EXTENT[1], EXTENT[3], POINTS)
    numpy.save(folder / "points.npy", numpy.column_stack([xs, ys]))
    points = geopandas.GeoDataFrame({"n": numpy.arange(POINTS)}, geometry=shapely.points(xs, ys), crs="EPSG:3857")
    points.to_file(folder / "points.shp")
    x, y = numbers.uniform(EXTENT[0], EXTENT[2], POLYGONS), numbers.uniform(EXTENT[1], EXTENT[3], POLYGONS)
    angle, radius = numbers.uniform(0, 1.5, POLYGONS), numbers.uniform(20_000, 200_000, POLYGONS)
    corners = [(x + radius * numpy.cos(angle + turn), y + radius * numpy.sin(angle + turn)) for turn in numpy.arange(8) * numpy.pi / 4]
    rings = numpy.stack([numpy.column_stack(corner) for corner in [*corners, corners[0]]], axis=1)
    frame = {"n": numpy.arange(POLYGONS), "kind": [f"kind {number % 17}" for number in range(POLYGONS)]}
    frame |= {name: numbers.uniform(0, 1000, POLYGONS) for name in ("a", "b")} | {"even": numpy.arange(POLYGONS) % 2}
    polygons = geopandas.GeoDataFrame(frame, geometry=shapely.polygons(rings), crs="EPSG:3857")
    polygons.to_file(folder / "polygons.shp")
    # For the tile: polygons within it.
    polygons.head(TILED).to_file(folder / "tiled.shp")


MAPNIK = """<Map srs="epsg:3857" background-color="white">
  <Style name="points"><Rule><MarkersSymbolizer width="8" height="8" fill="#ff8000" stroke="black" stroke-width="1" allow-overlap="true"/></Rule></Style>
  <Style name="polygons"><Rule><PolygonSymbolizer fill="#80c080"/><LineSymbolizer stroke="#204020" stroke-width="1"/></Rule></Style>
  <Style name="countries"><Rule><PolygonSymbolizer fill="#ede6d3"/><LineSymbolizer stroke="#8a7f66" stroke-width="0.7"/>
    <TextSymbolizer face-name="DejaVu Sans Book" size="11" fill="#444444" halo-fill="white" halo-radius="1.5" placement="interior">[name]</TextSymbolizer></Rule></Style>
  <Layer name="layer" srs="epsg:{code}"><StyleName>{style}</StyleName><Datasource>{source}</Datasource></Layer>
</Map>"""


def with_mapnik(folder: Path, world: Path) -> None:
    import mapnik

    mapnik.register_fonts("/usr/share/fonts/truetype/dejavu")
    parameter = '<Parameter name="{}">{}</Parameter>'.format
    for style, code, values in (
        ("points", 3857, {"type": "shape", "file": folder / "points.shp"}),
        ("polygons", 3857, {"type": "shape", "file": folder / "polygons.shp"}),
        ("countries", 4326, {"type": "ogr", "file": world, "layer": "countries"}),
    ):
        drawn = mapnik.Map(WIDTH, HEIGHT)
        source = "".join(parameter(*pair) for pair in values.items())
        mapnik.load_map_from_string(drawn, MAPNIK.format(style=style, code=code, source=source))
        # From memory, as the server has it.
        layer = drawn.layers[0]
        features = mapnik.MemoryDatasource()
        for feature in layer.datasource.all_features():
            features.add_feature(feature)
        layer.datasource = features
        drawn.layers[0] = layer
        drawn.zoom_to_box(mapnik.Box2d(*EXTENT))

        def draw() -> None:
            image = mapnik.Image(WIDTH, HEIGHT)
            mapnik.render(drawn, image)
            image.tostring("png32")

        report(f"map_{style}", draw, 1 if style == "points" else ROUNDS)


def with_datashader(folder: Path) -> None:
    import datashader
    import numpy
    import pandas
    from datashader import transfer_functions

    frame = pandas.DataFrame(numpy.load(folder / "points.npy"), columns=["x", "y"])

    def draw() -> None:
        canvas = datashader.Canvas(WIDTH, HEIGHT, (EXTENT[0], EXTENT[2]), (EXTENT[1], EXTENT[3]))
        transfer_functions.shade(canvas.points(frame, "x", "y")).to_bytesio("png")

    report("map_datashader", draw)


def with_postgis(folder: Path) -> None:
    """What `ST_AsMVT` needs in the server for the tile 0/0/0, by its own clock: rows with geometries and five attributes."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin/initdb")).parent
    user = os.environ.get("USER", "root")
    as_user = []
    if os.geteuid() == 0:
        pwd.getpwnam("postgres")
        user, as_user = "postgres", ["runuser", "-u", "postgres", "--"]
    with tempfile.TemporaryDirectory() as name:
        shutil.chown(name, user)
        run = lambda *words, text=None: subprocess.run(
            [*as_user, *map(str, words)], check=True, capture_output=True, text=True, input=text, cwd="/").stdout
        run(programs / "initdb", "-D", f"{name}/data", "-A", "trust", "-U", "bench")
        options = f"-k {name} -c listen_addresses='' -c shared_buffers=512MB -c work_mem=256MB -c fsync=off -c max_parallel_workers_per_gather=0"
        run(programs / "pg_ctl", "-D", f"{name}/data", "-l", f"{name}/log", "-w", "-o", options, "start")
        try:
            sql = lambda text: run(programs / "psql", "-qtAX", "-v", "ON_ERROR_STOP=1", "-h", name, "-U", "bench", "postgres", text=text)
            sql("create extension postgis")
            import geopandas

            frame = geopandas.read_file(folder / "tiled.shp")
            rows = "\n".join(
                f"{row.n}\t{row.kind}\t{row.a}\t{row.b}\t{row.even}\t{row.geometry.wkb_hex}" for row in frame.itertuples())
            sql("create table tiled (n int, kind text, a float8, b float8, even int, shape geometry(Polygon))")
            sql(f"copy tiled from stdin;\n{rows}\n\\.\n")
            sql("update tiled set shape = st_setsrid(shape, 0); analyze tiled")
            tile = """select octet_length(st_asmvt(q, 'tiled', 4096, 'g')) from (select n, kind, a, b, even,
                st_asmvtgeom(shape, st_makeenvelope(-20037508.342789244, -20037508.342789244, 20037508.342789244, 20037508.342789244), 4096, 64, true) as g
                from tiled) q"""
            timed = f"""do $$ declare s timestamptz; size int; begin
                for i in 0..{ROUNDS} loop
                s := clock_timestamp(); {tile.replace(' from (', ' into size from (', 1)};
                raise notice '% %', extract(epoch from clock_timestamp() - s) * 1000, size; end loop; end $$"""
            noticed = subprocess.run(
                [*as_user, str(programs / "psql"), "-qX", "-h", name, "-U", "bench", "postgres", "-c", timed],
                check=True, capture_output=True, text=True, cwd="/").stderr
            times = [float(line.split()[-2]) for line in noticed.splitlines() if "NOTICE" in line]
            print(f"tile_milliseconds {statistics.median(times[1:]):.2f}")
        finally:
            run(programs / "pg_ctl", "-D", f"{name}/data", "-m", "immediate", "stop")


def server(folder: Path, world: Path, command: list[str]) -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Clients" / "python" / "src"))
    import geomodel

    fill = lambda color, outline, width: {"type": "simpleFill", "color": color, "outline": {"color": outline, "width": width}}
    marker = {"type": "simpleMarker", "color": "#ff8000", "size": 8, "outline": {"color": "#000000", "width": 1}}
    label = {"expression": "name", "symbol": {"type": "text", "size": 11, "color": "#444444", "haloColor": "#ffffff", "haloWidth": 1.5}}
    with geomodel.launch_sync(command, root_path=str(folder)) as session:
        for name, path, symbol in (
            ("points", folder / "points.shp", marker),
            ("polygons", folder / "polygons.shp", fill("#80c080", "#204020", 1)),
            ("tiled", folder / "tiled.shp", fill("#80c080", "#204020", 1)),
            ("countries", world, fill("#ede6d3", "#8a7f66", 0.7)),
        ):
            session.map.create(id=f"{name}-map", spatial_reference="EPSG:3857")
            session.source.open(id=f"{name}-file", path=path)
            session.layer.add(id=name, map=f"{name}-map", source=f"{name}-file", source_layer=name)
            session.layer.load(layer=name)
            session.layer.update(layer=name, renderer={"type": "simple", "symbol": symbol}, **(
                {"labels": [label], "labels_enabled": True} if name == "countries" else {}))
            session.view.create(id=f"{name}-view", map=f"{name}-map", width=WIDTH, height=HEIGHT)
            session.view.set_viewpoint(view=f"{name}-view", viewpoint={
                "type": "centerAndScale", "center": {"type": "Point", "coordinates": [0, 0]}, "spatialReference": "EPSG:3857",
                "targetScale": (EXTENT[2] - EXTENT[0]) / WIDTH * 96 / 0.0254})
        for name in ("points", "polygons", "countries"):
            report(f"map_{name}", lambda: session.view.render(view=f"{name}-view", path=f"{name}.png", replace=True, background="#ffffff"))
        tile = session.layer.tile(layer="tiled", z=0, x=0, y=0)
        assert tile["featureCount"] == TILED and not tile["isThinned"], (tile["featureCount"], tile["isThinned"])
        report("tile", lambda: session.layer.tile(layer="tiled", z=0, x=0, y=0))


if __name__ == "__main__":
    what, words = sys.argv[1], sys.argv[2:]
    place = Path(words[0])
    world = Path(words[1]).resolve() if len(words) > 1 else place
    if what == "make":
        make(place)
    elif what == "mapnik":
        with_mapnik(place, world)
    elif what == "datashader":
        with_datashader(place)
    elif what == "postgis":
        with_postgis(place)
    else:
        server(place, world, words[words.index("--") + 1 :])
