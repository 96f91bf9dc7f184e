"""Disconnected Sensors, and their token."""
import base64

from names import LAST_RECEIVED, RESTARTED_BY, SUBSCRIBED

from .fakecluster import Case, always


class HeartbeatTest(Case):
    SOURCE = "/apis/argoproj.io/v1alpha1/namespaces/argo-events/eventsources/memcached"
    SENSOR = SOURCE.replace("eventsources", "sensors")

    def setUp(self):
        super().setUp()
        self.config["sensors"], self.made = ["memcached"], "2026-01-01T00:00:00Z"
        self.cr()

    def resync(self, received):
        """A resync with the time of a Sensor's last heartbeat. Returns the annotations of its pod and of the
        EventSource's pod."""
        self.cluster.put(self.SENSOR, {"metadata": {}, "spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}})
        self.cluster.put(self.SOURCE, {
            "metadata": {"annotations": {LAST_RECEIVED + "memcached": received} if received else {}, "creationTimestamp": self.made},
            "spec": {"template": {"metadata": {"annotations": {SUBSCRIBED + "memcached": "d1"}}}}})
        self.code = self.run_command("resync")
        return [self.live(path)["spec"]["template"]["metadata"]["annotations"] for path in (self.SENSOR, self.SOURCE)]

    def test_connected_sensors_are_not_restarted(self):
        fine = [{"a": "b"}, {SUBSCRIBED + "memcached": "d1"}]
        for received in ("2026-02-02T00:00:00Z", "2026-02-01T23:57:00Z", "2026-02-02T00:01:00Z"):
            self.assertEqual(self.resync(received), fine, received)
        self.made = self.time
        self.assertEqual(self.resync(""), fine, "it is there since just now")
        self.assertNotIn("stopped receiving", self.out)

    def test_disconnected_sensors_are_restarted(self):
        restarted = {RESTARTED_BY: "argo-events/memcached-one-abc"}
        for received in ("2026-02-01T23:56:59Z", "", "yesterday"):
            self.assertEqual(self.resync(received), [{"a": "b", **restarted}, restarted], received)
        self.assertEqual(self.code, 0)
        self.assertIn("Sensor memcached stopped receiving events", self.out)

    def test_a_failure_does_not_stop_the_resync(self):
        self.cluster.faults = [always("PATCH", "/sensors/", 403, {"message": "no right"})]
        self.resync("")
        self.assertEqual(self.code, 1)
        self.assertIn("checking the heartbeat failed: no right", self.out)
        self.assertIn("1 custom resources, 1 submitted, 1 failed", self.out)

    def test_an_event_source_that_is_gone(self):
        self.assertEqual(self.run_command("resync"), 1)
        self.assertIn("1 custom resources, 1 submitted", self.out)


class RotateTest(Case):
    REQUEST = "/api/v1/namespaces/argo-events/serviceaccounts/memcached-sensor/token"
    SECRET = "/api/v1/namespaces/argo-events/secrets/memcached-token"

    def setUp(self):
        super().setUp()
        self.config["token"] = {"serviceAccount": "memcached-sensor", "secret": "memcached-token", "key": "authorization", "seconds": 86400}

    def rotate(self, expires):
        self.cluster.faults = [
            always("POST", "/token$", 201, {"status": {"token": "abc", "expirationTimestamp": expires}}),
            always("PATCH", "/secrets/", 200, {})]
        return self.run_command("rotate")

    def test_the_header_goes_into_the_secret(self):
        self.assertEqual(self.rotate("2026-02-03T00:00:00Z"), 0)
        (_, path, _, asked, _), (_, written, _, body, headers) = self.cluster.log
        self.assertEqual((path, written), (self.REQUEST, self.SECRET))
        self.assertEqual(asked["spec"], {"expirationSeconds": 86400, "boundObjectRef": {
            "apiVersion": "v1", "kind": "Secret", "name": "memcached-token"}})
        self.assertEqual(base64.b64decode(body["data"]["authorization"]), b"Bearer abc")
        self.assertEqual(headers["Content-Type"], "application/merge-patch+json")
        self.assertNotIn("abc", self.out.replace("memcached", ""))

    def test_a_token_for_too_short_is_refused(self):
        self.assertEqual(self.rotate("2026-02-02T16:00:00Z"), 0, "two thirds of it are enough")
        self.cluster.log = []
        self.assertEqual(self.rotate("2026-02-02T15:59:00Z"), 2)
        self.assertEqual(self.cluster.writes(), [("POST", self.REQUEST)])
        self.assertIn("grants a token for 57540 seconds only", self.out)
