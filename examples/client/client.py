"""Holds a conversation with agent over lines of JSON; docs/stream.md describes them.

    python3 client.py 'Run the tests.' 'Now fix what fails.'
"""
import json
import subprocess
import sys


class Agent:
    """One conversation. Texts in its lines are foreign: models, commands and files wrote them."""

    def __init__(self, *flags):
        self.process = subprocess.Popen(["agent", "--input-format", "json", *flags], encoding="utf-8", stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, **line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def ask(self, prompt, decide):
        """Yields the lines of one turn. decide gets each question and returns the answer; "" means no."""
        self.send(type="prompt", text=prompt)
        for text in self.process.stdout:
            line = json.loads(text)
            yield line
            if line["type"] == "question":
                self.send(type="answer", id=line["id"], answer=decide(line["text"], **line["question"]))
            elif line["type"] == "end":
                return


def decide(text, details=(), choices=(), **_):
    print("question", *map(ascii, [text, *details]), *(f"{c['answer']}={c['means']!a}" for c in choices), flush=True)
    return sys.stdin.readline().strip()


if __name__ == "__main__":
    agent = Agent()
    for prompt in sys.argv[1:]:
        for line in agent.ask(prompt, decide):
            if line["type"] in ("text", "output", "error"):
                print(line["type"], ascii(line["text"]), flush=True)
