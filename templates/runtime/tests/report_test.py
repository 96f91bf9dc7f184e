"""The exit handler."""

from report import last_output

from .fakecluster import WORKFLOWS, Case


class ReportTest(Case):
    def test_report(self):
        self.env["ARGOPERATOR_WORKFLOW_STATUS"] = "Error"
        self.cr()
        self.live()["status"] = {"phase": "fine", "conditions": [{"type": "Warm", "status": "True", "reason": "W",
                                                                  "message": "m", "lastTransitionTime": "t"}]}
        self.assertEqual(self.run_command("report"), 0)
        self.assertEqual(self.condition("Ready")["message"],
                         "reconcile failed: Error; see workflow argo-events/memcached-one-abc")
        self.assertEqual((self.condition("Stalled")["status"], self.condition("Ready")["observedGeneration"]), ("True", 3))
        self.assertEqual((self.live()["status"]["phase"], self.condition("Warm")["lastTransitionTime"]), ("fine", "t"))
        self.assertEqual(self.live()["status"]["observedGeneration"], 3)

    def test_already_reported(self):
        self.config["argoServerURL"] = "https://argo.example.com"
        self.cr()
        self.reconcile(["x"])
        before = self.condition("Ready")
        self.assertEqual(self.run_command("report"), 0)
        self.assertEqual(self.condition("Ready"), before)
        self.env["ARGOPERATOR_WORKFLOW"] = "memcached-one-ab"  # a prefix of the other's name
        self.assertEqual(self.run_command("report"), 0)
        self.assertIn("reconcile failed: Failed", self.condition("Ready")["message"])

    def test_cause(self):
        def node(finished, message, kind="Container", phase="Failed"):
            return {"type": kind, "phase": phase, "message": message, "finishedAt": finished}
        crash = 'logic: Error (exit code 1): Traceback:\n  x\nKeyError: {{=1}}\ntime="t" level=info argo=true\nError: exit status 1\n'
        waited = 'apply: Error (exit code 64): dependency "logic" exited with non-zero code: 1'
        rows = (
            ({"nodes": {"a": node("1", "logic: Error (exit code 9): old"), "b": node("2", crash),
                        "c": node("3", waited, phase="Error"), "d": node("4", waited, "Pod")}},
             "logic: Error (exit code 1): KeyError: {{=1}}"),
            ({"nodes": {"a": node("1", "OOMKilled (exit code 137)", "Pod")}}, "OOMKilled (exit code 137)"),
            ({"nodes": {"a": node("1", "main: Error (exit code 2): ")}}, "main: Error (exit code 2)"),
            ({"message": "Max duration limit exceeded", "nodes": {"a": node("1", "", "Retry")}}, "Max duration limit exceeded"),
            ({"nodes": {"a": node("1", "x" * 500)}}, "x" * 300),
            ({}, "Failed"), (None, "Failed"))
        for status, want in rows:
            with self.subTest(want):
                self.cluster.reset()
                self.cr()
                if status is not None:
                    self.cluster.put(WORKFLOWS + "/memcached-one-abc", {"metadata": {}, "status": status})
                self.assertEqual(self.run_command("report"), 0)
                self.assertEqual(self.condition("Ready")["message"],
                                 f"reconcile failed: {want}; see workflow argo-events/memcached-one-abc")

    def test_place(self):
        for name, output, want in (
                ("python", 'Traceback (most recent call last):\n  File "/w/main.py", line 7, in <module>\n    f()\n'
                 '  File "/usr/lib/python3.13/json/__init__.py", line 9, in loads\nKeyError: 1', "KeyError: 1 (main.py line 7)"),
                ("node", "/w/main.js:3\nthrow new Error('x')\n^\n\nError: x\n    at Object.<anonymous> (/w/main.js:3:7)\n"
                 "    at node:internal/main:5\n\nNode.js v22.1.0", "Error: x (main.js line 3)"),
                ("go", "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/w/main.go:4 +0x1d\nexit status 2",
                 "panic: boom (main.go line 4)"),
                ("ruby", "main.rb:3:in '<main>': boom (RuntimeError)", "main.rb:3:in '<main>': boom (RuntimeError)"),
                ("sh", "main.sh: line 3: jqq: not found", "main.sh: line 3: jqq: not found"),
                ("text", "it went wrong\nat 10:30", "at 10:30")):
            with self.subTest(name):
                self.assertEqual(last_output("logic: Error (exit code 1): " + output), "logic: Error (exit code 1): " + want)

    def test_gone(self):
        self.assertEqual(self.run_command("report"), 0)
