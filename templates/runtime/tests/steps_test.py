"""The steps engine."""
import json
import unittest

from names import OWNER_UID, PAUSED, SIBLINGS
from steps import safe_json

from .fakecluster import DEPLOYMENT, DEPLOYMENTS, Case, deployment, labels


class StepsTest(Case):
    def setUp(self):
        super().setUp()
        self.config.update(engine="steps", children=[DEPLOYMENT], parameters=["deployment-manifest"])
        self.write("parameters/deployment-manifest", '{"a": "{{workflow.name}}"}')

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def test_read(self):
        self.cr(annotations={"note": "{{workflow.name}}"}, managedFields=[{"manager": "x"}])
        self.assertEqual(self.run_command("steps-read"), 0)
        self.assertEqual(self.text("go"), "true")
        self.assertNotIn("{{", self.text("manifest") + self.text("deployment-manifest"))
        self.assertEqual(self.load("manifest")["metadata"]["annotations"]["note"], "{{workflow.name}}")
        self.assertNotIn("managedFields", self.load("manifest")["metadata"])
        self.assertEqual(self.load("deployment-manifest"), {"a": "{{workflow.name}}"})

    def test_read_gone(self):
        self.assertEqual(self.run_command("steps-read"), 0)
        self.assertEqual((self.text("go"), self.text("manifest")), ("false", "{}"))

    def test_paused(self):
        self.cr(annotations={PAUSED: "true"})
        self.assertEqual(self.run_command("steps-read"), 0)
        self.assertEqual((self.text("go"), self.condition("Ready")["reason"]), ("false", "Paused"))

    def test_overtaken(self):
        self.cr()
        for about, go in (("2", "false"), ("3", "true"), ("4", "true"), ("0", "true"), ("", "true")):
            with self.subTest(about):
                self.env["ARGOPERATOR_GENERATION"] = about
                self.assertEqual(self.run_command("steps-read"), 0)
                with open(self.path("go"), encoding="utf-8") as file:
                    self.assertEqual(file.read(), go)

    def test_read_deleting(self):
        self.cr(deletionTimestamp="t")
        self.run_command("steps-read")
        self.assertEqual(self.text("go"), "false")

    def test_parameters(self):
        for text, want in (("kind: Deployment\n", 0), ("a: {{x}}", 2), ("a: \x07", 2), ("a: \U000e0001", 2), ("ü {a: b}", 0)):
            with self.subTest(text):
                self.write("parameters/deployment-manifest", text)
                self.assertEqual(self.run_command("steps-read"), want)
                if not want:
                    self.assertEqual(self.text("deployment-manifest"), text)

    def own(self, result):
        self.env["ARGOPERATOR_MANIFEST"] = safe_json(self.cr())
        self.env["ARGOPERATOR_RESULT"] = self.path("output-manifest.json")
        self.write("output-manifest.json", result)
        return self.run_command("steps-set-owner")

    def test_names(self):
        for name, want in (("one", "one"), ("one-web", "one-web"), ("memcached-web", "one-web"), ("memcached", "one-memcached"),
                           ("web", "one-web"), ("onesie", "one-onesie"), ("memcached-one", "one-one")):
            with self.subTest(name):
                self.assertEqual(self.own(deployment(name, namespace="elsewhere")), 0, self.out)
                metadata = self.load("manifest")["metadata"]
                self.assertEqual((metadata["name"], metadata["namespace"]), (want, "team"))
                self.assertEqual(metadata["annotations"][SIBLINGS], "1")
                self.assertEqual(metadata["ownerReferences"][0]["uid"], "cr-uid")

    def test_pods_are_told_apart(self):
        child = deployment()
        child["spec"] = {"selector": {"matchLabels": {"app": "{{x}}"}}, "template": {"metadata": {"labels": {"app": "{{x}}"}}}}
        self.assertEqual(self.own(child), 0)
        spec, want = self.load("manifest")["spec"], {"app": "{{x}}", OWNER_UID: "cr-uid"}
        self.assertEqual((spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]), (want, want))
        self.assertNotIn("{{", self.text("manifest"))

    def test_refuses(self):
        foreign = deployment()
        for reason, result, want in (("no JSON", "{", "not JSON"), ("a list", "[]", "not an object"), ("a Pod", {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}, "not declared"), (
                "foreign", foreign, "belongs to someone else")):
            with self.subTest(reason):
                self.cluster.put(DEPLOYMENTS + "/one", foreign)
                self.assertEqual(self.own(result), 2)
                self.assertIn(want, self.condition("Ready")["message"])

    def test_status(self):
        self.cr()
        self.cluster.put(DEPLOYMENTS + "/one", dict(deployment(**labels()), status={
            "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2}))
        self.assertEqual(self.run_command("steps-status"), 0)
        self.assertEqual(self.live()["status"]["readyReplicas"], 2)
        self.assertEqual(self.condition("Ready")["status"], "True")
        self.assertEqual(self.run_command("steps-status"), 0)
        self.assertEqual(len(self.cluster.writes()), 1)
        self.env["ARGOPERATOR_MANIFEST"] = json.dumps({"metadata": {"uid": "cr-uid", "generation": 2}})
        self.assertEqual(self.run_command("steps-status"), 0)
        self.assertEqual(self.live()["status"]["observedGeneration"], 2, "what was read, not what is there")


class SafeJSONTest(unittest.TestCase):
    def test_round_trip(self):
        pieces = ["{{workflow.name}}", "{{=1+1}}", "{", "}", "\\", '"', "\n", "\x00", "\x07", "\x7f", "ü", "\U0001f600",
                  "\U000e0001", "\ud800", "\\u007b", "\\{", "a"]
        values = [one + two + three for one in pieces for two in pieces for three in pieces]
        values += [{text: [{text: {}}]} for text in values[:400]] + [{}, [[{}]], [{"a": {}}, {}], None, 1.5, 2 ** 70, "{{{{"]
        for value in values:
            text = safe_json(value)
            self.assertEqual(json.loads(text), value)
            self.assertNotIn("{{", text)
            self.assertTrue(all(" " <= letter <= "~" for letter in text), text)
