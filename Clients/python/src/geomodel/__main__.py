"""The command line, as `python -m geomodel` and as `geomodel`."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
