#!/usr/bin/env python3
# /// script
# requires-python = ">=3.9"
# dependencies = ["httpx>=0.27,<1", "click>=8.1,<9"]
# ///
"""List Kalshi events: questions that group markets.

This file stands alone. It reads public data of the Kalshi API: no account, no key, no orders.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import unicodedata
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


def objects(value: Any) -> list:
    """Return the objects of a list; empty if value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def show_cursor(data: dict) -> None:
    """Print how to get the next page, if there is one."""
    cursor = clean(data.get("cursor"))
    if cursor:
        click.echo(f"\nMore results: add --cursor {cursor}")


def show_event(index: int, event: dict, with_markets: bool) -> None:
    """Print one event, and the markets nested in it if they were asked for."""
    click.echo(f"\n{index:3}. {clean(event.get('event_ticker'), 80)}")
    for name in ("title", "sub_title"):
        if clean(event.get(name)):
            click.echo(f"     {clean(event.get(name), 90)}")
    category, series = clean(event.get("category"), 40), clean(event.get("series_ticker"), 80)
    click.echo(f"     Category: {category or '-'}   Series: {series or '-'}")
    if event.get("mutually_exclusive") is True:
        click.echo("     At most one of its markets can resolve to YES")
    if not with_markets:
        return
    markets = objects(event.get("markets"))
    click.echo(f"     Markets: {len(markets)}")
    for market in markets[:5]:
        name = clean(market.get("yes_sub_title")) or clean(market.get("title"))
        bid, ask = price(market, "yes_bid"), price(market, "yes_ask")
        click.echo(f"       {clean(market.get('ticker'), 80)}  YES {bid} / {ask}  {clean(name, 50)}")
    if len(markets) > 5:
        click.echo(f"       ... {len(markets) - 5} more: see event.py")


def show(data: dict, with_markets: bool) -> None:
    """Print a page of events for a person."""
    events = objects(data.get("events"))
    click.echo(f"Kalshi events: {len(events)} on this page")
    for index, event in enumerate(events, start=1):
        show_event(index, event, with_markets)
    if not events:
        click.echo("No event fits.")
    show_cursor(data)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--limit", type=click.IntRange(1, 200), default=10, show_default=True, help="Most events.")
@click.option("--status", type=click.Choice(["open", "closed", "settled"]), help="Only events in this state.")
@click.option("--series-ticker", help="Only events of this series, such as KXHIGHNY.")
@click.option("--with-markets", is_flag=True, help="Each event with its markets inside; keep --limit small.")
@click.option("--cursor", help="Where to go on: the cursor of the page before.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer of the API as JSON, nothing else.")
def main(with_markets: bool, as_json: bool, **filters: Any) -> None:
    """List events, one page at a time.

    An event is a question, such as the temperature in New York on a day; its markets are the
    possible answers. An event has no status of its own: --status looks at its markets.

    \b
    JSON: events   list: event_ticker, series_ticker, title, sub_title, category,
                   mutually_exclusive, and markets with --with-markets
          cursor   for --cursor, empty on the last page

    \b
    Examples:
      events.py --status open --limit 5
      events.py --series-ticker KXHIGHNY --with-markets --json
    """
    params = {name: value for name, value in filters.items() if value not in (None, "")}
    if with_markets:
        params["with_nested_markets"] = "true"
    try:
        with connect() as client:
            data = get(client, "/events", params, time.monotonic() + BUDGET)
        if as_json:
            emit(data)
        else:
            show(data, with_markets)
    except KalshiError as error:
        fail(str(error), as_json)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    main()
