#!/usr/bin/env python3
# /// script
# requires-python = ">=3.9"
# dependencies = ["httpx>=0.27,<1", "click>=8.1,<9"]
# ///
"""List Kalshi markets, with filters.

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


def count(item: dict, name: str) -> str:
    """Return a number of contracts: from <name>_fp, or from the older integer."""
    value = number(item.get(name + "_fp"))
    value = number(item.get(name)) if value is None else value
    return "-" if value is None else f"{value.normalize():,f}"


def objects(value: Any) -> list:
    """Return the objects of a list; empty if value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def show_cursor(data: dict) -> None:
    """Print how to get the next page, if there is one."""
    cursor = clean(data.get("cursor"))
    if cursor:
        click.echo(f"\nMore results: add --cursor {cursor}")


def show_market(index: int, market: dict) -> None:
    """Print one market in at most five lines."""
    click.echo(f"\n{index:3}. {clean(market.get('ticker'), 80)}  [{clean(market.get('status'), 20) or '-'}]")
    title = clean(market.get("title")) or clean(market.get("yes_sub_title"))
    if title:
        click.echo(f"     {clean(title, 90)}")
    subtitle = clean(market.get("subtitle")) or clean(market.get("yes_sub_title"))
    if subtitle and subtitle != title:
        click.echo(f"     {clean(subtitle, 90)}")
    prices = [price(market, name) for name in ("yes_bid", "yes_ask", "last_price")]
    volumes = [count(market, name) for name in ("volume_24h", "volume")]
    click.echo(f"     YES bid {prices[0]}, ask {prices[1]}, last {prices[2]}")
    click.echo(f"     Volume in 24 h {volumes[0]}, in all {volumes[1]} contracts")


def show(data: dict) -> None:
    """Print a page of markets for a person."""
    markets = objects(data.get("markets"))
    click.echo(f"Kalshi markets: {len(markets)} on this page")
    for index, market in enumerate(markets, start=1):
        show_market(index, market)
    if not markets:
        click.echo("No market fits. Other filters, or --status all, may find some.")
    show_cursor(data)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Most markets.")
@click.option(
    "--status",
    type=click.Choice(["unopened", "open", "paused", "closed", "settled", "all"]),
    default="open",
    show_default=True,
    help="Only markets in this state.",
)
@click.option("--event-ticker", help="Only markets of this event, such as KXHIGHNY-25DEC31.")
@click.option("--series-ticker", help="Only markets of this series, such as KXHIGHNY.")
@click.option("--tickers", help="Only these markets: tickers with commas between them.")
@click.option(
    "--mve-filter",
    type=click.Choice(["only", "exclude"]),
    help="Only combined (multivariate) markets, or none of them.",
)
@click.option("--cursor", help="Where to go on: the cursor of the page before.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer of the API as JSON, nothing else.")
def main(as_json: bool, **filters: Any) -> None:
    """List Kalshi markets, one page at a time.

    Prices are in cents: 42¢ means that the market gives YES about 42 %. Volumes are contracts.
    Without filters the order is the exchange's own, not by interest: to find a market by a word
    use search.py. An object's status "active" is what --status calls "open".

    \b
    JSON: markets   list of markets
          cursor    for --cursor, empty on the last page

    \b
    Examples:
      markets.py --limit 5
      markets.py --series-ticker KXHIGHNY --json
      markets.py --tickers KXELONMARS-99 --status all --json
    """
    if filters["status"] == "all":
        filters["status"] = None
    params = {name: value for name, value in filters.items() if value not in (None, "")}
    try:
        with connect() as client:
            data = get(client, "/markets", params, time.monotonic() + BUDGET)
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
