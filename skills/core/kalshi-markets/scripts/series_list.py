#!/usr/bin/env python3
# /// script
# requires-python = ">=3.9"
# dependencies = ["httpx>=0.27,<1", "click>=8.1,<9"]
# ///
"""List Kalshi series: templates of events that come again.

This file stands alone. It reads public data of the Kalshi API: no account, no key, no orders.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import unicodedata
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


def objects(value: Any) -> list:
    """Return the objects of a list; empty if value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts(value: Any) -> list:
    """Return the texts of a list; empty if value is not a list."""
    return [clean(item, 40) for item in value if isinstance(item, str)] if isinstance(value, list) else []


def holds(item: dict, text: str) -> bool:
    """Report whether the series' title or ticker contains the text."""
    return any(text.casefold() in clean(item.get(key)).casefold() for key in ("title", "ticker"))


def show_categories(series: list) -> None:
    """Print how many series each category has."""
    counts: dict[str, int] = {}
    for item in series:
        category = clean(item.get("category"), 40) or "(none)"
        counts[category] = counts.get(category, 0) + 1
    click.echo("By category")
    for category in sorted(counts):
        click.echo(f"  {counts[category]:6}  {category}")


def show(series: list, most: int) -> None:
    """Print the series for a person, the first ones in full."""
    click.echo(f"Kalshi series: {len(series)} in all")
    if not series:
        click.echo("No series fits. Category names are case-sensitive, such as Crypto.")
        return
    show_categories(series)
    shown = series[:most]
    click.echo(f"First {len(shown)}")
    for item in shown:
        click.echo(f"  {clean(item.get('ticker'), 80)}  {clean(item.get('title'), 70)}")
        frequency, tags = clean(item.get("frequency"), 30), ", ".join(texts(item.get("tags"))[:6])
        click.echo(f"    {frequency or '-'}{'; ' if tags else ''}{clean(tags, 80)}")
    if len(series) > most:
        click.echo(f"... and {len(series) - most} more: raise --limit, or narrow with --category or --tags")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--category", help="Only series of this category, such as Crypto.")
@click.option("--tags", help="Only series with these tags: tags with commas between them.")
@click.option("--match", help="Only series with this text in the title or ticker; capitals do not matter.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    help="Most series to show; 0 for all, which is several megabytes of JSON.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, nothing else.")
def main(category: str | None, tags: str | None, match: str | None, limit: int, as_json: bool) -> None:
    """List series: templates such as "highest temperature in New York", with events every day.

    The API sends all series that fit at once, some thousands without a filter. --limit cuts what
    is shown; the totals count all of them.

    \b
    JSON: series   list: ticker, title, category, frequency, tags, settlement_sources, ...
          total    number of series that fit; larger than the list when --limit cut it

    \b
    Examples:
      series_list.py --category Crypto
      series_list.py --match temperature
      series_list.py --tags BTC,Daily --limit 5 --json
    """
    filters = {"category": category, "tags": tags}
    params = {name: value for name, value in filters.items() if value}
    try:
        with connect() as client:
            data = get(client, "/series", params, time.monotonic() + BUDGET)
        series = objects(data.get("series"))
        if match:
            series = [item for item in series if holds(item, match)]
        most = limit or len(series)
        if as_json:
            emit({**data, "series": series[:most], "total": len(series)})
        else:
            show(series, most)
    except KalshiError as error:
        fail(str(error), as_json)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    main()
