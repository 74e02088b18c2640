"""Holds the conversation of a plan with the client of the examples: sixty.py FOLDER_OF_CLIENT PLAN."""
import json
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
from client import Agent


def decider(asked):
    def decide(text, **_):
        if not asked or not text.startswith(asked[0][0]):
            sys.exit(f"asked was {text!r}, expected {asked}")
        return asked.pop(0)[1]

    return decide


with open(sys.argv[2], encoding="utf-8") as file:
    plan = json.load(file)
agent, conversation = Agent(), ""
for number, turn in enumerate(plan, 1):
    ended = {}
    for line in agent.ask(turn["prompt"], decider(turn["asked"])):
        if line["type"] == "error":
            sys.exit(f"turn {number}: {line}")
        if turn["kill"] and line["type"] == "output" and "begun" in line["text"]:
            agent.process.kill()
            agent.process.wait()
            agent = Agent("--resume", conversation)
            break
        if line["type"] == "end":
            ended = line
            conversation = line["conversation"]
    if turn["asked"]:
        sys.exit(f"turn {number}: was not asked {turn['asked']}")
    if not turn["kill"] and ended["run"]["answer"] != f"Turn {number} is done.":
        sys.exit(f"turn {number}: {ended}")
    if turn["undo"]:
        subprocess.run(["agent", "undo", "--yes", "--json"], check=True)
agent.process.stdin.close()
for _ in agent.process.stdout:
    pass
sys.exit(agent.process.wait())
