"""Tests of what the comparison with gojq (TestPodAgrees, TestPodAgreesRandomly) does not cover: the limits."""
import json
import threading
import unittest
from unittest import mock

import values
from expressions import built, evaluated
from values import ExpressionError


def lit(value):
    return ["lit", value]


def call(name, *arguments):
    return ["call", name, *arguments]


def reduced(times, start, update):
    return ["reduce", call("_range/3", lit(0), lit(times), lit(1)), start, update, "$x"]


def pattern(letter, flags="g"):
    """The regular expression of one letter, as argoperator compiles it."""
    code = [["fail"], ["in", 2, 0], ["match"]]
    return letter, flags, {"code": code, "sets": [[ord(letter), ord(letter) + 1]], "start": 1, "prefix": letter,
                           "anchored": False, "groups": []}


def nested(times, update):
    """An operation applied to its own result."""
    expression = ["in"]
    for _ in range(times):
        expression = update(expression)
    return expression


class LimitsTest(unittest.TestCase):
    def test_ends_with_an_error(self):
        """An expensive expression ends with an ExpressionError, quickly and without using all memory."""
        doubled, twice = ["add", ["in"], ["in"]], ["collect", ["comma", ["in"], ["in"]]]
        for title, expression, message in (
                ("an endless range", ["last", call("_range/3", lit(float("nan")), lit(1), lit(1))], "steps"),
                ("a long list", ["collect", call("_range/3", lit(0), lit(1e300), lit(1))], "steps"),
                ("a text", reduced(60, lit("x"), doubled), "characters"),
                ("a list", reduced(60, lit([1]), doubled), "steps"),
                ("a whole number", reduced(60, lit(10), ["mul", ["in"], ["in"]]), "bits"),
                ("digits", ["pipe", lit("1" * 10000), call("tonumber/0")], "digits"),
                ("a value that holds itself often", ["pipe", reduced(60, lit(1), twice), call("@json")], "steps"),
                ("a deep value", ["pipe", reduced(5000, lit(1), ["collect", ["in"]]), call("@json")], "deep"),
                ("a deep result", reduced(5000, lit(1), ["collect", ["in"]]), "deep"),
                ("deep JSON", ["pipe", lit("[" * 100000), call("fromjson/0")], "deep"),
                ("a deep expression", nested(5000, lambda inner: ["collect", inner]), "deep"),
                ("a repeated text", ["mul", lit("x" * 1000), lit(1e6)], "characters"),
                ("many matches", ["pipe", lit("a" * 200_000), ["search", "match", *pattern("a")]], "steps"),
                ("long replacements", ["pipe", lit("a" * 100), ["replace", lit("x" * 10 ** 6), *pattern("a")]], "characters"),
                ("many replacements", ["pipe", lit("a"), ["replace", ["pipe", call("_range/3", lit(0), lit(1e300), lit(1)),
                                                                      call("tostring/0")], *pattern("a")]], "steps")):
            with self.subTest(title), mock.patch.object(values, "STEPS", 200_000), \
                    self.assertRaisesRegex(ExpressionError, message):
                built({"expr": expression}, {}, {})

    def test_try_does_not_catch_a_limit(self):
        endless = ["last", call("_range/3", lit(float("nan")), lit(1), lit(1))]
        with mock.patch.object(values, "STEPS", 10_000), self.assertRaisesRegex(ExpressionError, "steps"):
            built({"expr": ["try", endless, lit("hidden")]}, {}, {})

    def test_unexpected(self):
        """An unexpected exception is an error of the expression, too."""
        with self.assertRaisesRegex(ExpressionError, "_nothing"):
            built({"expr": call("_nothing/0")}, {}, {})
        with self.assertRaises(ExpressionError):
            built({"expr": ["var", "$nothing"]}, {}, {})

    def test_each_expression_has_its_own_steps(self):
        many = {"array": [{"expr": ["last", call("_range/3", lit(0), lit(3000), lit(1))]}] * 10}
        with mock.patch.object(values, "STEPS", 20_000):
            self.assertEqual(built(many, {}, {}), [2999] * 10)

    def test_each_thread_has_its_own_steps(self):
        """A worker evaluates expressions in several threads."""
        part = ["last", call("_range/3", lit(0), lit(3000), lit(1))]
        with mock.patch.object(values, "STEPS", 20_000), self.assertRaisesRegex(ExpressionError, "steps"):
            for _ in evaluated(["comma", *[part] * 10], {}, {}):
                other = threading.Thread(target=lambda: built({"expr": lit(1)}, {}, {}))
                other.start()
                other.join()


class ResultTest(unittest.TestCase):
    def test_an_error_after_the_first_value_counts(self):
        """The Sensor computes all values before it uses the first."""
        with self.assertRaisesRegex(ExpressionError, "late"):
            built({"expr": ["comma", lit(1), call("error/1", lit("late"))]}, {}, {})
        self.assertEqual(built({"expr": ["comma", lit(1), lit(2)]}, {}, {}), 1)
        self.assertIsNone(built({"expr": ["empty"]}, {}, {}))

    def test_numbers(self):
        """Integers are integers in JSON, and those of the input are exact from 2^53 on."""
        for value, wanted in ((1.0, "1"), (1e18, "1000000000000000000"), (1.5, "1.5"), (2 ** 63 - 1, "9223372036854775807")):
            with self.subTest(value):
                self.assertEqual(json.dumps(built({"expr": ["in"]}, value, {})), wanted)
                self.assertEqual(built({"concat": [lit("x"), ["in"]]}, value, {}), "x" + wanted)
        for value in (float("inf"), float("nan")):
            with self.assertRaisesRegex(ExpressionError, "JSON does not know"):
                built({"expr": ["in"]}, value, {})


if __name__ == "__main__":
    unittest.main()
