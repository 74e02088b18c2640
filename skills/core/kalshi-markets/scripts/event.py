#!/usr/bin/env python3
# /// script
# requires-python = ">=3.9"
# dependencies = ["httpx>=0.27,<1", "click>=8.1,<9"]
# ///
"""One Kalshi event and its markets.

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


def check_ticker(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    """Accept only what can be one segment of an address."""
    if re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}", value):
        return value
    raise click.BadParameter("a ticker has letters, digits, '-', '_' and '.' only")


def markets_of(data: dict, event: dict) -> list:
    """Return the event's markets: inside the event if nested ones were requested, else next to it."""
    return objects(event.get("markets")) or objects(data.get("markets"))


def show_market(market: dict) -> None:
    """Print one market of the event in two lines."""
    ticker, status = clean(market.get("ticker"), 80), clean(market.get("status"), 20)
    name = clean(market.get("yes_sub_title")) or clean(market.get("subtitle")) or clean(market.get("title"))
    click.echo(f"  {ticker}  [{status or '-'}]  {clean(name, 60)}")
    bid, ask, last = (price(market, name) for name in ("yes_bid", "yes_ask", "last_price"))
    click.echo(f"    YES bid {bid}, ask {ask}, last {last}; 24 h {count(market, 'volume_24h')} contracts")


def show(data: dict, event: dict, most: int) -> None:
    """Print the event for a person."""
    click.echo(f"Event {clean(event.get('event_ticker'), 80)}")
    for name in ("title", "sub_title"):
        if clean(event.get(name)):
            click.echo(f"  {clean(event.get(name), 200)}")
    click.echo(f"  Series:   {clean(event.get('series_ticker'), 80) or '-'}")
    click.echo(f"  Category: {clean(event.get('category'), 40) or '-'}")
    if isinstance(event.get("mutually_exclusive"), bool):
        click.echo(f"  Mutually exclusive: {'yes' if event['mutually_exclusive'] else 'no'}")
    strike = clean(event.get("strike_date"), 40) or clean(event.get("strike_period"), 40)
    if strike:
        click.echo(f"  Strike:   {strike}")
    markets = markets_of(data, event)
    click.echo(f"Markets: {len(markets)}")
    for market in markets[:most]:
        show_market(market)
    if len(markets) > most:
        click.echo(f"  ... {len(markets) - most} more: add --with-markets")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("event_ticker", callback=check_ticker)
@click.option("--with-markets", is_flag=True, help="All markets; in the JSON they are inside the event.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer of the API as JSON, nothing else.")
def main(event_ticker: str, with_markets: bool, as_json: bool) -> None:
    """Show one event: its title, series and markets.

    EVENT_TICKER is an event's ticker in capital letters, such as KXHIGHNY-25DEC31: the ticker of
    one of its markets without the last part. Without --with-markets a person sees the first ten
    markets. Prices are in cents, volumes in contracts.

    \b
    JSON: event     event_ticker, series_ticker, title, sub_title, mutually_exclusive, ...
          markets   next to the event; with --with-markets inside it (event.markets)

    \b
    Examples:
      event.py KXHIGHNY-25DEC31
      event.py KXHIGHNY-25DEC31 --with-markets --json
    """
    params = {"with_nested_markets": "true"} if with_markets else {}
    try:
        with connect() as client:
            data = get(client, f"/events/{event_ticker}", params, time.monotonic() + BUDGET)
        event = data.get("event")
        if not isinstance(event, dict):
            raise KalshiError("the answer of the API holds no event")
        if as_json:
            emit(data)
        else:
            show(data, event, 1000 if with_markets else 10)
    except KalshiError as error:
        fail(f"Event not found: {event_ticker}" if error.status == 404 else str(error), as_json)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    main()
