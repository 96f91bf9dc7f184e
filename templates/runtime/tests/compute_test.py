"""Templates that the pod computes, and the order of children."""

from names import SIBLINGS

from .fakecluster import (
    CONFIGMAP, DEPLOYMENT, DEPLOYMENTS, Case, deployment, entry_of, field_of, plain_text, readiness, settings,
)


class PodTemplateTest(Case):
    """The pod computes templates that read objects which the Sensor does not receive."""

    def setUp(self):
        super().setUp()
        for variable in ("ARGOPERATOR_REQUEST", "ARGOPERATOR_RESPONSE"):
            del self.env[variable]
        name = {"concat": [["get", ["get", ["in"], "metadata"], "name"], ["lit", "-"],
                           ["get", ["get", ["var", "$item"], "metadata"], "name"]]}
        self.config.update(readsObjects=True, children=[dict(
            CONFIGMAP, template=True, each=True, forEach={"expr": ["get", ["var", "$related"], "spaces"]},
            object={"object": {"apiVersion": plain_text("v1"), "kind": plain_text("ConfigMap"),
                               "metadata": {"object": {"name": name}},
                               "data": {"object": {"size": {"expr": ["pipe", ["get", ["get", ["in"], "spec"], "size"],
                                                                     ["call", "tostring/0"]]}, "none": field_of("spec", "none")}}}})],
            related=[entry_of("spaces", "Namespace", "namespaces", {"labelSelector": {"object": {
                "matchLabels": {"object": {"copy": plain_text("yes")}}}}}, namespaced=False, multiple=True)], status=None)
        self.cr()

    def space(self, name):
        self.cluster.put("/api/v1/namespaces/" + name, {"metadata": {"name": name, "labels": {"copy": "yes"}}})

    def made(self):
        return sorted(path.rpartition("/")[2] for path in self.cluster.objects if "/configmaps/" in path)

    def test_for_each(self):
        self.space("a")
        self.space("b")
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.made(), ["one-a", "one-b"])
        self.assertEqual(self.live("/api/v1/namespaces/team/configmaps/one-a")["data"], {"size": "2"})
        del self.cluster.objects["/api/v1/namespaces/a"]
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.made(), ["one-b"])

    def test_when(self):
        self.space("a")
        self.config["children"][0]["when"] = {"expr": ["eq", ["get", ["get", ["in"], "spec"], "size"], ["lit", 5]]}
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.made(), [])

    def test_failure(self):
        self.space("a")
        self.config["children"][0]["object"]["object"]["data"] = field_of("spec", "size", "x")
        self.assertEqual(self.run_command("apply"), 2)
        self.assertIn("template settings: ", self.condition("Ready")["message"])


