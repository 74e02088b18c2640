"""An MCP server that publishes the skills of a folder: python served.py DIR."""

import sys

from fastmcp import FastMCP
from fastmcp.skills.provider import SkillsDirectoryProvider

server = FastMCP("served")
server.add_provider(SkillsDirectoryProvider(sys.argv[1]))
server.run(show_banner=False)
