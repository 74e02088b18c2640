#!/usr/bin/env python3
"""Say hello to somebody: an example to replace."""

from __future__ import annotations

import argparse
import json
import sys


def greet(name: str, times: int = 1) -> str:
    """Return a greeting for a name, repeated."""
    if times < 1:
        raise ValueError("times must be at least 1")
    return " ".join([f"Hello, {name}!"] * times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="World", help="who is greeted (default: %(default)s)")
    parser.add_argument("--times", type=int, default=1, help="how often (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    args = parser.parse_args()
    try:
        result = {"greeting": greet(args.name, args.times), "name": args.name}
    except ValueError as wrong:
        if args.json:
            print(json.dumps({"error": str(wrong)}))
        print(f"error: {wrong}", file=sys.stderr)
        return 1
    print(json.dumps(result, ensure_ascii=False) if args.json else result["greeting"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
