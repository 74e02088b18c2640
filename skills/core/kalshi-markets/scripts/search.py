#!/usr/bin/env python3
# /// script
# requires-python = ">=3.9"
# dependencies = ["httpx>=0.27,<1", "click>=8.1,<9"]
# ///
"""Find open Kalshi markets by a word, in an index that is kept for six hours."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
import time
import unicodedata
from datetime import datetime, timezone
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click
import httpx

API_BASE = "https://api.elections.kalshi.com/trade-api/v2"
AGENT = "agent-base-kalshi-markets/1.0"
PAUSES = (0.25, 0.5, 1.0, None)  # seconds before asking again after 429 and 5xx; None: give up
MAX_BODY = 32 * 1024 * 1024  # bytes of one answer
VALID = 6 * 3600  # seconds for which an index is used, counted from its start
MAX_INDEX = 64 * 1024 * 1024  # bytes of markets in the index
LOOK_IN = "title subtitle yes_sub_title ticker event_title series_title series_ticker".split()
KEEP = """ticker event_ticker title subtitle yes_sub_title status close_time yes_bid yes_bid_dollars
    yes_ask yes_ask_dollars last_price last_price_dollars volume volume_fp volume_24h volume_24h_fp
    open_interest open_interest_fp""".split()


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


def objects(value: Any) -> list:
    """Return the objects of a list; empty if value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def amount(row: dict, name: str, kind: str = "_fp", scale: int = 1) -> Decimal | None:
    """A number of a market: today's <name>_fp or <name>_dollars, else the older <name>."""
    new, old = number(row.get(name + kind)), number(row.get(name))
    return old if new is None else new * scale


