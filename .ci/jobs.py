#!/usr/bin/env python3
"""Prints the jobs of continuous integration that a change needs, beside `make verify`, which every change needs.

The change is what differs from the last landed state: CI_BASE, or the merge base with the default branch. If none is known, the
change needs every job.
"""

import os
import subprocess

PRODUCT = "cmd/argoperator/ pkg/ templates/"

# By job: the paths that it tests, and those below them that it does not. A path is everything that begins with it.
JOBS = {
    "perf": (
        f"{PRODUCT} testdata/instructions.json testdata/allocations.json",
        "pkg/internal/run/ pkg/internal/project/ pkg/internal/testing/",
    ),
    "docs": ("README.md docs/ examples/", ""),
    "dev": (
        "cmd/argoperator-dev/ e2e/tools/ pkg/cmd/dev templates/runtime/ pkg/internal/kube/cluster/"
        " pkg/internal/run/apiserver/ pkg/internal/run/devcluster/ pkg/internal/run/live/ pkg/internal/run/page/"
        " pkg/internal/run/simulate/",
        "",
    ),
    "cluster": (
        f"{PRODUCT} examples/ e2e/",
        "pkg/internal/run/ pkg/internal/project/ pkg/internal/testing/ e2e/tools/ e2e/agreement/ e2e/linters/ e2e/words/",
    ),
    "race": (
        "pkg/argoperator/ pkg/cmd/test pkg/internal/jq/jq/ pkg/internal/kube/ pkg/internal/run/simulate/ pkg/internal/run/testsuite/",
        "",
    ),
}
EVERY_JOB = ("go.mod", "go.sum", "Makefile", ".ci/run", ".ci/jobs.py")


def needed(paths):
    """Returns the jobs that a change of these paths needs."""
    if any(path in EVERY_JOB for path in paths):
        return list(JOBS)
    return [job for job in JOBS if any(tests(job, path) for path in paths)]


def tests(job, path):
    """Reports whether a job tests a path."""
    if job in ("perf", "cluster") and path.startswith("pkg/") and path.endswith("_test.go"):
        return False
    included, excluded = (tuple(paths.split()) for paths in JOBS[job])
    return path.startswith(included) and not path.startswith(excluded or ("\0",))


def git(*args):
    """Returns the lines that git prints, or none if it fails."""
    run = subprocess.run(["git", *args], capture_output=True, text=True, check=False)
    return run.stdout.splitlines() if run.returncode == 0 else []


def base():
    """Returns the last landed commit, or none."""
    if "CI_BASE" in os.environ:
        return git("rev-parse", "--verify", os.environ["CI_BASE"] + "^{commit}")
    for branch in ("origin/HEAD", "origin/main", "main"):
        if (found := git("merge-base", "HEAD", branch)) and found != git("rev-parse", "HEAD"):
            return found
    return []


def main():
    """Prints the jobs, one per line."""
    if landed := base():
        changed = git("diff", "--name-only", "--no-renames", *landed) + git("ls-files", "--others", "--exclude-standard")
        print("\n".join(needed(changed)))
    else:
        print("\n".join(JOBS))


if __name__ == "__main__":
    main()
