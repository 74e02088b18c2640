"""A server of FastMCP: over stdio, or over HTTP with its address on standard output: server.py [http]."""
import asyncio
import socket
import sys
import threading
import time
from dataclasses import dataclass

from fastmcp import Context, FastMCP

mcp = FastMCP("fastmcp", version="1", instructions="Be kind.")


@dataclass
class Who:
    name: str


@mcp.tool(description="Greets", annotations={"readOnlyHint": True})
def greet(name: str) -> str:
    return f"hello {name}"


@mcp.tool(description="Fails")
def fail() -> str:
    raise ValueError("no tea today")


@mcp.tool(description="Tells how far it is")
async def slow(ctx: Context) -> str:
    await ctx.report_progress(1, 2, "half")
    await asyncio.sleep(0.3)
    return "done"


async def ask(ctx: Context):
    from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

    answers = ctx.input_responses
    if answers:
        return f"you are {answers['who'].content['name']}"
    form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    return InputRequiredResult(input_requests={"who": ElicitRequest(params=ElicitRequestFormParams(message="Who?", requested_schema=form))})


async def ask_old(ctx: Context):
    got = await ctx.elicit("Who?", response_type=Who)
    return f"you are {got.data.name}" if got.action == "accept" else got.action


# FastMCP before 4 knows only the revisions in which a server asks by a request of its own.
mcp.tool(ask if hasattr(Context, "input_responses") else ask_old, name="ask", description="Asks")


@mcp.tool(description="Adds a tool")
async def more(ctx: Context) -> str:
    mcp.tool(late)
    return "added"


def late() -> str:
    return "late"


@mcp.prompt(description="Begins")
def hello(who: str) -> str:
    return f"Say hello to {who}"


@mcp.resource("demo://note", mime_type="text/plain")
def note() -> str:
    return "a note"


def announce(port: int) -> None:
    """Prints the address when the server answers."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            time.sleep(0.05)
    print(f"http://127.0.0.1:{port}/mcp", flush=True)


if sys.argv[1:] == ["http"]:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    threading.Thread(target=announce, args=(free,), daemon=True).start()
    mcp.run(transport="http", host="127.0.0.1", port=free, path="/mcp", show_banner=False)
else:
    mcp.run(show_banner=False)
