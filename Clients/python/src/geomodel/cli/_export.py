"""Writes the features that match to a file, whose suffix says the format.

Examples:

  geomodel export countries.gpkg africa.fgb --where "continent = 'Africa'" --fields name,pop_est
  geomodel export --attach map cities selected.geojson --bbox 5,45,11,48
"""

from __future__ import annotations

import argparse

from . import _convert, _layers
from ._arguments import add_output, add_reading, add_server
from ._session import Session


def define(parser: argparse.ArgumentParser) -> None:
    _layers.add_input(parser, "in")
    _convert.add_target(parser)
    _layers.add_filter(parser)
    _layers.add_attach(parser)
    add_reading(parser)
    add_output(parser)
    add_server(parser)


def run(options: argparse.Namespace) -> int:
    with Session(options) as session:
        layer = _layers.load(session, getattr(options, "in"), options)
        return _convert.export(session, options, layer, _layers.selection(options, layer))
