"""Reads every skill of a server with FastMCP, which checks each file against what the server said of it.

usage: skills.py URL | skills.py COMMAND [ARG...]
"""

import asyncio
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.skills import SkillsClientExtension


async def main(target, *args):
    where = target if target.startswith("http:") else StdioTransport(command=target, args=list(args))
    async with Client(where, extensions=[SkillsClientExtension()]) as client:
        for entry in await client.list_skills():
            skill = await client.read_skill(entry.uri)
            print("verified", entry.uri, len(entry.resources), skill.name)
        result = await client.call_tool("skill", {"skill_name": "hello"})
        print("activated", result.data if result.data is not None else result.structured_content)


asyncio.run(main(*sys.argv[1:]))
