#!/usr/bin/env python3
"""Prints one line for each program that tests were skipped for: .ci/missing.py FILE, with the output of `go test -json`. With
--again, it runs these tests again.

The output is complete even if Go did not repeat tests that have passed before: its cache keeps it.
"""

import collections
import json
import re
import subprocess
import sys


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
