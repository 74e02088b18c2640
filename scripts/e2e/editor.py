"""Drives agent acp by the Python library for editors, which checks each message against the schema of the protocol: editor.py AGENT."""

import asyncio
import os
import sys
import tempfile

from acp import PROTOCOL_VERSION, Client, RequestPermissionResponse, spawn_agent_process, text_block
from acp.schema import AllowedOutcome, ClientCapabilities, Implementation

SCRIPT = """prompt Change it
call edit_file {"file_path":"notes.txt","old_string":"one","new_string":"two"}
call todo_write {"items":[{"text":"Change","state":"completed"}]}
call bash {"command":"echo begun; sleep 600","write":true}
say Stopped.
"""
MORE = """prompt Go on
say Done.
"""


class Editor(Client):
    def __init__(self):
        self.seen, self.begun = [], asyncio.Event()

    def on_connect(self, conn):
        pass

    async def session_update(self, session_id, update, **_):
        self.seen.append(update)
        print("update", update.session_update, update.model_dump_json(exclude_none=True, by_alias=True)[:300], flush=True)
        if update.session_update == "tool_call_update" and any("\nbegun\n" in c.content.text for c in update.content or [] if c.type == "content"):
            self.begun.set()

    async def request_permission(self, session_id, tool_call, options, **_):
        print("question", tool_call.title, [(o.option_id, o.kind, o.name) for o in options], flush=True)
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=options[0].option_id))


async def run(agent, where, model, work):
    env = dict(os.environ, HOME=where)
    editor = Editor()
    async with spawn_agent_process(editor, agent, "acp", "--model", model, env=env, cwd=where) as (conn, process):
        hello = await conn.initialize(PROTOCOL_VERSION, client_capabilities=ClientCapabilities(), client_info=Implementation(name="e2e", version="1"))
        assert hello.protocol_version == 1 and hello.agent_capabilities.load_session, hello
        await work(conn, editor, where)
        process.stdin.close()
        print("exit", await asyncio.wait_for(process.wait(), 30))
    return editor


async def begins(conn, editor, where):
    session = await conn.new_session(cwd=where, mcp_servers=[])
    print("modes", [m.id for m in session.modes.available_modes], session.modes.current_mode_id)
    await conn.set_session_mode(session_id=session.session_id, mode_id="ask")
    prompt = asyncio.create_task(conn.prompt(session_id=session.session_id, prompt=[text_block("Change it")]))
    await asyncio.wait_for(editor.begun.wait(), 60)
    await conn.cancel(session_id=session.session_id)
    print("stop", (await asyncio.wait_for(prompt, 60)).stop_reason)


async def goes_on(conn, editor, where):
    sessions = (await conn.list_sessions(cwd=where)).sessions
    await conn.load_session(cwd=where, session_id=sessions[0].session_id, mcp_servers=[])
    print("replayed", [u.session_update for u in editor.seen])
    answer = await conn.prompt(session_id=sessions[0].session_id, prompt=[text_block("Go on")])
    print("stop", answer.stop_reason)


async def main(agent):
    with tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "notes.txt"), "w") as f:
            f.write("one\n")
        for name, text, work in ("first.txt", SCRIPT, begins), ("second.txt", MORE, goes_on):
            with open(os.path.join(where, name), "w") as f:
                f.write(text)
            await run(agent, where, "replay/" + f.name, work)
        print("file", open(os.path.join(where, "notes.txt")).read().strip())


asyncio.run(main(sys.argv[1]))
