#!/usr/bin/env python3
# /// script
# requires-python = ">=3.9"
# dependencies = ["httpx>=0.27,<1", "click>=8.1,<9"]
# ///
"""The latest trades on Kalshi.

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
from decimal import Decimal, InvalidOperation
from typing import Any

import click
import httpx

API_BASE = "https://api.elections.kalshi.com/trade-api/v2"
AGENT = "agent-base-kalshi-markets/1.0"
BUDGET = 30.0  # seconds for one run, repeated requests included
PAUSES = (0.25, 0.5, 1.0, None)  # seconds before asking again after 429 and 5xx; None: give up
MAX_BODY = 32 * 1024 * 1024  # bytes of one answer


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
        if code == 200:
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


def number(value: Any) -> Decimal | None:
    """Return a number of either format, "0.4200" or 42, or None."""
    try:
        found = Decimal(str(value)[:40])
    except InvalidOperation:
        return None
    usable = found.is_finite() and abs(found) < 10**15
    return found.quantize(Decimal("0.0001")) if usable else None


def price(item: dict, name: str) -> str:
    """Return a price in cents: from <name>_dollars, or from the older whole cents."""
    dollars, cents = number(item.get(name + "_dollars")), number(item.get(name))
    value = cents if dollars is None else dollars * 100
    return "-" if value is None else f"{value.normalize():f}¢"


def count(item: dict, name: str) -> str:
    """Return a number of contracts: from <name>_fp, or from the older integer."""
    value = number(item.get(name + "_fp"))
    value = number(item.get(name)) if value is None else value
    return "-" if value is None else f"{value.normalize():,f}"


def when(value: Any) -> str:
    """Return a time of the API (RFC 3339) in UTC, to the second; anything else as text."""
    try:
        moment = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
        return moment.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError):
        return clean(value, 40) or "-"


def objects(value: Any) -> list:
    """Return the objects of a list; empty if value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def show_cursor(data: dict) -> None:
    """Print how to get the next page, if there is one."""
    cursor = clean(data.get("cursor"))
    if cursor:
        click.echo(f"\nMore results: add --cursor {cursor}")


def show_trade(index: int, trade: dict) -> None:
    """Print one trade: which side the taker bought, for how much, how many, when."""
    side = "NO" if trade.get("taker_side") == "no" else "YES"
    paid = price(trade, side.lower() + "_price")
    click.echo(f"\n{index:3}. {clean(trade.get('ticker'), 80)}")
    click.echo(f"     {side} at {paid}, {count(trade, 'count')} contracts")
    click.echo(f"     {when(trade.get('created_time'))}")


def show(data: dict) -> None:
    """Print a page of trades for a person."""
    trades = objects(data.get("trades"))
    click.echo(f"Kalshi trades: {len(trades)} on this page, newest first")
    for index, trade in enumerate(trades, start=1):
        show_trade(index, trade)
    if not trades:
        click.echo("No trade fits.")
    show_cursor(data)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Most trades.")
@click.option("--ticker", help="Only trades of this market, such as KXELONMARS-99.")
@click.option("--min-ts", type=click.IntRange(min=0), help="Only trades after this time, in Unix seconds.")
@click.option("--max-ts", type=click.IntRange(min=0), help="Only trades before this time, in Unix seconds.")
@click.option("--cursor", help="Where to go on: the cursor of the page before.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer of the API as JSON, nothing else.")
def main(as_json: bool, **filters: Any) -> None:
    """List recent trades, of one market or of all, one page at a time.

    The side is the taker's: "YES at 53¢" is somebody who bought YES for 53 cents a contract.

    \b
    JSON: trades   list: trade_id, ticker, count_fp, yes_price_dollars, no_price_dollars,
                   taker_side, created_time (older answers: count, yes_price, no_price)
          cursor   for --cursor, empty on the last page

    \b
    Examples:
      trades.py --limit 5
      trades.py --ticker KXELONMARS-99 --json
      trades.py --min-ts 1763500000 --max-ts 1763600000 --json
    """
    low, high = filters["min_ts"], filters["max_ts"]
    if low is not None and high is not None and low > high:
        raise click.UsageError("--min-ts is later than --max-ts")
    params = {name: value for name, value in filters.items() if value not in (None, "")}
    try:
        with connect() as client:
            data = get(client, "/markets/trades", params, time.monotonic() + BUDGET)
        if as_json:
            emit(data)
        else:
            show(data)
    except KalshiError as error:
        fail(str(error), as_json)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    main()
