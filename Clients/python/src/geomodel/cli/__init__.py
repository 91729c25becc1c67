"""The command line `geomodel`, for people and their scripts; `_commands` has the list of commands.

Only the module of the command that is run is imported: `geomodel info FILE` answers within 150 ms.
"""

from ._main import main

__all__ = ["main"]
