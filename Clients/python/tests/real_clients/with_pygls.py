"""Drives the server from pygls: a command, a query, an error, a notification, an ordered end."""

import asyncio
import os
from typing import Any

from pygls.client import JsonRPCClient
from pygls.exceptions import JsonRpcException


async def main() -> None:
    client = JsonRPCClient()
    heard: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @client.feature("state/changed")
    def changed(params: Any) -> None:
        if not heard.done():
            heard.set_result("state/changed")

    await client.start_io(os.environ["GEOMODEL_SERVER"])
    ask = client.protocol.send_request_async
    await ask("initialize", {"processId": os.getpid()})
    client.protocol.notify("initialized", {})
    await ask("map/create", {"id": "m1", "title": "Zürich"})
    await ask("view/create", {"id": "v1", "map": "m1"})
    await ask("state/observe", {"paths": ["/views/v1/viewpoint"]})
    await ask("view/setViewpoint", {"view": "v1", "viewpoint": {"type": "scale", "targetScale": 25000}})
    print("title", (await ask("map/get", {"map": "m1"})).title)
    try:
        await ask("map/get", {"map": "none"})
    except JsonRpcException as error:
        print("error", error.code)
    print("heard", await heard)
    await ask("shutdown", None)
    client.protocol.notify("exit", None)
    server = client._server  # The one way to its exit status.
    await server.wait()
    print("exit", server.returncode)
    await client.stop()


asyncio.run(main())