class DependentTemplatesTest(Case):
    """Templates that read other children are computed when these exist."""

    CONFIG = "/api/v1/namespaces/team/configmaps/one"
    ARN = {"expr": ["get", ["get", ["get", ["var", "$children"], "deployment"], "status"], "arn"]}

    def setUp(self):
        super().setUp()
        for variable in ("ARGOPERATOR_REQUEST", "ARGOPERATOR_RESPONSE"):
            del self.env[variable]
        self.config.update(readsObjects=True, related=[], status=None, children=[
            dict(DEPLOYMENT, template=True, object=self.template("apps/v1", "Deployment", "spec", {"replicas": field_of("spec", "size")})),
            dict(CONFIGMAP, template=True, object=self.template("v1", "ConfigMap", "data", {
                "arn": self.ARN, "uid": self.uid("deployment")}))])
        self.settings = self.config["children"][1]
        self.cr()

    def template(self, version, kind, section, fields):
        return {"object": {"apiVersion": plain_text(version), "kind": plain_text(kind),
                           "metadata": {"object": {"name": field_of("metadata", "name")}}, section: {"object": fields}}}

    def uid(self, name):
        return {"expr": ["get", ["get", ["get", ["var", "$children"], name], "metadata"], "uid"]}

    def arn(self, value):
        self.live(DEPLOYMENTS + "/one")["status"] = {"arn": value}

    def test_a_template_reads_what_the_same_run_makes(self):
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.live(self.CONFIG)["data"]["uid"], self.live(DEPLOYMENTS + "/one")["metadata"]["uid"])

    def test_nothing_is_written_twice(self):
        self.assertEqual(self.run_command("apply"), 0, self.out)
        before = len(self.cluster.writes())
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual([method for method, _ in self.cluster.writes()[before:]], ["PATCH", "PATCH"])

    def test_a_child_that_stays_as_it_is_counts(self):
        deployment = self.config["children"][0]
        deployment.update(never=True, identity={"object": {"name": field_of("metadata", "name")}})
        for _ in range(2):
            self.assertEqual(self.run_command("apply"), 0, self.out)
            self.assertEqual(self.live(self.CONFIG)["metadata"]["annotations"][SIBLINGS], "2")

    def test_a_template_is_not_computed_before_its_dependencies_are_ready(self):
        self.settings.update(dependsOn=["deployment"])
        self.settings["object"]["object"]["data"] = {"object": {"arn": {"concat": [["lit", "arn "], self.ARN["expr"]]}}}
        self.config["children"][0].update(readiness(["ne", ["get", ["get", ["in"], "status"], "arn"], ["lit", None]]))
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertNotIn(self.CONFIG, self.cluster.objects)
        self.assertIn("settings: waits for Deployment team/one", self.condition("Ready")["message"])
        self.arn("a")
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.live(self.CONFIG)["data"], {"arn": "arn a"})

    def test_a_deployment_is_not_annotated_again_when_others_come_or_wait(self):
        """The API server gives a Deployment another generation for another annotation, so it is unready for a moment."""
        shards = dict(CONFIGMAP, template=True, each=True, object=self.template("v1", "ConfigMap", "data", {}),
                      forEach={"expr": ["lit", [1, 2]]}, dependsOn=["deployment"])
        shards["object"]["object"]["metadata"] = {"object": {"name": {"concat": [["lit", "one-"], ["var", "$index"]]}}}
        self.config["children"] = [self.config["children"][0], shards]
        self.config["children"][0].update(readiness(["ne", ["get", ["get", ["in"], "status"], "arn"], ["lit", None]]))
        for arn in (None, "a", None):
            if arn or self.cluster.objects.get(DEPLOYMENTS + "/one"):
                self.arn(arn)
            self.assertEqual(self.run_command("apply"), 0, self.out)
            self.assertEqual(self.live(DEPLOYMENTS + "/one")["metadata"]["annotations"][SIBLINGS], "3")

    def test_an_object_that_comes_later_waits_for_what_waits_itself(self):
        shards = dict(CONFIGMAP, name="shard", template=True, each=True, object=self.template("v1", "ConfigMap", "data", {}),
                      forEach={"expr": ["lit", [1]]}, dependsOn=["settings"])
        shards["object"]["object"]["metadata"] = {"object": {"name": {"concat": [["lit", "one-"], ["var", "$index"]]}}}
        self.config["children"].append(shards)
        self.settings["object"]["object"]["data"] = {"object": {}}
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertIn("/api/v1/namespaces/team/configmaps/one-0", self.cluster.objects)
        self.cluster.objects.pop(self.CONFIG)
        self.settings.update(dependsOn=["deployment"])
        self.config["children"][0].update(readiness(["ne", ["get", ["get", ["in"], "status"], "arn"], ["lit", None]]))
        shards["forEach"] = {"expr": ["lit", [1, 2]]}
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertNotIn(self.CONFIG, self.cluster.objects)
        self.assertNotIn("/api/v1/namespaces/team/configmaps/one-1", self.cluster.objects)
        self.arn("a")
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertIn("/api/v1/namespaces/team/configmaps/one-1", self.cluster.objects)

    def test_a_template_that_fails_does_not_stop_the_others(self):
        self.settings["object"]["object"]["data"] = {"object": {"arn": {"concat": [["lit", "arn "], self.ARN["expr"]]}}}
        self.assertEqual(self.run_command("apply"), 2, self.out)
        self.assertIn(DEPLOYMENTS + "/one", self.cluster.objects)
        self.assertIn("template settings: null inside a text", self.condition("Ready")["message"])

    def test_the_children_of_a_template_that_fails_stay(self):
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.settings["object"]["object"]["data"] = {"object": {"arn": {"concat": [["lit", "arn "], self.ARN["expr"]]}}}
        self.assertEqual(self.run_command("apply"), 2, self.out)
        self.assertIn(self.CONFIG, self.cluster.objects)

    def needs_arn(self):
        self.settings["identity"] = {"object": {"name": field_of("metadata", "name")}}
        self.settings["needs"] = [{"expr": self.ARN, "text": "$children.deployment.status.arn", "children": ["deployment"]}]

    def test_a_template_waits_for_a_value_that_it_needs(self):
        self.needs_arn()
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertNotIn(self.CONFIG, self.cluster.objects)
        self.assertIn("settings: waits for $children.deployment.status.arn", self.condition("Ready")["message"])
        self.arn("a")
        self.arn_of_settings("a")

    def test_a_field_that_goes_away_is_not_taken_from_others(self):
        self.needs_arn()
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.arn("a")
        self.arn_of_settings("a")
        self.arn(None)
        self.arn_of_settings("a")
        self.assertIn("settings: stays as it is until $children.deployment.status.arn has a value", self.condition("Ready")["message"])
        self.arn("b")
        self.arn_of_settings("b")

    def test_a_child_that_is_not_wanted_any_more_waits_for_nothing(self):
        self.needs_arn()
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.arn("a")
        self.arn_of_settings("a")
        self.arn(None)
        self.settings["when"] = {"expr": ["lit", False]}
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertNotIn(self.CONFIG, self.cluster.objects)
        self.assertNotIn("settings", self.condition("Ready")["message"])

    def test_values_of_a_child_that_is_not_wanted_are_not_waited_for(self):
        self.needs_arn()
        self.config["children"][0].update(when={"expr": ["lit", False]}, object={
            "object": {"metadata": {"object": {"name": {"expr": ["lit", "one"]}}}}})
        self.arn_of_settings(None)

    def test_a_list_that_is_not_known_removes_nothing(self):
        self.needs_arn()
        self.settings["identity"] = {"object": {"name": {"expr": ["var", "$item"]}}}
        self.settings["object"]["object"]["metadata"] = {"object": {"name": {"expr": ["var", "$item"]}}}
        self.settings["forEach"] = self.ARN
        self.settings["each"] = True
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertIn("settings: waits for", self.condition("Ready")["message"])
        self.arn(["one-settings"])
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertIn(self.CONFIG + "-settings", self.cluster.objects)
        self.arn(None)
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertIn(self.CONFIG + "-settings", self.cluster.objects)
        self.assertIn("settings: stays as it is", self.condition("Ready")["message"])
        self.arn([])
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertNotIn(self.CONFIG + "-settings", self.cluster.objects)

    def arn_of_settings(self, want):
        self.assertEqual(self.run_command("apply"), 0, self.out)
        self.assertEqual(self.live(self.CONFIG)["data"].get("arn"), want)


