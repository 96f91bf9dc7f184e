"""Tests of jobs.py."""

import pathlib
import re
import subprocess
import unittest

import jobs

ROOT = pathlib.Path(__file__).parent.parent


class Needed(unittest.TestCase):
    """Which jobs a change needs."""

    def test_examples(self):
        for path, want in {
            "docs/how-to/dev.md": "docs",
            "pkg/internal/operator/plan/new.go": "perf cluster",
            "pkg/internal/operator/plan/plan_test.go": "",
            "pkg/internal/jq/jq/program.go": "perf cluster race",
            "pkg/internal/run/page/assets/page.js": "dev",
            "pkg/internal/run/simulate/chance_test.go": "dev race",
            "pkg/internal/project/scaffold/scaffold.go": "",
            "templates/runtime/reconcile.py": "perf dev cluster",
            "examples/foo/operator.yaml": "docs cluster",
            "e2e/tools/dev/page_test.go": "dev",
            "cmd/argoperator-dev/main.go": "dev",
            "go.sum": " ".join(jobs.JOBS),
            ".editorconfig": "",
        }.items():
            self.assertEqual(jobs.needed([path]), want.split(), path)
        self.assertEqual(jobs.needed(["e2e/tools/dev/page_test.go", "README.md"]), ["docs", "dev"])

    def test_paths_exist(self):
        files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
        for job, paths in jobs.JOBS.items():
            for path in " ".join(paths).split():
                self.assertTrue(any(file.startswith(path) for file in files), f"{job}: no file begins with {path}")

    def test_run_has_every_job(self):
        run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
        for job in jobs.JOBS:
            self.assertRegex(run, rf"(?m)^ *job {job} \d+ ")

    def test_limits(self):
        run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
        minutes = [int(words[2]) for words in map(str.split, run.splitlines()) if words[:1] == ["job"]]
        self.assertLessEqual(sum(minutes), int(re.search(r"together at most (\d+)", run)[1]))


if __name__ == "__main__":
    unittest.main()
