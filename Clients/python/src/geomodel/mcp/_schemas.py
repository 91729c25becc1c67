"""What the arguments of tools mean, where several have them, and what their answers are: the schemas that agents read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

Layer = Annotated[str, Field(description="A layer's id (as describe_model lists them) or its name; or an overlay's id.")]
Where = Annotated[str | None, Field(description="CQL2 text: \"pop > 1e6 AND name LIKE 'B%'\". Texts in single quotes.")]
Box = Annotated[list[float] | None, Field(description="[west, south, east, north] in spatial_reference; west > east crosses 180 degrees.")]
Area = Annotated[dict[str, Any] | None, Field(description="A GeoJSON geometry in spatial_reference.")]
Reference = Annotated[
    str, Field(description="Spatial reference of the coordinates given and returned, as EPSG:4326 (degrees, longitude first) or EPSG:3857.")
]
Fields = Annotated[list[str] | None, Field(description="The fields wanted; all when absent.")]
Limit = Annotated[
    int, Field(ge=0, description="Maximum number of rows. Answers end at 20 KB whatever the limit is: use statistics or export for many.")
]
Offset = Annotated[int, Field(ge=0, description="Rows to skip.")]
Order = Annotated[list[str] | None, Field(description='Sort keys, as ["pop desc", "name"].')]
Ids = Annotated[list[int] | None, Field(description="Ids of features, as in the rows.")]
NewName = Annotated[str | None, Field(description="Name of the new layer, and its id if that is free.")]
Statistics = Annotated[
    list[str] | None,
    Field(description='As ["count", "sum(pop)"]; also mean, min, max, median, standardDeviation, variance, "percentile(pop, 90)".'),
]
Relationship = Literal["intersects", "contains", "within", "crosses", "overlaps", "touches", "disjoint", "equals"]


class Near(BaseModel):
    """A place, and how far from it."""

    x: float = Field(description="Longitude or easting.")
    y: float = Field(description="Latitude or northing.")
    max_distance: float | None = Field(None, ge=0, description="Metres on the ellipsoid; without it the nearest come, however far.")


class LayerInfo(BaseModel):
    layer: str = Field(description="Its id: the handle for other tools.")
    name: str | None = None
    map: str | None = None
    kind: str | None = None
    geometry_type: str | None = None
    count: int | None = Field(None, description="Number of features, before any filter.")
    spatial_reference: str | None = None
    extent: list[float] | None = Field(None, description="[west, south, east, north] in spatial_reference.")
    status: str | None = None
    filter: str | dict[str, Any] | bool | None = None
    fields: dict[str, str] | None = Field(None, description="Types by name.")
    fields_count: int | None = Field(None, description="Number of all fields, if some are left out.")


class Opened(BaseModel):
    source: str | None = None
    map: str | None = None
    layers: list[LayerInfo]
    unopened: list[str] | None = Field(None, description="Layers of the file that were not added.")
    warnings: list[str] | None = None
    more: str | None = None


class Model(BaseModel):
    revision: int
    document: dict[str, Any]
    maps: list[dict[str, Any]]
    views: list[dict[str, Any]]
    layers: list[dict[str, Any]]
    overlays: list[dict[str, Any]]
    sources: list[dict[str, Any]]
    other: dict[str, int] | None = Field(None, description="Numbers of other objects; call has their methods.")
    more: str | None = None


class LayerDescribed(LayerInfo):
    matching: int | None = Field(None, description="Number of features that pass the filter.")
    sample: list[dict[str, Any]]
    more: str | None = None


class Rows(BaseModel):
    count: int = Field(description="Number of all that match, shown or not.")
    shown: int
    rows: list[dict[str, Any]]
    spatial_reference: str | None = Field(None, description="Of the geometries, if there are any.")
    more: str | None = Field(None, description="How to get the rest or less; absent when all are shown.")


class Changed(BaseModel):
    revision: int
    layer: str | None = None
    matching: int | None = Field(None, description="Number of features that pass the layer's filter now.")
    selected: int | None = None
    legend: list[dict[str, Any]] | None = None
    more: str | None = None


class Derived(LayerInfo):
    """A new layer."""

    failed: int | None = Field(None, description="Features that have no result and were left out.")
    failures: list[dict[str, Any]] | None = None


class Shown(BaseModel):
    view: str
    viewpoint: dict[str, Any]
    constrained: bool | None = None
    picture: dict[str, Any] | None = Field(None, description="Pixels and numbers of labels of the picture that comes beside this.")
    features: dict[str, int] | None = Field(None, description="With picture: the number of features in view, by layer from the top.")


class Written(BaseModel):
    path: str
    count: int | None = None
    bytes: int | None = None
    driver: str | None = None
    differences: list[dict[str, Any]] | None = Field(None, description="What the file's format could not hold.")


class Document(BaseModel):
    path: str | None = None
    modified: bool | None = None
    problems: list[dict[str, Any]] | None = None
    maps: list[str] | None = None
    layers: list[str] | None = None
    more: str | None = None


class Undone(BaseModel):
    undone: list[str] | None = None
    redone: list[str] | None = None
    can_undo: bool
    can_redo: bool


class Described(BaseModel):
    description: dict[str, Any]


class Called(BaseModel):
    result: Any
    cut: list[str] | None = Field(None, description="What was left out of the result.")
    more: str | None = None
