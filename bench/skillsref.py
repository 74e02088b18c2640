"""Measures the reference library skills-ref in process: skillsref.py ROOT ROUNDS."""

import pathlib
import statistics
import sys
import time

from skills_ref import to_prompt, validate


def measure(name, skills, rounds, work):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    print(f"{name} n={len(skills)} min={min(times):.3f}ms med={statistics.median(times):.3f}ms")


def main():
    root, rounds = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    skills = sorted(path for path in root.iterdir() if path.is_dir())
    measure("to_prompt", skills, rounds, lambda: to_prompt(skills))
    measure("validate", skills, rounds, lambda: [validate(path) for path in skills])


main()
