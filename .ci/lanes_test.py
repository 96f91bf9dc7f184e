"""Tests of lanes.py."""

import pathlib
import subprocess
import unittest

import lanes

ROOT = pathlib.Path(__file__).parent.parent


class Needed(unittest.TestCase):
    """Which lanes a change needs."""

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
            "e2e/dev/page_test.go": "dev",
            "cmd/argoperator-dev/main.go": "dev",
            "go.sum": " ".join(lanes.LANES),
            ".editorconfig": "",
        }.items():
            self.assertEqual(lanes.needed([path]), want.split(), path)
        self.assertEqual(lanes.needed(["e2e/dev/page_test.go", "README.md"]), ["docs", "dev"])

    def test_paths_exist(self):
        files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
        for lane, paths in lanes.LANES.items():
            for path in " ".join(paths).split():
                self.assertTrue(any(file.startswith(path) for file in files), f"{lane}: no file begins with {path}")

    def test_run_has_every_lane(self):
        run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
        for lane in lanes.LANES:
            self.assertRegex(run, rf"(?m)^ *lane {lane} \d+ ")

    def test_limits(self):
        run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
        minutes = [int(words[2]) for words in map(str.split, run.splitlines()) if words[:1] == ["lane"]]
        self.assertLessEqual(sum(minutes), 75)


if __name__ == "__main__":
    unittest.main()
