#!/usr/bin/env python3
"""Prints the rows and columns of a CSV file."""
import argparse
import csv
import json
import sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file", nargs="?", help="the file; standard input without it")
parser.add_argument("--json", action="store_true", help="print JSON")
args = parser.parse_args()
with open(args.file) if args.file else sys.stdin as f:
    rows = list(csv.reader(f))
result = {"rows": max(0, len(rows) - 1), "columns": rows[0] if rows else []}
print(json.dumps(result) if args.json else f"{result['rows']} rows: {', '.join(result['columns'])}")
