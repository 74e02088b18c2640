#!/usr/bin/env python3
# /// script
# requires-python = ">=3.9"
# dependencies = ["httpx>=0.27,<1", "click>=8.1,<9"]
# ///
"""One Kalshi series: the template of events that come again.

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


def texts(value: Any) -> list:
    """Return the texts of a list; empty if value is not a list."""
    return [clean(item, 80) for item in value if isinstance(item, str)] if isinstance(value, list) else []


def show_sources(series: dict) -> None:
    """Print the sources that settle the events of the series."""
    sources = objects(series.get("settlement_sources"))
    if sources:
        click.echo("Settlement sources")
    for source in sources[:10]:
        click.echo(f"  {clean(source.get('name'), 80) or '-'}")
        if clean(source.get("url")):
            click.echo(f"    {clean(source.get('url'), 300)}")


def show(series: dict) -> None:
    """Print the series for a person."""
    click.echo(f"Series {clean(series.get('ticker'), 80)}")
    if clean(series.get("title")):
        click.echo(f"  {clean(series.get('title'), 200)}")
    facts = [
        ("Category", clean(series.get("category"), 60)),
        ("Frequency", clean(series.get("frequency"), 60)),
        ("Tags", clean(", ".join(texts(series.get("tags"))), 200)),
        ("Fees", clean(series.get("fee_type"), 60)),
        ("Volume", count(series, "volume").strip("-")),
        ("Contract", clean(series.get("contract_url"), 300)),
        ("Terms", clean(series.get("contract_terms_url"), 300)),
    ]
    for label, text in facts:
        if text:
            click.echo(f"  {label + ':':10} {text}")
    show_sources(series)
    prohibitions = texts(series.get("additional_prohibitions"))
    if prohibitions:
        click.echo("Who may not trade")
        for text in prohibitions[:10]:
            click.echo(f"  {text}")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("series_ticker", callback=check_ticker)
@click.option("--json", "as_json", is_flag=True, help="Print the answer of the API as JSON, nothing else.")
def main(series_ticker: str, as_json: bool) -> None:
    """Show one series: category, frequency, tags, contract and settlement sources.

    SERIES_TICKER is a series' ticker in capital letters, such as KXHIGHNY: the first part of the
    tickers of its events and markets. series_list.py finds series; their markets are listed by
    markets.py --series-ticker.

    \b
    JSON: series   ticker, title, category, frequency, tags, settlement_sources (name, url),
                   contract_url, contract_terms_url, fee_type, fee_multiplier, ...

    \b
    Examples:
      series.py KXHIGHNY
      series.py KXHIGHNY --json
    """
    try:
        with connect() as client:
            data = get(client, f"/series/{series_ticker}", {}, time.monotonic() + BUDGET)
        series = data.get("series")
        if not isinstance(series, dict):
            raise KalshiError("the answer of the API holds no series")
        if as_json:
            emit(data)
        else:
            show(series)
    except KalshiError as error:
        fail(f"Series not found: {series_ticker}" if error.status == 404 else str(error), as_json)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    main()
