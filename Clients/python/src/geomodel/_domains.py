"""The domains as attributes of a client; the generated classes do the work."""

from __future__ import annotations

from functools import cached_property

from ._base import AsyncCalling, SyncCalling
from ._generated import methods_async as a
from ._generated import methods_sync as s


class AsyncDomains(AsyncCalling):
    """`await server.map.create(...)`: a domain an attribute, a method a coroutine."""

    @cached_property
    def clock(self) -> a.ClockMethods:
        return a.ClockMethods(self)

    @cached_property
    def feature(self) -> a.FeatureMethods:
        return a.FeatureMethods(self)

    @cached_property
    def layer(self) -> a.LayerMethods:
        return a.LayerMethods(self)

    @cached_property
    def location(self) -> a.LocationMethods:
        return a.LocationMethods(self)

    @cached_property
    def map(self) -> a.MapMethods:
        return a.MapMethods(self)

    @cached_property
    def overlay(self) -> a.OverlayMethods:
        return a.OverlayMethods(self)

    @cached_property
    def scene(self) -> a.SceneMethods:
        return a.SceneMethods(self)

    @cached_property
    def session(self) -> a.SessionMethods:
        return a.SessionMethods(self)

    @cached_property
    def source(self) -> a.SourceMethods:
        return a.SourceMethods(self)

    @cached_property
    def state(self) -> a.StateMethods:
        return a.StateMethods(self)

    @cached_property
    def task(self) -> a.TaskMethods:
        return a.TaskMethods(self)

    @cached_property
    def view(self) -> a.ViewMethods:
        return a.ViewMethods(self)


class SyncDomains(SyncCalling):
    """`server.map.create(...)`: a domain an attribute, a method a function."""

    @cached_property
    def clock(self) -> s.ClockMethods:
        return s.ClockMethods(self)

    @cached_property
    def feature(self) -> s.FeatureMethods:
        return s.FeatureMethods(self)

    @cached_property
    def layer(self) -> s.LayerMethods:
        return s.LayerMethods(self)

    @cached_property
    def location(self) -> s.LocationMethods:
        return s.LocationMethods(self)

    @cached_property
    def map(self) -> s.MapMethods:
        return s.MapMethods(self)

    @cached_property
    def overlay(self) -> s.OverlayMethods:
        return s.OverlayMethods(self)

    @cached_property
    def scene(self) -> s.SceneMethods:
        return s.SceneMethods(self)

    @cached_property
    def session(self) -> s.SessionMethods:
        return s.SessionMethods(self)

    @cached_property
    def source(self) -> s.SourceMethods:
        return s.SourceMethods(self)

    @cached_property
    def state(self) -> s.StateMethods:
        return s.StateMethods(self)

    @cached_property
    def task(self) -> s.TaskMethods:
        return s.TaskMethods(self)

    @cached_property
    def view(self) -> s.ViewMethods:
        return s.ViewMethods(self)
