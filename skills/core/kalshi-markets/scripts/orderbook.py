#!/usr/bin/env python3
# /// script
# requires-python = ">=3.9"
# dependencies = ["httpx>=0.27,<1", "click>=8.1,<9"]
# ///
"""The resting orders of one Kalshi market.

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


def check_ticker(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    """Accept only what can be one segment of an address."""
    if re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}", value):
        return value
    raise click.BadParameter("a ticker has letters, digits, '-', '_' and '.' only")


def levels(book: dict, side: str, scale: int) -> list:
    """The levels of one side as (cents, contracts), best bid first.

    The API sends them in ascending order: the best bid is the last one.
    """
    found = []
    rows = book.get(side)
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, list) and len(row) == 2:
            cents, contracts = number(row[0]), number(row[1])
            if cents is not None and contracts is not None:
                found.append((cents * scale, contracts))
    return sorted(found, reverse=True)


def read_book(data: dict) -> tuple:
    """The YES and NO bids of either shape of the answer."""
    book = data.get("orderbook_fp")
    if isinstance(book, dict):
        return levels(book, "yes_dollars", 100), levels(book, "no_dollars", 100)
    book = data.get("orderbook")
    if isinstance(book, dict):
        return levels(book, "yes", 1), levels(book, "no", 1)
    raise KalshiError("the answer of the API holds no order book")


def show_side(name: str, side: list, most: int) -> None:
    """Print the bids of one side."""
    click.echo(f"{name} bids, best first")
    for cents, contracts in side[:most]:
        click.echo(f"  {cents.normalize():>6f}¢ {contracts.normalize():>14,f} contracts")
    if not side:
        click.echo("  (no orders)")
    if len(side) > most:
        click.echo(f"  ... {len(side) - most} more levels")


def show(ticker: str, data: dict, most: int) -> None:
    """Print both sides and what they say about the chance of YES."""
    yes, no = read_book(data)
    click.echo(f"Order book of {ticker}")
    show_side("YES", yes, most)
    show_side("NO", no, most)
    bid = yes[0][0] if yes else None
    ask = 100 - no[0][0] if no else None
    if bid is not None and ask is not None:
        middle = (bid + ask) / 2
        click.echo(f"YES: bid {bid.normalize():f}¢, implied ask {ask.normalize():f}¢")
        click.echo(f"Implied probability of YES: about {middle.normalize():f} %")
    elif bid is not None:
        click.echo(f"Implied probability of YES: {bid.normalize():f} % or more")
    elif ask is not None:
        click.echo(f"Implied probability of YES: {ask.normalize():f} % or less")
    click.echo(f"Levels: {len(yes)} YES, {len(no)} NO")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("ticker", callback=check_ticker)
@click.option(
    "--depth",
    type=click.IntRange(0, 100),
    default=10,
    show_default=True,
    help="Levels of each side, the best ones; 0 for all.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer of the API as JSON, nothing else.")
def main(ticker: str, depth: int, as_json: bool) -> None:
    """Show the order book of one market.

    TICKER is a market's ticker in capital letters, such as KXELONMARS-99. Both sides are bids: a
    NO bid at 56¢ is an offer to sell YES at 44¢. For a person the best bid comes first.

    \b
    JSON: orderbook_fp   yes_dollars and no_dollars: lists of ["0.4200", "13.00"]
          orderbook      the older form, yes and no: lists of [42, 13]
          Levels ascend in both: the best bid is the LAST one.

    \b
    Examples:
      orderbook.py KXELONMARS-99
      orderbook.py KXELONMARS-99 --depth 0 --json
    """
    params = {"depth": depth} if depth else {}
    try:
        with connect() as client:
            data = get(client, f"/markets/{ticker}/orderbook", params, time.monotonic() + BUDGET)
        if as_json:
            emit(data)
        else:
            show(ticker, data, depth or 1000)
    except KalshiError as error:
        fail(f"Market not found: {ticker}" if error.status == 404 else str(error), as_json)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    main()
