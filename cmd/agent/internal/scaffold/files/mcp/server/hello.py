#!/usr/bin/env python3
"""An MCP server with one tool, without any package: an example to replace with your server, or with the command of one."""

from __future__ import annotations

import json
import sys

TOOL = {
    "name": "{{tool}}_welcome",
    "description": "Welcome somebody by name.",
    "inputSchema": {
        "type": "object",
        "properties": {"name": {"type": "string", "description": 'who is welcomed, such as "Ada"'}},
        "required": ["name"],
    },
}


def answer(method: str, params: dict) -> dict:
    """Return the result of a request."""
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "{{name}}", "version": "0.1.0"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call" and params.get("name") == TOOL["name"]:
        text = f"Welcome, {params.get('arguments', {}).get('name', 'World')}!"
        return {"content": [{"type": "text", "text": text}]}
    if method == "ping":
        return {}
    raise LookupError(f"unknown method {method}")


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:  # a notification has no answer
            continue
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = answer(message["method"], message.get("params") or {})
        except LookupError as unknown:
            reply["error"] = {"code": -32601, "message": str(unknown)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
