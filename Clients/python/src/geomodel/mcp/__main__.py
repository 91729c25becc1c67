"""`python -m geomodel.mcp`: the same as `geomodel mcp`."""

import sys

from . import main

if __name__ == "__main__":
    sys.exit(main())
