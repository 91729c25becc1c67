"""An evaluation of `geomodel mcp`: the tasks of `agent_tasks` over stdio, each within the calls and bytes that it states."""

from __future__ import annotations

import base64
import os
import unittest
from typing import Any

from agent_support import agent, temporary, text_of, told
from agent_tasks import TASKS, Task, rounded
from support import real_server

from geomodel import mcp


def placed(value: Any, folder: str) -> Any:
    if isinstance(value, str):
        return value.replace("{folder}", folder)
    return {name: placed(each, folder) for name, each in value.items()} if isinstance(value, dict) else value


async def solved(client: Any, task: Task, folder: str) -> tuple[Any, int]:
    """The answer of a task, and the bytes that the agent read for it."""
    results: list[Any] = []
    read = 0
    for tool, arguments in task.calls:
        result = await client.call_tool(tool, placed(dict(arguments(results) if callable(arguments) else arguments), folder))
        assert not result.is_error, text_of(result)
        read += len(text_of(result).encode())
        pictures = [base64.b64decode(part.data) for part in result.content if part.type == "image"]
        results.append({**result.structured_content, "pictures": pictures} if pictures else result.structured_content)
    return task.answer(results), read


@unittest.skipUnless(mcp.is_available() and real_server(), "no mcp, or no server")
class AgentTaskTests(unittest.IsolatedAsyncioTestCase):
    async def test_each_task_is_solved_within_what_it_states(self) -> None:
        shown = bool(os.environ.get("GEOMODEL_SHOW_TASKS"))
        self.assertGreaterEqual(len(TASKS), 40)
        with temporary() as folder:
            async with agent() as client:
                for task in TASKS:
                    with self.subTest(task.question):
                        await told(client, "call", method="document/new")
                        answer, read = await solved(client, task, folder)
                        if shown:
                            print(f"{len(task.calls)} calls, {read:5} of {task.bytes:5} bytes: {task.question}\n    {answer}")
                        self.assertEqual(rounded(answer), rounded(task.expected))
                        self.assertLessEqual(read, task.bytes)


if __name__ == "__main__":
    unittest.main()
