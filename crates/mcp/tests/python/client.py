"""The official SDK as a host of `sortie mcp`: it lists, calls, follows progress, cancels and uses tasks.

Reads where everything is as JSON from standard input: `program` with its `environment` and `workspace` to speak over its
streams, `url` and `token` to speak over HTTP. Whatever is not as it should be ends it with an exception.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from typing import Any, Literal

import anyio
import httpx2
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.streamable_http import streamable_http_client

# Far more than anything here takes; what hangs is a failure.
PATIENCE = 60
TASKS = "io.modelcontextprotocol/tasks"
WORK = {"description": "Read the notes", "prompt": "Read the notes.", "subagent_type": "explore"}
ENDLESS = {"description": "Wait", "prompt": "Wait for nothing.", "subagent_type": "explore"}
REPORT = "The notes say little."


class Handle(types.Result):
    """What a call answers with that has become a task."""

    result_type: Literal["task"] = "task"
    task_id: str
    status: str


class TaskParams(types.RequestParams):
    task_id: str


class GetTask(types.Request[TaskParams, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: TaskParams
    name_param = "taskId"


class CancelTask(types.Request[TaskParams, Literal["tasks/cancel"]]):
    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: TaskParams
    name_param = "taskId"


class State(types.Result):
    task_id: str
    status: str
    result: dict[str, Any] | None = None


class Tasks(ClientExtension):
    """The Tasks extension as a host has it: a call that has become a task is asked for until it has ended."""

    identifier = TASKS

    def __init__(self) -> None:
        self.seen: list[str] = []

    def claims(self) -> list[ResultClaim[Handle]]:
        return [ResultClaim(result_type="task", model=Handle, resolve=self.resolve)]

    async def resolve(self, handle: Handle, context: ClaimContext) -> types.CallToolResult:
        self.seen.append(handle.task_id)
        state = await ended(context.session, handle.task_id)
        assert state.status == "completed", state
        return types.CallToolResult.model_validate(state.result)


async def ended(session: Any, task_id: str) -> State:
    while True:
        state = await session.send_request(GetTask(params=TaskParams(task_id=task_id)), State)
        if state.status not in ("working", "input_required"):
            return state
        await anyio.sleep(0.05)


def text_of(result: types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


async def lists(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert {"Task", "SubagentOutput", "SubagentStop", "SubagentMessage", "SubagentList"} <= tools.keys(), tools.keys()
    assert tools["SubagentList"].annotations.read_only_hint, tools["SubagentList"]
    assert tools["Task"].output_schema, "the outcome has no schema"
    assert "sortie://agents" in [resource.uri for resource in (await client.list_resources()).resources]
    agents = await client.read_resource("sortie://agents")
    assert "explore" in agents.contents[0].text.lower(), agents
    assert (await client.list_resource_templates()).resource_templates
    for prompt in (await client.list_prompts()).prompts:
        assert prompt.name


async def calls(client: Client) -> None:
    told: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    # The SDK itself holds the structured outcome against the schema that was listed.
    result = await client.call_tool("Task", WORK, progress_callback=hear)
    assert not result.is_error, result
    assert REPORT in text_of(result), result
    assert result.structured_content["status"] == "completed", result
    assert told and sorted(progress for progress, _ in told) == [progress for progress, _ in told], told
    task = result.structured_content["task_id"]
    report = await client.read_resource(f"sortie://tasks/{task}/report")
    assert REPORT in report.contents[0].text, report


async def refuses(client: Client) -> None:
    result = await client.call_tool("Task", {**WORK, "subagent_type": "nobody"})
    assert result.is_error and "nobody" in text_of(result), result
    try:
        await client.call_tool("NoSuchTool", {})
    except MCPError as error:
        assert error.code == types.INVALID_PARAMS, error
    else:
        raise AssertionError("a tool that does not exist was called")


async def cancels(client: Client) -> None:
    """Cancelled as soon as it has begun; then nothing works any more."""
    begun = anyio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        begun.set()

    async with anyio.create_task_group() as group:
        group.start_soon(lambda: client.call_tool("Task", ENDLESS, progress_callback=hear))
        await begun.wait()
        group.cancel_scope.cancel()
    while True:
        listed = text_of(await client.call_tool("SubagentList", {}))
        if "cancelled" in listed and "running" not in listed:
            return
        await anyio.sleep(0.05)


async def uses_tasks(client: Client, tasks: Tasks) -> None:
    result = await client.call_tool("Task", WORK)
    assert REPORT in text_of(result) and tasks.seen, (result, tasks.seen)
    handle = await client.session.call_tool("Task", ENDLESS, allow_claimed=True)
    await client.session.send_request(CancelTask(params=TaskParams(task_id=handle.task_id)), types.EmptyResult)
    assert (await ended(client.session, handle.task_id)).status == "cancelled"


async def connected(stack: AsyncExitStack, place: dict[str, Any], transport: str, **options: Any) -> Client:
    if transport == "stdio":
        server: Any = StdioServerParameters(
            command=place["program"], args=["mcp"], env=place["environment"], cwd=place["workspace"]
        )
    else:
        headers = {"Authorization": f"Bearer {place['token']}"}
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=PATIENCE))
        server = streamable_http_client(place["url"], http_client=http)
    return await stack.enter_async_context(Client(server, read_timeout_seconds=PATIENCE, **options))


async def meet(place: dict[str, Any], transport: str, mode: str) -> None:
    async with AsyncExitStack() as stack:
        client = await connected(stack, place, transport, mode=mode)
        for check in (lists, calls, refuses, cancels):
            await check(client)
            print(f"{transport}, {client.protocol_version}: {check.__name__}", flush=True)
    # Results that an extension claims exist in the newest revision only.
    if mode != "legacy":
        async with AsyncExitStack() as stack:
            tasks = Tasks()
            client = await connected(stack, place, transport, mode=mode, extensions=[tasks])
            await client.list_tools()
            await uses_tasks(client, tasks)
            print(f"{transport}, {client.protocol_version}: {uses_tasks.__name__}", flush=True)


async def main() -> None:
    place = json.load(sys.stdin)
    for transport in ("stdio", "http"):
        for mode in ("legacy", "auto"):
            with anyio.fail_after(PATIENCE):
                await meet(place, transport, mode)


asyncio.run(main())
