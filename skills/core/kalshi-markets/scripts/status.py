#!/usr/bin/env python3
# /// script
# requires-python = ">=3.9"
# dependencies = ["httpx>=0.27,<1", "click>=8.1,<9"]
# ///
"""Is the Kalshi exchange open, and can one trade now?

This file stands alone. It reads public data of the Kalshi API: no account, no key, no orders.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import unicodedata
from datetime import datetime, timezone
from typing import Any

import click
import httpx

API_BASE = "https://api.elections.kalshi.com/trade-api/v2"
AGENT = "agent-base-kalshi-markets/1.0"
BUDGET = 30.0  # seconds for one run, repeated requests included
PAUSES = (0.25, 0.5, 1.0, None)  # seconds before asking again after 429 and 5xx; None: give up
MAX_BODY = 32 * 1024 * 1024  # bytes of one answer
HALTED = (500, 503, 504)  # a halted exchange says so with one of these and an ordinary body


class KalshiError(Exception):
    """A failure in one line; status is the HTTP status of the answer, or 0."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


def connect() -> httpx.Client:
    """Make the client. KALSHI_API_BASE replaces the address of the API."""
    base = os.environ.get("KALSHI_API_BASE") or API_BASE
    headers = {"Accept": "application/json", "User-Agent": AGENT}
    try:
        return httpx.Client(base_url=base, headers=headers)
    except (httpx.InvalidURL, ValueError, OSError) as error:
        raise KalshiError(f"cannot talk to {clean(base, 100)}: {clean(str(error), 200)}") from None


def get(client: httpx.Client, path: str, params: dict, deadline: float) -> dict:
    """Request one JSON object; after 429 and 5xx wait and try again while there is time."""
    for pause in PAUSES:
        limit = max(1.0, min(20.0, deadline - time.monotonic()))
        body = bytearray()
        try:
            with client.stream("GET", path, params=params, timeout=limit) as reply:
                for chunk in reply.iter_bytes():
                    body += chunk
                    if len(body) > MAX_BODY or time.monotonic() > deadline:
                        raise KalshiError(f"no whole answer in time, or above {MAX_BODY} bytes")
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise KalshiError(f"Network error: {clean(str(error) or repr(error), 200)}") from None
        code = reply.status_code
        if code == 200 or (code in HALTED and is_status(bytes(body))):
            return decode(bytes(body))
        if pause is not None and (code == 429 or code >= 500):
            asked = re.fullmatch("[0-9]{1,4}", reply.headers.get("Retry-After", ""))
            wait = max(pause, float(asked.group()) if asked else 0.0)
            if time.monotonic() + wait < deadline:
                time.sleep(wait)
                continue
        break
    text = clean(body[:2000].decode("utf-8", "replace"), 300)
    raise KalshiError(f"API error: {code} - {text or 'no text'}", code)


def decode(body: bytes) -> dict:
    """Read a JSON object; NaN and Infinity, which are not JSON, become null."""
    try:
        data = json.loads(body, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise KalshiError("the API did not answer with JSON") from None
    if not isinstance(data, dict):
        raise KalshiError("the API did not answer with a JSON object")
    return data


def clean(value: Any, width: int = 0) -> str:
    """Return foreign text for a terminal: one line, no control or invisible characters, cut to width."""
    if not isinstance(value, (str, int, float)):
        return ""
    text = " ".join(str(value)[:4000].split())
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cf", "Co", "Cs"))
    return text[: width - 3] + "..." if 0 < width < len(text) else text


def emit(data: Any) -> None:
    """Print one JSON document, in ASCII."""
    try:
        click.echo(json.dumps(data, indent=2, allow_nan=False))
    except (RecursionError, ValueError):
        raise KalshiError("the answer of the API cannot be written as JSON") from None


def fail(message: str, as_json: bool) -> None:
    """Exit with code 1: one line on stderr and, for a program, an object on stdout."""
    if as_json:
        click.echo(json.dumps({"error": message}, indent=2))
    click.echo(f"Error: {message}", err=True)
    sys.exit(1)


def when(value: Any) -> str:
    """Return a time of the API (RFC 3339) in UTC, to the second; anything else as text."""
    try:
        moment = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
        return moment.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError):
        return clean(value, 40) or "-"


def is_status(body: bytes) -> bool:
    """Distinguish the answer of a halted exchange from an error of the API."""
    try:
        return "trading_active" in decode(body)
    except KalshiError:
        return False


def word(value: Any) -> str:
    """A flag of the API as a word."""
    if isinstance(value, bool):
        return "active" if value else "inactive"
    return "unknown"


def resumes(value: Any) -> str:
    """The time at which trading should resume, and how far away that is."""
    text = when(value)
    try:
        moment = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
        minutes = int((moment - datetime.now(timezone.utc)).total_seconds() // 60)
    except (ValueError, TypeError, OverflowError):
        return text
    if minutes < 0:
        return f"{text} (already past)"
    hours, minutes = divmod(minutes, 60)
    return f"{text} (in {hours} h {minutes:02d} min)"


def show(data: dict) -> None:
    """Print the status for a person."""
    exchange, trading = word(data.get("exchange_active")), word(data.get("trading_active"))
    click.echo("Kalshi exchange status")
    click.echo(f"  Exchange: {exchange}")
    click.echo(f"  Trading:  {trading}")
    resume = data.get("exchange_estimated_resume_time")
    if resume:
        click.echo(f"  Resumes:  {resumes(resume)}")
    if exchange == "active" and trading == "inactive":
        click.echo("\nThe exchange is up, but no orders are matched now.")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--check", is_flag=True, help="Exit with 3 when trading is not active.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer of the API as JSON, nothing else.")
def main(check: bool, as_json: bool) -> None:
    """Show whether the Kalshi exchange is open and whether trading is active.

    Takes no arguments. A halted exchange is an answer, not an error: the exit code is 0 for
    every status that could be read and 1 only when there was none. --check adds the code 3, for
    shell scripts that must not go on while trading is halted.

    \b
    JSON: exchange_active   true or false
          trading_active    true or false
          exchange_estimated_resume_time   a time (RFC 3339) or null

    \b
    Examples:
      status.py
      status.py --json
    """
    try:
        with connect() as client:
            data = get(client, "/exchange/status", {}, time.monotonic() + BUDGET)
        if as_json:
            emit(data)
        else:
            show(data)
        if check and data.get("trading_active") is not True:
            sys.exit(3)
    except KalshiError as error:
        fail(str(error), as_json)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    main()
