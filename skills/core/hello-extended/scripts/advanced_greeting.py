#!/usr/bin/env python3
# /// script
# requires-python = ">=3.9"
# dependencies = ["click>=8.1,<9"]
# ///
"""Greet somebody in a style, fitting the time of day if that is wanted.

This file stands alone: an example of a script that a skill can bring.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from datetime import datetime

import click

OPENINGS = {"formal": "Dear {}.", "casual": "Hey {}!", "enthusiastic": "Hello {}!"}
TIMED = {"formal": "{}, {}.", "casual": "{}, {}!", "enthusiastic": "{}, {}!"}
REST = {
    "formal": "I hope this message finds you well.",
    "casual": "How's it going?",
    "enthusiastic": "Great to see you!",
}


def check_name(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    """A name of one line, without control or invisible characters."""
    name = "".join(c for c in " ".join(value.split()) if unicodedata.category(c)[0] != "C")
    if not name:
        raise click.BadParameter("a name must not be empty")
    return name


def part_of_day(hour: int) -> str:
    """The salutation for an hour of the day, 0 to 23."""
    if hour < 12:
        return "Good morning"
    return "Good afternoon" if hour < 18 else "Good evening"


def greet(name: str, style: str, hour: int | None) -> str:
    """The greeting; hour is None when it shall not depend on the time."""
    if hour is None:
        opening = OPENINGS[style].format(name)
    else:
        opening = TIMED[style].format(part_of_day(hour), name)
    return f"{opening} {REST[style]}"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--name", required=True, callback=check_name, help="Who is greeted.")
@click.option(
    "--style",
    type=click.Choice(["formal", "casual", "enthusiastic"]),
    default="casual",
    show_default=True,
    help="The tone.",
)
@click.option("--time-aware", is_flag=True, help="Say good morning, afternoon or evening.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")
def main(name: str, style: str, time_aware: bool, as_json: bool) -> None:
    """Greet somebody in a style.

    \b
    JSON: greeting     the text
          name, style  as asked for
          time_aware   true or false
          timestamp    the local time (ISO 8601) for which the greeting was made

    \b
    Examples:
      advanced_greeting.py --name Ada
      advanced_greeting.py --name Ada --style formal --time-aware --json
    """
    now = datetime.now()
    greeting = greet(name, style, now.hour if time_aware else None)
    if not as_json:
        click.echo(greeting)
        return
    facts = {"greeting": greeting, "name": name, "style": style}
    facts.update(time_aware=time_aware, timestamp=now.isoformat(timespec="seconds"))
    click.echo(json.dumps(facts, indent=2))


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    main()
