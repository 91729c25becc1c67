"""The measures: what is compared with what, and the bar that a figure has to pass."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """One row of the table: a figure of the server, what it is compared with, and the bar."""

    name: str
    group: str  # the run that produces the figure
    unit: str
    key: str
    floor_key: str | None = None  # if the floor has another name
    own_key: str | None = None  # the server's own figure to compare with, instead of the floor
    most: float | None = None  # of the ratio
    least: float | None = None  # of the ratio
    limit: float | None = None  # of the server's figure itself

    @property
    def bar(self) -> str:
        if self.most is not None:
            return f"ratio <= {self.most:g}"
        if self.least is not None:
            return f"ratio >= {self.least:g}"
        return f"<= {self.limit:g}" if self.limit is not None else ""

    def passes(self, value: float, ratio: float | None) -> bool | None:
        if self.limit is not None:
            return value <= self.limit
        if ratio is None or (self.most is None and self.least is None):
            return None
        return ratio <= self.most if self.most is not None else ratio >= self.least


MEASURES = [
    Measure("throughput", "throughput", "requests/s", "requests_per_second", least=0.9),
    Measure("latency", "latency", "us", "median_microseconds", most=1.2),
    Measure("latency-p99", "latency", "us", "p99_microseconds"),
    Measure("latency-unpinned", "latency-unpinned", "us", "median_microseconds", most=0.5),
    # The floor is the same server on standard streams.
    Measure("latency-attached", "attached", "us", "median_microseconds", most=2.2),
    Measure("observers", "observers", "cores", "observers_cores", limit=0.5),
    Measure("start", "start", "ms", "start_milliseconds", most=6),
    Measure("start-memory", "start", "MB", "start_resident_megabytes", limit=16),
    Measure("load-objects", "model", "s", "load_seconds", most=1.3),
    Measure("load-columns", "columns", "s", "load_seconds", floor_key="parse_seconds", most=1.5),
    Measure("index", "index", "us/box", "microseconds_per_box", most=1.7),
    Measure("index-build", "index", "s", "build_seconds"),
    Measure("nearest", "nearest", "us/place", "planar_microseconds", most=1.4),
    Measure("nearest-geodetic", "nearest", "us/place", "geodetic_microseconds", limit=15),
    Measure("join", "join", "s", "join_seconds", most=0.4),
    Measure("cluster-build", "clusters", "s", "cluster_seconds", most=0.9),
    Measure("cluster-nodes", "clusters", "nodes", "cluster_nodes", most=1.00001),
    Measure("cluster-tile", "clusters", "us", "tile_microseconds", limit=10),
    Measure("cluster-memory", "clusters", "MB", "cluster_megabytes", limit=300),
    Measure("query-ids", "model", "us/box", "ids_microseconds", most=1.6),
    Measure("query-features", "model", "us/box", "features_microseconds", most=1.9),
    Measure(
        "query-features-six", "model", "us/box", "features_microseconds", floor_key="six_decimals_microseconds", most=1.7),
    Measure("nearest-wire", "model", "us/place", "nearest_microseconds", most=1.5),
    Measure("nearest-wire-geodetic", "model", "us/place", "nearest_geodetic_microseconds", floor_key="nearest_microseconds"),
    Measure("moved-ids", "model", "us/box", "moved_ids_microseconds", own_key="ids_microseconds", most=1.5),
    Measure(
        "moved-features", "model", "us/box", "moved_features_microseconds", own_key="features_microseconds", most=1.5),
    Measure("move", "model", "s", "move_seconds"),
    Measure("filter-count", "filters", "ms", "count_milliseconds", most=1.5),
    Measure("statistics", "filters", "ms", "statistics_milliseconds", floor_key="count_milliseconds", most=10),
    Measure("equality", "filters", "us", "equality_microseconds", own_key="ids_microseconds", most=2),
    Measure("equality-first", "filters", "ms", "equality_first_milliseconds"),
    *(
        measure
        for kind in ("filter", "nearest", "join", "clusters", "identify")
        for measure in (
            Measure(f"{kind}-cancel", "filters", "ms", f"cancel_{kind}_milliseconds", limit=50),
            Measure(f"{kind}-cancel-worker", "filters", "ms", f"worker_{kind}_milliseconds", limit=100))),
    Measure("first-write", "edits", "us", "first_write_microseconds", limit=1000),
    Measure("undo-delete", "edits", "s", "undo_delete_seconds", own_key="delete_seconds", most=2),
    Measure("undo-delete-stretch", "edits", "s", "stretch_undo_delete_seconds", own_key="stretch_delete_seconds", most=2),
    *(
        Measure(f"undo-create-{kind}", "undo", "us/object", f"undo_{kind}_microseconds", limit=5)
        for kind in ("map", "layer", "group", "overlay", "view_model")),
    Measure("open-stretch", "open-stretch", "ms", "held_milliseconds", limit=20),
    Measure("first-box", "model", "us", "first_microseconds", limit=10_000),
    Measure("transaction", "transaction", "s", "transaction_seconds", own_key="bulk_seconds", most=1.2),
    Measure("transaction-single", "transaction", "s", "single_seconds", own_key="single_bulk_seconds"),
    Measure("document", "document", "s", "document_seconds", most=2),
    Measure("document-save", "document", "s", "save_seconds", floor_key="dump_seconds"),
    Measure("document-open", "document", "s", "open_seconds", floor_key="parse_seconds"),
    Measure("file", "file", "s", "features_seconds", most=1.5),
    Measure("file-open", "file", "ms", "open_milliseconds"),
    Measure("geojson", "geojson", "s", "features_seconds", most=0.2),
    Measure("geojson-open", "geojson", "ms", "open_milliseconds"),
    Measure("parse-cancel", "reading", "ms", "cancel_native_milliseconds", limit=50),
    Measure("parse-cancel-gdal", "reading", "ms", "cancel_gdal_milliseconds", limit=50),
    Measure("export", "export", "s", "gpkg_seconds", most=1.5),
    Measure("export-geojson", "export", "s", "geojson_seconds", most=0.2),
    Measure("frame-points-in", "frames", "s", "points_in_seconds", limit=3),
    Measure("frame-points-out", "frames", "s", "points_out_seconds", limit=3),
    Measure("frame-polygons-in", "frames", "s", "polygons_in_seconds", limit=1),
    Measure("frame-polygons-out", "frames", "s", "polygons_out_seconds", limit=1),
    Measure(
        "observe-100", "observe", "us/set", "set_among_100_microseconds", own_key="set_observed_microseconds", most=1.3),
    Measure("notification", "observe", "us", "notification_microseconds", most=0.5),
    Measure(
        "first-notification", "observe", "us", "first_notification_microseconds",
        floor_key="notification_microseconds"),
    Measure("long-delta", "long-delta", "ms", "held_milliseconds", limit=20),
    Measure("long-delta-delivery", "long-delta", "s", "delta_seconds"),
    Measure("entity-columns", "motion", "us", "entity_columns_microseconds", limit=3),
    Measure("entity-objects", "motion", "us", "entity_objects_microseconds", limit=5),
    Measure("entity-memory", "long-feed", "MB", "memory_growth_megabytes", limit=50),
    Measure("geotrigger-fix", "fences", "us", "fix_microseconds", most=3),
    Measure("frames-beside", "beside", "ms", "frame_p99_milliseconds", limit=5),
    Measure("views-in-motion", "motion", "x real time", "views_times_real"),
    Measure("location-notification", "motion", "us", "notification_microseconds", own_key="echo_microseconds", most=1.3),
    Measure("geometry-buffer", "geometry", "ms", "buffer_milliseconds", most=0.7),
    Measure("geometry-union", "geometry", "ms", "union_milliseconds", most=1.1),
    Measure("geometry-dissolve", "geometry", "ms", "dissolve_milliseconds", most=0.5),
    Measure("geometry-frame-buffer", "geometry", "ms", "frame_buffer_milliseconds", most=1),
    Measure("geometry-project-3857", "geometry", "ms", "project_3857_milliseconds", most=0.4),
    Measure("geometry-project-25832", "geometry", "ms", "project_25832_milliseconds", most=0.7),
    Measure("geometry-project-features", "geometry", "ms", "project_features_milliseconds", floor_key="project_25832_milliseconds"),
    Measure("geometry-calculate", "geometry", "ms", "calculate_milliseconds", most=4),
    *(
        Measure(f"geometry-cancel-{kind}", "geometry", "ms", f"cancel_{kind}_milliseconds", limit=50)
        for kind in ("buffer", "union", "dissolve", "project_features", "calculate")),
    Measure("profile", "surfaces", "ms", "profile_milliseconds", most=2),
    Measure("line-of-sight", "surfaces", "ms", "sight_milliseconds", most=2),
    Measure("viewshed", "surfaces", "ms", "viewshed_milliseconds", most=1),
    Measure("viewshed-polygons", "surfaces", "ms", "viewshed_polygons_milliseconds", floor_key="viewshed_milliseconds"),
    Measure("contours", "surfaces", "ms", "contours_milliseconds", most=1.1),
    *(
        measure
        for kind in ("viewshed", "contours")
        for measure in (
            Measure(f"{kind}-cancel", "surfaces", "ms", f"cancel_{kind}_milliseconds", limit=50),
            Measure(f"{kind}-cancel-worker", "surfaces", "ms", f"worker_{kind}_milliseconds", limit=100))),
    Measure("picture-markers", "pictures", "ms", "markers_milliseconds", most=1.5),
    Measure("picture-encoding", "pictures", "ms", "encoded_milliseconds", most=0.3),
    Measure("picture-bytes", "pictures", "B", "encoded_bytes", most=1.5),
    Measure("map-points", "maps", "ms", "map_points_milliseconds", most=0.3),
    Measure("map-points-datashader", "maps", "ms", "map_points_milliseconds", floor_key="map_datashader_milliseconds"),
    Measure("map-polygons", "maps", "ms", "map_polygons_milliseconds", most=0.5),
    Measure("map-countries", "maps", "ms", "map_countries_milliseconds", most=0.5),
    Measure("tile", "maps", "ms", "tile_milliseconds", most=0.5),
    Measure("memory-objects", "model", "B/graphic", "load_bytes_a_graphic", limit=120),
    Measure("memory-columns", "columns", "B/graphic", "load_bytes_a_graphic", limit=120),
]
