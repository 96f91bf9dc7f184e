"""Tests of diagnose.py against a client with prepared answers."""
import base64
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import api  # noqa: E402  (the path comes first)
import diagnose  # noqa: E402

CR = "/apis/example.com/v1/namespaces/town/shops/one/status?fieldManager=shops"
APPLY = {"method": "PATCH", "path": "/apis/apps/v1/namespaces/town/deployments/one?fieldManager=shops&force=false",
         "type": "application/apply-patch+yaml", "body": '{"kind":"Deployment"}'}
FAILED = {"generation": 1, "attempts": 4, "uid": None}
TESTS = [{"op": "test", "path": "/metadata/uid", "value": "owner"},
         {"op": "test", "path": "/status/children/web/failed", "value": FAILED}]
RECORD = {"path": CR, "uid": "owner", "pointer": "/status/children/web/failed", "there": FAILED, "value": dict(FAILED, attempts=5)}
READY = {"type": "Ready", "status": "False", "reason": "StatusRejected", "message": "the API server rejected the computed status; …"}
CONDITION = {"path": CR, "uid": "owner", "pointer": "/status/conditions/0", "there": READY}
INVALID = 'Deployment.apps "one" is invalid: spec.replicas: Invalid value: -5: must be greater than or equal to 0'


class Server:
    """Answers requests in order; the answer to a request is (status, message), or None for success."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def request(self, method, path, body=None, query=None, content_type="application/json"):
        self.requests.append((method, path, body, content_type))
        answer = self.answers.pop(0)
        if answer:
            raise api.ApiError(answer[0], {"message": answer[1]})
        return {}


class DiagnoseTest(unittest.TestCase):
    def recorded(self, record, *answers, request=APPLY):
        """The value that is recorded, or None. Every answer is used."""
        server = Server(*answers)
        diagnose.diagnose(server, request, record)
        self.assertEqual([], server.answers)
        self.assertEqual(("PATCH", CR, TESTS, diagnose.PATCH), server.requests[0])
        method, path, body, content_type = server.requests[-1]
        if body[len(TESTS):] == [] or path != CR:
            return None
        self.assertEqual(("PATCH", diagnose.PATCH, TESTS), (method, content_type, body[:-1]))
        self.assertEqual(("replace", record["pointer"]), (body[-1]["op"], body[-1]["path"]))
        return body[-1]["value"]

    def test_records_the_message_of_the_api_server(self):
        self.assertEqual(dict(FAILED, attempts=5, message="the API server rejected it: " + INVALID),
                         self.recorded(RECORD, None, (422, INVALID), None))

    def test_records_what_a_webhook_that_does_not_answer_causes(self):
        text = 'failed calling webhook "x.example.com": connection refused'
        self.assertIn(text, self.recorded(RECORD, None, (500, text), None)["message"])

    def test_sends_nothing_when_the_failure_is_not_the_latest(self):
        for status in diagnose.OUTDATED:
            self.assertIsNone(self.recorded(RECORD, (status, "changed")))

    def test_records_nothing_when_the_request_succeeds(self):
        self.assertIsNone(self.recorded(RECORD, None, None))

    def test_leaves_a_failure_that_changed_meanwhile(self):
        server = Server(None, (422, INVALID), (422, "test failed"))
        diagnose.diagnose(server, APPLY, RECORD)
        self.assertEqual([], server.answers)

    def test_names_an_object_that_exists(self):
        record = dict(RECORD, taken="a Deployment of this name exists")
        self.assertEqual("a Deployment of this name exists", self.recorded(record, None, (409, "has been modified"), None)["message"])

    def test_names_the_fields_of_a_conflict(self):
        text = 'Apply failed with 1 conflict: conflict with "kubectl": .spec.replicas'
        record = dict(RECORD, taken="a Deployment of this name exists")
        self.assertIn(text, self.recorded(record, None, (409, text), None)["message"])

    def test_a_deleted_object_needs_no_answer(self):
        request = {"method": "DELETE", "path": "/api/v1/namespaces/town/pods/one", "type": "application/json", "body": "{}"}
        self.assertIsNone(self.recorded(RECORD, None, (404, "not found"), request=request))

    def test_writes_an_annotation_as_text(self):
        got = self.recorded(dict(RECORD, encoded=True), None, (422, INVALID), None)
        self.assertEqual(dict(FAILED, attempts=5, message="the API server rejected it: " + INVALID), json.loads(got))

    def test_tries_the_status_as_a_dry_run_of_the_newest_version(self):
        request = {"method": "PATCH", "path": CR, "type": "application/merge-patch+json",
                   "body": '{"metadata": {"resourceVersion": "7"}, "status": {"size": "x"}}'}
        server = Server(None, (422, "status.size: Invalid value"), None)
        diagnose.diagnose(server, request, CONDITION)
        self.assertEqual(("PATCH", CR + "&dryRun=All", '{"metadata": {}, "status": {"size": "x"}}', "application/merge-patch+json"), server.requests[1])
        self.assertEqual({"op": "replace", "path": "/status/conditions/0/message",
                          "value": "the API server rejected the computed status: status.size: Invalid value"}, server.requests[2][2][-1])

    def test_cuts_a_long_message(self):
        self.assertEqual(api.MESSAGE_LIMIT, len(self.recorded(RECORD, None, (422, "x" * 9000), None)["message"]))

    def test_fails_without_an_answer(self):
        for status in diagnose.UNANSWERED:
            with self.assertRaises(api.ApiError):
                diagnose.diagnose(Server(None, (status, "")), APPLY, RECORD)

    def test_exits_with_1_without_an_api_server(self):
        rejected = base64.b64encode(json.dumps({"request": APPLY, "record": json.dumps(RECORD)}).encode()).decode()
        original, api.RETRY_BUDGET = api.RETRY_BUDGET, 0
        self.addCleanup(setattr, api, "RETRY_BUDGET", original)
        self.assertEqual(1, diagnose.main({"ARGOPERATOR_REJECTED": rejected, "ARGOPERATOR_API": "http://127.0.0.1:1"}))


if __name__ == "__main__":
    unittest.main()
