"""How children are completed, and where they may be."""
import copy

from api import Refused
from names import OWNER, path_of

from .fakecluster import CR, DEPLOYMENT, DEPLOYMENTS, FINALIZER, ROLE, ROLES, Case, deployment


class ChildrenTest(Case):
    def test_names_are_one_path_segment(self):
        self.cr()
        for name in ("../../../secrets/x", "..", "x/status", "x%2Fstatus"):
            with self.subTest(name):
                self.assertEqual(self.reconcile([deployment(name)]), 2)
                self.assertIn("cannot be the name of an object", self.condition("Ready")["message"])
                with self.assertRaises(Refused):
                    path_of(DEPLOYMENT, name, "x")
        self.assertEqual([entry[1] for entry in self.cluster.log if "deployments/" in entry[1]], [])

    def test_server_made_metadata_is_dropped(self):
        self.cr()
        self.reconcile([deployment()])
        seen = dict(copy.deepcopy(self.live(DEPLOYMENTS + "/one")), status={})
        self.assertEqual(self.reconcile([seen]), 0)
        body = [entry[3] for entry in self.cluster.log if entry[0] == "PATCH" and entry[1] == DEPLOYMENTS + "/one"][-1]
        self.assertEqual(sorted(body["metadata"]), ["annotations", "labels", "name", "namespace", "ownerReferences", "uid"])
        self.assertEqual(body["metadata"]["uid"], seen["metadata"]["uid"])
        self.assertEqual(len(body["metadata"]["ownerReferences"]), 1)

    def test_cluster_scoped_parent(self):
        self.config["parent"]["namespaced"] = False
        self.config["children"] = [DEPLOYMENT, ROLE]
        self.env["ARGOPERATOR_KEY"] = ".one"
        path = CR.replace("/namespaces/team", "")
        self.cluster.put(path, {"apiVersion": "v", "kind": "Memcached", "metadata": {"name": "one", "uid": "cr-uid"}})
        role = {"apiVersion": ROLE["apiVersion"], "kind": "ClusterRole", "metadata": {"name": "r", "namespace": "ignored"}}
        self.assertEqual(self.reconcile([deployment(namespace="b"), role]), 0, self.out)
        self.assertEqual(self.live(ROLES + "/r")["metadata"]["annotations"][OWNER], ".one")
        self.assertTrue(self.live(ROLES + "/r")["metadata"]["ownerReferences"])
        self.assertTrue(self.live(DEPLOYMENTS.replace("team", "b") + "/one")["metadata"]["ownerReferences"])
        self.assertEqual(self.condition("Ready", path)["reason"], "Progressing")
        self.run_command("read")
        children = self.load("request.json")["children"]
        self.assertEqual([list(children[kind]) for kind in children], [["b/one"], ["r"]])
        self.assertEqual(self.reconcile([deployment()]), 2)
        self.assertIn("needs a metadata.namespace", self.condition("Ready", path)["message"])

    def test_common_metadata_may_be_one_expression(self):
        common = {"expr": ["get", ["get", ["get", ["in"], "metadata"], "annotations"], "all"]}
        self.config["childMetadata"] = {"object": {"labels": common, "annotations": common}}
        for labels, code in ((None, 0), ({"a": "of all"}, 0), ("text", 2)):
            with self.subTest(labels):
                self.cr(annotations={"all": labels})
                self.assertEqual(self.reconcile([deployment()]), code, self.out)
        self.assertEqual(self.live(DEPLOYMENTS + "/one")["metadata"]["labels"]["a"], "of all")
        self.assertIn(" is no mapping: 'text'", self.condition("Ready")["message"])

    def test_watch_namespaces(self):
        self.config.update(watchNamespaces=["team", "b"], finalizer=FINALIZER)
        self.cr()
        self.assertEqual(self.reconcile([deployment(namespace="c")]), 2)
        self.assertIn("not one of watchNamespaces", self.condition("Ready")["message"])
        self.assertEqual(self.reconcile([deployment(namespace="b")]), 0)
        self.assertNotIn("ownerReferences", self.live(DEPLOYMENTS.replace("team", "b") + "/one")["metadata"])

    def test_allowed_namespaces(self):
        self.config.update(allowedNamespaces="^(b|c-[-a-z0-9]*)$", finalizer=FINALIZER)
        self.cr()
        self.assertEqual(self.reconcile([deployment(namespace="c")]), 2)
        self.assertIn("namespace c is not one of install.allowedNamespaces", self.condition("Ready")["message"])
        for namespace in ("b", "c-1", "team"):
            self.assertEqual(self.reconcile([deployment(namespace=namespace)]), 0)
