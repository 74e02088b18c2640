#!/usr/bin/env python3
# /// script
# requires-python = ">=3.9"
# dependencies = ["httpx>=0.27,<1", "click>=8.1,<9"]
# ///
"""Everything about one Kalshi market.

This file stands alone. It reads public data of the Kalshi API: no account, no key, no orders.
"""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
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


def check_ticker(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    """Accept only what can be one segment of an address."""
    if re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}", value):
        return value
    raise click.BadParameter("a ticker has letters, digits, '-', '_' and '.' only")


def show_prices(market: dict) -> None:
    """Print both sides of the market, the last trade and the activity."""
    click.echo("Prices")
    for side in ("yes", "no"):
        bid, ask = price(market, side + "_bid"), price(market, side + "_ask")
        click.echo(f"  {side.upper():4} bid {bid:>6}   ask {ask:>6}")
    click.echo(f"  Last {price(market, 'last_price'):>10}   before {price(market, 'previous_price')}")
    click.echo("Activity (contracts)")
    click.echo(f"  24 hours {count(market, 'volume_24h')}, total {count(market, 'volume')}")
    click.echo(f"  Open interest {count(market, 'open_interest')}")
    dollars, cents = number(market.get("liquidity_dollars")), number(market.get("liquidity"))
    liquidity = dollars or (cents or 0) / 100
    if liquidity:
        click.echo(f"  Liquidity ${liquidity:,.2f}")


def show(market: dict) -> None:
    """Print the market for a person."""
    click.echo(f"Market {clean(market.get('ticker'), 80)}")
    lines = []
    for name in ("title", "subtitle", "yes_sub_title"):
        text = clean(market.get(name), 200)
        if text and text not in lines:
            lines.append(text)
    for text in lines:
        click.echo(f"  {text}")
    click.echo(f"  Status: {clean(market.get('status'), 20) or '-'}")
    click.echo(f"  Event:  {clean(market.get('event_ticker'), 80) or '-'}")
    show_prices(market)
    click.echo("Schedule")
    expires = market.get("latest_expiration_time") or market.get("expiration_time")
    click.echo(f"  Opens:   {when(market.get('open_time'))}")
    click.echo(f"  Closes:  {when(market.get('close_time'))}")
    click.echo(f"  Expires: {when(expires)}")
    if market.get("result"):
        click.echo(f"Result: {clean(market.get('result'), 40)}")
    rules = textwrap.wrap(clean(market.get("rules_primary")), 90)
    if rules:
        click.echo("Rules")
        for line in rules[:6]:
            click.echo(f"  {line}")
        if len(rules) > 6:
            click.echo("  ... (--json has the whole text)")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("ticker", callback=check_ticker)
@click.option("--json", "as_json", is_flag=True, help="Print the market as JSON, nothing else.")
def main(ticker: str, as_json: bool) -> None:
    """Show one market: prices, activity, schedule, result and rules.

    TICKER is a market's ticker in capital letters, such as KXELONMARS-99. search.py, markets.py
    and event.py find tickers. Prices are in cents: 42¢ means that the market gives YES about
    42 %.

    \b
    JSON: the market's own object: ticker, event_ticker, status, result, rules_primary, ...
          Prices are strings in dollars (yes_bid_dollars "0.4200"), numbers of contracts are
          strings too (volume_fp "19920.00"). Older answers have integers (yes_bid 42).

    \b
    Examples:
      market.py KXELONMARS-99
      market.py KXELONMARS-99 --json
    """
    try:
        with connect() as client:
            data = get(client, f"/markets/{ticker}", {}, time.monotonic() + BUDGET)
        market = data.get("market")
        if not isinstance(market, dict):
            raise KalshiError("the answer of the API holds no market")
        if as_json:
            emit(market)
        else:
            show(market)
    except KalshiError as error:
        fail(f"Market not found: {ticker}" if error.status == 404 else str(error), as_json)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    main()