def index_file() -> Path:
    """Return the path of the index: in the skill's cache directory, or in the user's."""
    own = os.environ.get("AGENT_SKILL_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(own or os.path.join(home, "kalshi-markets")) / "search-index-1.json"


def new_index(base: str) -> dict:
    """An empty index. rows are markets, series maps a ticker to title, tab, category."""
    return dict(base=base, started=int(time.time()), state="building", cursor="", bytes=0, series={}, rows=[])


def load(path: Path, fresh: dict) -> dict:
    """Return the index of an earlier run, finished or not, or a new one."""
    if not path.is_file():
        return fresh
    try:
        index = decode(path.read_bytes()) if path.stat().st_size <= MAX_INDEX + MAX_BODY else {}
        if any(type(index.get(key)) is not type(value) for key, value in fresh.items()):
            raise KalshiError("it is damaged or too large")
    except (OSError, KalshiError) as error:
        click.echo(f"note: the old index is not usable: {clean(str(error), 100)}", err=True)
        return fresh
    young = -60 < time.time() - index["started"] < VALID
    return index if young and index["base"] == fresh["base"] else fresh


def save(path: Path, index: dict) -> None:
    """Replace the file in one step, so no reader sees a part of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for old in path.parent.glob("search-index.*.tmp"):  # of a run that was killed
            if time.time() - old.stat().st_mtime > 3600:
                old.unlink()
        handle, temporary = tempfile.mkstemp(".tmp", "search-index.", path.parent)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(json.dumps(index, allow_nan=False, separators=(",", ":")))
        os.replace(temporary, path)
    except OSError as error:
        click.echo(f"note: the index cannot be kept: {clean(str(error), 200)}", err=True)


def step(client: httpx.Client, index: dict, deadline: float) -> None:
    """Read the next page of open events into the index; before the first one, all series."""
    if not index["series"]:
        for item in objects(get(client, "/series", {}, deadline).get("series")):
            text = clean(item.get("title"), 300) + "\t" + clean(item.get("category"), 80)
            index["series"][clean(item.get("ticker"), 128)] = text
    before = index["cursor"]
    params = {"limit": 100, "status": "open", "with_nested_markets": "true"}
    page = get(client, "/events", {**params, "cursor": before} if before else params, deadline)
    for event in objects(page.get("events")):
        series = clean(event.get("series_ticker"), 128)
        title, _, category = str(index["series"].get(series, "")).partition("\t")
        about = {"event_title": clean(event.get("title"), 300), "series_ticker": series}
        about.update(series_title=title, series_category=category)
        for market in objects(event.get("markets")):
            if market.get("status") in ("active", "open"):
                index["rows"].append({**{key: market[key] for key in KEEP if key in market}, **about})
                index["bytes"] += len(json.dumps(index["rows"][-1]))
    index["cursor"] = clean(page.get("cursor"))
    if not index["cursor"]:
        index["state"] = "complete"
    elif index["bytes"] >= MAX_INDEX or index["cursor"] == before:
        index["state"] = "full"


def build(index: dict, path: Path, seconds: float, again: bool = True) -> str:
    """Read pages, at least one, until all are read or time is up. Return what stopped it early."""
    stop = time.monotonic() + seconds
    try:
        with connect() as client:
            while index["state"] == "building":
                step(client, index, max(stop, time.monotonic() + 5))
                if time.monotonic() >= stop:
                    break
    except KalshiError as error:
        if error.status == 400 and index["cursor"] and again:  # too old a place to go on from
            index.update(new_index(index["base"]))
            return build(index, path, stop - time.monotonic(), again=False)
        if not index["rows"]:
            raise
        return f"; it was stopped by: {error}"
    finally:
        save(path, index)
    return ""


def answer(index: dict, keyword: str, limit: int, stopped: str) -> dict:
    """Return the markets with the keyword, most traded first, and the extent of the index."""
    rows = {clean(row.get("ticker")): row for row in objects(index["rows"])}
    word, found = keyword.casefold(), []
    for ticker, row in rows.items() if word else ():
        if any(word in clean(row.get(key)).casefold() for key in LOOK_IN):
            found.append((-(amount(row, "volume_24h") or 0), -(amount(row, "volume") or 0), ticker))
    reply = {"keyword": keyword, "complete": index["state"] == "complete", "indexed_markets": len(rows)}
    reply["indexed_at"] = datetime.fromtimestamp(index["started"], timezone.utc).isoformat()
    reply.update(matches=len(found), markets=[rows[key[2]] for key in sorted(found)[:limit]])
    if index["state"] == "full":
        reply["note"] = "the index is full: markets beyond its size limit were not looked at"
    elif not reply["complete"]:
        reply["note"] = "the index is not finished: search again, without --rebuild-cache, to go on" + stopped
    return reply


def show(reply: dict) -> None:
    """Print the answer for a person."""
    if reply["keyword"]:
        click.echo(f"Open markets with '{clean(reply['keyword'], 80)}': {reply['matches']}")
    for index, row in enumerate(reply["markets"], start=1):
        title = clean(row.get("title")) or clean(row.get("event_title"))
        click.echo(f"\n{index:3}. {clean(row.get('ticker'), 80)}  ({clean(row.get('series_title'), 60)})")
        click.echo(f"     {clean(title, 90)}  {clean(row.get('yes_sub_title'), 40)}")
        prices = [amount(row, name, "_dollars", 100) for name in ("yes_bid", "yes_ask", "last_price")]
        bid, ask, last = ("-" if p is None else f"{p.normalize():f}¢" for p in prices)
        traded = f"{amount(row, 'volume_24h') or 0:,.0f} contracts in 24 h"
        click.echo(f"     YES bid {bid}, ask {ask}, last {last}; {traded}")
    click.echo(f"\nLooked at {reply['indexed_markets']} markets, indexed at {reply['indexed_at']}.")
    if "note" in reply:
        click.echo(f"Note: {reply['note']}.")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("keyword", required=False)
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Most markets.")
@click.option("--max-seconds", type=click.FloatRange(0, 600), default=50, show_default=True, help="For the index.")
@click.option("--rebuild-cache", is_flag=True, help="Throw the index away and begin a new one.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON, nothing else.")
def main(keyword: str | None, limit: int, max_seconds: float, rebuild_cache: bool, as_json: bool) -> None:
    """Find open markets whose titles or tickers hold KEYWORD, most traded first.

    KEYWORD is plain text, not a pattern; capitals do not matter. The first search reads all open
    events into an index. When --max-seconds is too short for it, the answer says so and the next
    search goes on. After six hours the index is made anew.

    \b
    JSON: keyword, complete (false: see note), indexed_markets, indexed_at, matches (how many),
          markets (list, cut to --limit), note
    \b
    Examples:
      search.py bitcoin
      search.py "new york" --limit 5 --json
    """
    keyword = (keyword or "").strip()
    if not keyword and not rebuild_cache:
        raise click.UsageError("a KEYWORD is needed, or --rebuild-cache")
    try:
        path, index = index_file(), new_index(os.environ.get("KALSHI_API_BASE") or API_BASE)
        index = index if rebuild_cache else load(path, index)
        stopped = build(index, path, max_seconds) if index["state"] == "building" else ""
        reply = answer(index, keyword, limit, stopped)
        emit(reply) if as_json else show(reply)
    except KalshiError as error:
        fail(str(error), as_json)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so the index so far is kept
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    main()