class DependsTest(Case):
    def setUp(self):
        super().setUp()
        self.config.update(readsObjects=True, children=[DEPLOYMENT, dict(CONFIGMAP, dependsOn=["deployment"])], status=None)
        self.cr()

    def ready(self, replicas=2):
        self.live(DEPLOYMENTS + "/one")["status"] = {
            "replicas": replicas, "updatedReplicas": replicas, "availableReplicas": replicas, "readyReplicas": replicas}

    def has_settings(self):
        return "/api/v1/namespaces/team/configmaps/one" in self.cluster.objects

    def test_order(self):
        self.assertEqual(self.reconcile([settings(), deployment()]), 0, self.out)
        self.assertFalse(self.has_settings())
        ready = self.condition("Ready")
        self.assertEqual((ready["status"], ready["reason"]), ("False", "Progressing"))
        self.assertIn("ConfigMap team/one: waits for Deployment team/one", ready["message"])
        self.ready()
        self.assertEqual(self.reconcile([settings(), deployment()]), 0, self.out)
        self.assertTrue(self.has_settings())
        self.assertEqual(self.condition("Ready")["status"], "True")
        self.ready(0)
        self.assertEqual(self.reconcile([settings(), deployment()]), 0, self.out)
        self.assertTrue(self.has_settings(), "what is there stays")

    def test_nothing_to_wait_for(self):
        self.assertEqual(self.reconcile([settings()]), 0, self.out)
        self.assertTrue(self.has_settings())
