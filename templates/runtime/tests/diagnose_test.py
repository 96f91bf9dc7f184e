"""Tests of diagnose.py against a client with prepared answers."""
import base64
import json
import unittest

import api
import diagnose

CR = "/apis/example.com/v1/namespaces/town/shops/one/status?fieldManager=shops"
APPLY = {"method": "PATCH", "path": "/apis/apps/v1/namespaces/town/deployments/one?fieldManager=shops&force=false",
         "type": "application/apply-patch+yaml", "body": '{"kind":"Deployment"}'}
GENERIC = "the API server rejected it; argoperator render and kubectl apply --server-side --dry-run=server show why"
EXISTS = "a Deployment of this name exists"
INVALID = 'Deployment.apps "one" is invalid: spec.replicas: Invalid value: -5: must be greater than or equal to 0'
READY = {"type": "Ready", "status": "False", "reason": "StatusRejected", "observedGeneration": 1,
         "message": "the API server rejected the computed status; argoperator render and argoperator test show why"}
STATUS = {"method": "PATCH", "path": CR, "type": diagnose.MERGE, "body": '{"metadata": {"resourceVersion": "7"}, "status": {"size": "x"}}'}


def failed(attempts, message=GENERIC):
    return {"generation": 1, "attempts": attempts, "uid": None, "message": message}


def patch(body):
    return {"path": CR, "body": json.dumps(body), "asks": "owner"}


def resource(uid="owner", **fields):
    return dict({"metadata": {"uid": uid}}, **fields)


def with_child(name, value):
    return {"status": {"children": {name: {"failed": value}}}}


