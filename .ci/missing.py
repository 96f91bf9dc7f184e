#!/usr/bin/env python3
"""Prints one line for each missing program with what it is missing for: the targets of make that need it, and the tests that
were skipped. .ci/missing.py FILE, with the output of `go test -json`; with --again, it runs these tests again.

The output is complete even if Go did not repeat tests that have passed before: its cache keeps it.
"""

import collections
import json
import re
import shutil
import subprocess
import sys

COMPILER = subprocess.run(["go", "env", "CC"], capture_output=True, text=True, check=True).stdout.strip()
# The targets that `make verify` leaves out without a program; `make test-missing` makes them.
TARGETS = {"node": ["make test-js"], "npm": ["make lint-scripts"], COMPILER: ["make test-race", "make words"]}


def skips(file):
    """Yields the program, the package and the name of each test that was skipped for a program."""
    needed = {}
    with open(file, encoding="utf-8") as lines:
        for event in map(json.loads, lines):
            test = event.get("Package"), event.get("Test")
            if missing := re.search(r"(\S+) is not on the PATH$", event.get("Output", "")):
                needed[test] = missing[1]
            if event["Action"] == "skip" and test in needed:
                yield needed[test], *test


def show(skipped):
    """Prints the tests by program."""
    tests = collections.defaultdict(set)
    for program in TARGETS:
        if not shutil.which(program):
            tests[program].update(TARGETS[program])
    for program, _, test in skipped:
        tests[program].add(test)
    for program in sorted(tests):
        print(f"{program} is not installed: skipped {', '.join(sorted(tests[program]))}")


def again(skipped):
    """Runs the tests, and returns whether they pass."""
    names = collections.defaultdict(set)  # by package and parent
    for _, package, test in skipped:
        parent, _, name = test.rpartition("/")
        names[package, parent].add(name)
    passed = True
    for (package, parent), tests in sorted(names.items()):
        levels = [*filter(None, parent.split("/")), "|".join(sorted(tests))]
        pattern = "/".join(f"^({level})$" for level in levels)
        passed &= subprocess.run(["go", "test", "-count", "1", "-vet", "off", "-run", pattern, package], check=False).returncode == 0
    return passed


if sys.argv[1] == "--again":
    sys.exit(0 if again(skips(sys.argv[2])) else 1)
show(skips(sys.argv[1]))