class Server:
    """Answers requests in order: with an object, or for (status, message) with an error."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def request(self, method, path, body=None, query=None, content_type="application/json"):
        self.requests.append((method, path, body, content_type))
        answer = self.answers.pop(0)
        if isinstance(answer, tuple):
            raise api.ApiError(answer[0], {"message": answer[1]})
        return answer


class DiagnoseTest(unittest.TestCase):
    def play(self, request, record, *answers):
        """The requests. Every answer is used."""
        server = Server(*answers)
        diagnose.diagnose(server, request, record)
        self.assertEqual([], server.answers)
        self.assertEqual(("PATCH", CR, {}, diagnose.MERGE), server.requests[0])
        return server.requests

    def recorded(self, answer, name="web", message=GENERIC, request=APPLY):
        """What replaces the failure of a child, or None if nothing does."""
        answers = [resource(**with_child(name, failed(4))), answer] + ([{}] if isinstance(answer, tuple) else [])
        if request["method"] == "DELETE":
            answers = answers[:2]
        requests = self.play(request, patch(with_child(name, failed(5, message))), *answers)
        self.assertEqual((request["method"], request["path"], request["body"], request["type"]), requests[1])
        if len(requests) == 2:
            return None
        method, path, change, content_type = requests[2]
        self.assertEqual(("PATCH", CR, diagnose.PATCH), (method, path, content_type))
        pointer = f"/status/children/{name.replace('~', '~0').replace('/', '~1')}/failed"
        self.assertEqual([{"op": "test", "path": "/metadata/uid", "value": "owner"},
                          {"op": "test", "path": pointer, "value": failed(4)}], change[:2])
        self.assertEqual(("replace", pointer), (change[2]["op"], change[2]["path"]))
        return change[2]["value"]

    def test_records_the_message_of_the_api_server(self):
        self.assertEqual(failed(5, "the API server rejected it: " + INVALID), self.recorded((422, INVALID)))

    def test_records_the_failure_of_a_listed_object(self):
        self.assertIn(INVALID, self.recorded((422, INVALID), name="web/a~b/one")["message"])

    def test_records_what_a_webhook_that_does_not_answer_causes(self):
        text = 'failed calling webhook "x.example.com": connection refused'
        self.assertIn(text, self.recorded((500, text))["message"])

    def test_records_nothing_when_the_request_succeeds(self):
        self.assertIsNone(self.recorded({}))

    def test_names_an_object_that_exists(self):
        self.assertEqual(EXISTS, self.recorded((409, "has been modified"), message=GENERIC + "; or " + EXISTS)["message"])

    def test_names_the_fields_of_a_conflict(self):
        text = 'Apply failed with 1 conflict: conflict with "kubectl": .spec.replicas'
        self.assertIn(text, self.recorded((409, text), message=GENERIC + "; or " + EXISTS)["message"])

    def test_a_deleted_object_needs_no_answer(self):
        request = {"method": "DELETE", "path": "/api/v1/namespaces/town/pods/one", "type": "application/json", "body": "{}"}
        self.assertIsNone(self.recorded((404, "not found"), request=request))

    def test_cuts_a_long_message(self):
        self.assertEqual(api.MESSAGE_LIMIT, len(self.recorded((422, "x" * 9000))["message"]))

    def test_sends_nothing_when_the_failure_is_not_the_latest(self):
        for name, now in {
                "deleted": (404, "not found"), "another": resource("other", **with_child("web", failed(4))),
                "answered": resource(**with_child("web", failed(5))), "cleared": resource(status={"children": {"web": {}}}),
                "no status": resource()}.items():
            with self.subTest(name):
                self.play(APPLY, patch(with_child("web", failed(5))), now)

    def test_sends_nothing_for_an_object_that_was_written_since(self):
        behind = {"uid": "child", "generation": 0}
        for seen, generation in ((dict(behind, generation=1), 1), (dict(behind, uid="other"), 1), (behind, 2), ({}, 1)):
            with self.subTest(seen=seen, generation=generation):
                metadata = {"uid": "owner", "generation": generation, "resourceVersion": "7"}
                record = patch(with_child("web", dict(failed(5), uid="child")))
                self.play(APPLY, record, {"metadata": metadata, "status": {"children": {"web": seen}}})

    def test_sends_nothing_for_a_paused_custom_resource(self):
        there = with_child("web", failed(4))
        metadata = {"uid": "owner", "annotations": {"argoperator.dev/paused": "true"}}
        self.assertEqual(1, len(self.play(APPLY, patch(with_child("web", failed(5))), dict(there, metadata=metadata))))

    def test_leaves_a_failure_that_changes_meanwhile(self):
        self.play(APPLY, patch(with_child("web", failed(5))), resource(**with_child("web", failed(4))),
                  (422, INVALID), (422, "test failed"))

    def test_records_a_failure_that_an_event_delivered_again_cleared(self):
        metadata = {"uid": "owner", "generation": 1, "resourceVersion": "7"}
        there = {"metadata": metadata, "status": {"children": {"web": {"uid": "child", "generation": 0}}}}
        requests = self.play(APPLY, patch(with_child("web", dict(failed(5), uid="child"))), there, (422, INVALID), {})
        made = dict(failed(5, "the API server rejected it: " + INVALID), uid="child")
        change = dict(with_child("web", made), metadata={"uid": "owner", "resourceVersion": "7"})
        self.assertEqual(("PATCH", CR, change, diagnose.MERGE), requests[2])

    def test_tries_again_if_the_custom_resource_changes_meanwhile(self):
        metadata = {"uid": "owner", "generation": 1, "resourceVersion": "7"}
        there = {"metadata": metadata, "status": {"children": {"web": {"uid": "child", "generation": 0}}}}
        server = Server(there, (422, INVALID), (409, "has been modified"))
        with self.assertRaises(api.Failed):
            diagnose.diagnose(server, APPLY, patch(with_child("web", dict(failed(5), uid="child"))))

    def test_adds_an_annotation(self):
        key, seen = "shops.argoperator.dev/failed-web", {"shops.argoperator.dev/child-web": '{"uid": "child", "generation": 0}'}
        metadata = {"uid": "owner", "generation": 1, "resourceVersion": "7", "annotations": seen}
        value = dict(failed(5), uid="child")
        record = patch({"metadata": {"annotations": {key: json.dumps(value)}}})
        requests = self.play(APPLY, record, {"metadata": metadata}, (422, INVALID), {})
        made = requests[2][2]["metadata"]
        self.assertEqual({"uid": "owner", "resourceVersion": "7"}, {name: made[name] for name in ("uid", "resourceVersion")})
        self.assertEqual(dict(value, message="the API server rejected it: " + INVALID), json.loads(made["annotations"][key]))

    def test_writes_an_annotation_as_text(self):
        key, old = "shops.argoperator.dev/failed-web", json.dumps(failed(4))
        record = patch({"metadata": {"annotations": {key: json.dumps(failed(5))}}})
        requests = self.play(APPLY, record, {"metadata": {"uid": "owner", "annotations": {key: old}}}, (422, INVALID), {})
        pointer = "/metadata/annotations/shops.argoperator.dev~1failed-web"
        self.assertEqual({"op": "test", "path": pointer, "value": old}, requests[2][2][1])
        self.assertEqual(failed(5, "the API server rejected it: " + INVALID), json.loads(requests[2][2][2]["value"]))

    def test_tries_the_status_as_a_dry_run_of_the_newest_version(self):
        paid = {"type": "Paid", "status": "True"}
        record = patch({"metadata": {"resourceVersion": "7"}, "status": {"conditions": [paid, READY]}})
        requests = self.play(STATUS, record, resource(status={"conditions": [paid, READY]}), (422, "status.size: Invalid value"), {})
        self.assertEqual(("PATCH", CR + "&dryRun=All", '{"metadata": {}, "status": {"size": "x"}}', diagnose.MERGE), requests[1])
        self.assertEqual({"op": "replace", "path": "/status/conditions/1",
                          "value": dict(READY, message="the API server rejected the computed status: status.size: Invalid value")},
                         requests[2][2][2])

    def test_asks_once_for_a_condition(self):
        answered = dict(READY, message="the API server rejected the computed status: no")
        for now in ([], [dict(READY, reason="Failed")], [dict(READY, observedGeneration=2)], [answered]):
            self.play(STATUS, patch({"status": {"conditions": [READY]}}), resource(status={"conditions": now}))

    def test_fails_without_an_answer(self):
        for status in diagnose.UNANSWERED:
            with self.assertRaises(api.ApiError):
                server = Server(resource(**with_child("web", failed(4))), (status, ""))
                diagnose.diagnose(server, APPLY, patch(with_child("web", failed(5))))

    def test_exits_with_1_without_an_api_server(self):
        rejected = base64.b64encode(json.dumps({"request": APPLY, "failed": patch(with_child("web", failed(5)))}).encode()).decode()
        original, api.RETRY_BUDGET = api.RETRY_BUDGET, 0
        self.addCleanup(setattr, api, "RETRY_BUDGET", original)
        self.assertEqual(1, diagnose.main({"ARGOPERATOR_REJECTED": rejected, "ARGOPERATOR_API": "http://127.0.0.1:1"}))


if __name__ == "__main__":
    unittest.main()
