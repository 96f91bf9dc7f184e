"""The expressions of a definition, as the pods of its Workflows evaluate them: jq, which argoperator has parsed.

The Sensor runs gojq, the image of a pod has only Python. So argoperator hands over the tree of each expression, with
its functions written out; what this file does not know, argoperator refuses. An expression is a list that begins with
the name of its operation. As in jq it yields any number of values for one input.
"""
import base64
import datetime
import functools
import json
import math
import urllib.parse


class ExpressionError(Exception):
    """An error of jq; its value is what `catch` sees."""

    def __init__(self, value):
        super().__init__(value if isinstance(value, str) else text_of(value))
        self.value = value


def built(node, dot, names):
    """The value of a node of the configuration. A key whose value comes out null is left out."""
    (form, value), = node.items()
    if form == "object":
        fields = [(key, built(item, dot, names)) for key, item in value.items()]
        return {key: item for key, item in fields if item is not None}
    if form == "array":
        return [built(item, dot, names) for item in value]
    if form == "concat":
        return "".join(text_of(in_text(only(part, dot, names))) for part in value)
    return plain(only(value, dot, names)) if form == "expr" else value


def in_text(value):
    if value is None:
        raise ExpressionError("null inside a text")
    return value


def only(expression, dot, names):
    """The first value of an expression, null where there is none."""
    return next(outcomes(expression, dot, names), None)


def outcomes(expression, dot, names):
    """The values of an expression. `names` are its variables."""
    return FORMS[expression[0]](dot, names, *expression[1:])


def jq_in(dot, names):
    yield dot


def jq_lit(dot, names, value):
    yield value


def jq_var(dot, names, name):
    yield names[name]


def jq_empty(dot, names):
    return
    yield


def jq_get(dot, names, base, key):
    for value in outcomes(base, dot, names):
        yield looked_up(value, key)


def jq_at(dot, names, base, key):
    for value in outcomes(base, dot, names):
        for one in outcomes(key, dot, names):
            yield looked_up(value, one)


def jq_slice(dot, names, start, end, base):
    for value in outcomes(base, dot, names):
        for last in outcomes(end or NULL, dot, names):
            for first in outcomes(start or NULL, dot, names):
                yield sliced(value, first, last)


def jq_each(dot, names, base):
    for value in outcomes(base, dot, names):
        yield from items_of(value)


def jq_try(dot, names, body, handler):
    try:
        yield from outcomes(body, dot, names)
    except ExpressionError as error:
        if handler is not None:
            yield from outcomes(handler, error.value, names)


def jq_pipe(dot, names, left, right):
    for value in outcomes(left, dot, names):
        yield from outcomes(right, value, names)


def jq_comma(dot, names, left, right):
    yield from outcomes(left, dot, names)
    yield from outcomes(right, dot, names)


def jq_collect(dot, names, body):
    yield [] if body is None else list(outcomes(body, dot, names))


def jq_make(dot, names, pairs):
    if not pairs:
        yield {}
        return
    (key, value), rest = pairs[0], pairs[1:]
    for name in outcomes(key, dot, names):
        if not isinstance(name, str):
            raise ExpressionError("%s cannot be a key" % shown(name))
        for one in outcomes(value, dot, names):
            for more in jq_make(dot, names, rest):
                yield {name: one, **more}


def jq_text(dot, names, form, *parts):
    """A string with expressions in it. With more than one value, the last part is the first to go round."""
    if not parts:
        yield ""
        return
    for tail in jq_text(dot, names, form, *parts[1:]):
        kind, part = parts[0]
        if kind == "lit":
            yield part + tail
        else:
            for value in outcomes(part, dot, names):
                yield (CALLS[form](value) if form else text_of(value)) + tail


def jq_if(dot, names, test, then, otherwise):
    for value in outcomes(test, dot, names):
        yield from outcomes(then if truth(value) else otherwise, dot, names)


def jq_alt(dot, names, left, right):
    found = False
    try:
        for value in outcomes(left, dot, names):
            if truth(value):
                found = True
                yield value
    except ExpressionError:  # an error on the left counts as nothing
        pass
    if not found:
        yield from outcomes(right, dot, names)


def jq_and(dot, names, left, right):
    for value in outcomes(left, dot, names):
        if truth(value):
            yield from map(truth, outcomes(right, dot, names))
        else:
            yield False


def jq_or(dot, names, left, right):
    for value in outcomes(left, dot, names):
        if truth(value):
            yield True
        else:
            yield from map(truth, outcomes(right, dot, names))


def jq_bind(dot, names, source, body, name):
    for value in outcomes(source, dot, names):
        yield from outcomes(body, dot, dict(names, **{name: value}))


def jq_reduce(dot, names, source, start, update, name):
    for result in outcomes(start, dot, names):
        for value in outcomes(source, dot, names):
            result = last_of(outcomes(update, result, dict(names, **{name: value})))
        yield result


def last_of(values):
    last = None
    for last in values:
        pass
    return last


def jq_first(dot, names, body):
    for value in outcomes(body, dot, names):
        yield value
        return


def jq_limit(dot, names, count, body):
    for most in outcomes(count, dot, names):
        if most > 0:
            for position, value in enumerate(outcomes(body, dot, names), 1):
                yield value
                if position >= most:
                    break


def jq_values(dot, names, body):
    """map_values: of each item the first value; an item without one goes."""
    nothing = object()
    if isinstance(dot, dict):
        found = [(key, next(outcomes(body, value, names), nothing)) for key, value in dot.items()]
        yield {key: value for key, value in found if value is not nothing}
    else:
        found = [next(outcomes(body, value, names), nothing) for value in items_of(dot)]
        yield [value for value in found if value is not nothing]


def jq_call(dot, names, name, *arguments):
    for values in combined(dot, names, arguments):
        result = CALLS[name](dot, *values)
        if name == "range/2":
            yield from result
        else:
            yield result


def combined(dot, names, arguments):
    """Every combination of the arguments' values; the last one goes round first."""
    if not arguments:
        yield ()
        return
    for more in combined(dot, names, arguments[1:]):
        for value in outcomes(arguments[0], dot, names):
            yield (value,) + more


def operator(calculate):
    def form(dot, names, left, right):
        for b in outcomes(right, dot, names):
            for a in outcomes(left, dot, names):
                yield calculate(a, b)
    return form


def merged(below, above):
    """Two objects as one; where both have a key, objects are merged and anything else is taken from above."""
    result = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else value
    return result


def parse_json(text):
    """The text's JSON; what JSON does not know (NaN) is an error here, since the API server would refuse it."""
    def reject(word):
        raise ValueError("%s is not JSON" % word)
    return json.loads(text, parse_constant=reject)


def seconds_of(text):
    """A time of the API server in seconds."""
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc).timestamp()


def truth(value):
    return value is not None and value is not False


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def type_of(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "number" if is_number(value) else "array" if isinstance(value, list) else "object"


def shown(value):
    """How messages show a value."""
    text = json_of(value)
    return "%s (%s)" % (type_of(value), text if len(text) < 60 else text[:60] + " ...")


def text_of(value):
    return value if isinstance(value, str) else json_of(value)


def json_of(value):
    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def plain(value):
    """Numbers as jq writes them: 1.0 is 1."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e17:
        return int(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def looked_up(value, key):
    if value is None and (isinstance(key, (str, dict)) or is_number(key)):
        return None
    if isinstance(value, dict) and isinstance(key, str):
        return value.get(key)
    if isinstance(value, (list, str)) and is_number(key):
        position = math.floor(key)
        return value[position] if -len(value) <= position < len(value) else None
    raise ExpressionError("%s cannot be looked up in %s" % (shown(key), shown(value)))


def sliced(value, first, last):
    if value is None:
        return None
    if not isinstance(value, (str, list)) or not all(one is None or is_number(one) for one in (first, last)):
        raise ExpressionError("%s cannot be sliced" % shown(value))
    return value[None if first is None else math.floor(first):None if last is None else math.ceil(last)]


def items_of(value):
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    if isinstance(value, list):
        return value
    raise ExpressionError("%s has no items" % shown(value))


def order(value):
    """A key that sorts and equals as jq does: null, booleans, numbers, strings, arrays, objects."""
    if value is None:
        return (0,)
    if isinstance(value, bool):
        return (1, value)
    if is_number(value):
        return (2, value)
    if isinstance(value, str):
        return (3, value)
    if isinstance(value, list):
        return (4, [order(item) for item in value])
    return (5, sorted(value), [order(value[key]) for key in sorted(value)])


def refuse(word, left, right):
    raise ExpressionError("cannot %s %s and %s" % (word, shown(left), shown(right)))


def added(left, right):
    if left is None or right is None:
        return left if right is None else right
    if is_number(left) and is_number(right):
        return left + right
    if isinstance(left, (str, list)) and type(left) is type(right):
        return left + right
    if isinstance(left, dict) and isinstance(right, dict):
        return dict(left, **right)
    return refuse("add", left, right)


def subtracted(left, right):
    if is_number(left) and is_number(right):
        return left - right
    if isinstance(left, list) and isinstance(right, list):
        gone = [order(item) for item in right]
        return [item for item in left if order(item) not in gone]
    return refuse("subtract", left, right)


def multiplied(left, right):
    if is_number(left) and is_number(right):
        return left * right
    if isinstance(left, dict) and isinstance(right, dict):
        return merged(left, right)
    for text, times in ((left, right), (right, left)):
        if isinstance(text, str) and is_number(times):
            return text * int(times) if times >= 0 else None
    return refuse("multiply", left, right)


def divided(left, right):
    if is_number(left) and is_number(right):
        if right == 0:
            raise ExpressionError("cannot divide %s by zero" % shown(left))
        return left // right if isinstance(left, int) and isinstance(right, int) and left % right == 0 else left / right
    if isinstance(left, str) and isinstance(right, str):
        return split_text(left, right)
    return refuse("divide", left, right)


def remainder(left, right):
    if not is_number(left) or not is_number(right):
        return refuse("divide", left, right)
    if int(right) == 0:
        raise ExpressionError("cannot divide %s by zero" % shown(left))
    return int(math.fmod(int(left), abs(int(right))))


def split_text(text, separator):
    if not isinstance(text, str) or not isinstance(separator, str):
        return refuse("split", text, separator)
    return text.split(separator) if separator else list(text)


def joined(items, separator):
    if not items:
        return ""
    parts = []
    for item in items:
        if isinstance(item, (list, dict)):
            return refuse("join", items, separator)
        parts.append("" if item is None else text_of(item))
    return need(separator, str, "separate by").join(parts) if len(parts) > 1 else parts[0]


def need(value, kinds, word):
    """The value, which has to be of a kind."""
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise ExpressionError("cannot %s %s" % (word, shown(value)))
    return value


def length(value):
    if isinstance(value, bool):
        raise ExpressionError("a boolean has no length")
    return 0 if value is None else abs(value) if is_number(value) else len(value)


def number_of(value):
    if is_number(value):
        return value
    try:
        number = parse_json(need(value, str, "read a number of"))
    except ValueError:
        number = None
    return number if is_number(number) else need(None, int, "read a number of %s, not" % shown(value))


def keys_of(value):
    return sorted(value) if isinstance(value, dict) else list(range(len(need(value, list, "list the keys of"))))


def has_key(value, key):
    if isinstance(value, dict) and isinstance(key, str):
        return key in value
    if isinstance(value, list) and is_number(key):
        return 0 <= key < len(value)
    return refuse("look for", value, key)


def contains(value, other):
    if isinstance(value, dict) and isinstance(other, dict):
        return all(key in value and contains(value[key], item) for key, item in other.items())
    if isinstance(value, list) and isinstance(other, list):
        return all(any(type_of(one) == type_of(item) and contains(one, item) for one in value) for item in other)
    if isinstance(value, str) and isinstance(other, str):
        return other in value
    if type_of(value) == type_of(other):
        return order(value) == order(other)
    return refuse("look for", value, other)


def flattened(items, depth=None):
    result = []
    for item in need(items, list, "flatten"):
        deeper = isinstance(item, list) and depth != 0
        result += flattened(item, None if depth is None else depth - 1) if deeper else [item]
    return result


def unique(items):
    result = []
    for item in sorted(need(items, list, "sort"), key=order):
        if not result or order(result[-1]) != order(item):
            result.append(item)
    return result


def grouped(pairs):
    groups = []
    for pair in sorted(pairs, key=lambda pair: order(pair[0])):
        if not groups or order(groups[-1][0][0]) != order(pair[0]):
            groups.append([])
        groups[-1].append(pair)
    return groups


def position_of(value, other):
    if value is None:
        return None
    if isinstance(value, str) and isinstance(other, str):
        return value.find(other) if other and other in value else None
    if not isinstance(value, list):
        return refuse("look for", value, other)
    wanted = [order(item) for item in other] if isinstance(other, list) else [order(other)]
    have = [order(item) for item in value]
    at = [i for i in range(len(have) - len(wanted) + 1) if wanted and have[i:i + len(wanted)] == wanted]
    return at[0] if at else None


def fingerprint(value):
    """16 digits that differ where a value does: the same as the Sensor's."""
    first, second = 5381, 52711
    for letter in json_of(value):
        first, second = (first * 33 + ord(letter)) % 2 ** 32, (second * 65599 + ord(letter)) % 2 ** 32
    return "%08x%08x" % (first, second)


def fail_with(value):
    raise ExpressionError(value)


def decoded(text):
    try:
        return base64.b64decode(need(text_of(text), str, "decode") + "==", validate=False).decode("utf-8", "replace")
    except ValueError:
        raise ExpressionError("%s is not base64" % shown(text)) from None


def from_json(text):
    try:
        return parse_json(need(text, str, "read JSON of"))
    except ValueError as error:
        raise ExpressionError("%s is not JSON: %s" % (shown(text), error)) from None


def date_of(seconds):
    moment = datetime.datetime.fromtimestamp(need(seconds, (int, float), "make a date of"), datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_at(text):
    try:
        return int(seconds_of(need(text, str, "read a date of")))
    except ValueError:
        raise ExpressionError("%s is not a date" % shown(text)) from None


def in_case(change):
    def call(text):
        return "".join(change(letter) if letter < "\x80" else letter for letter in need(text, str, "change the case of"))
    return call


def rounded(change):
    return lambda value: change(need(value, (int, float), "round"))


CALLS = {
    "abs/0": lambda v: abs(need(v, (int, float), "take the absolute value of")),
    "add/0": lambda v: functools.reduce(added, items_of(v), None),
    "ascii_downcase/0": in_case(str.lower), "ascii_upcase/0": in_case(str.upper),
    "ceil/0": rounded(math.ceil), "floor/0": rounded(math.floor), "round/0": rounded(
        lambda v: int(math.copysign(math.floor(abs(v) + 0.5), v))),
    "contains/1": contains, "endswith/1": lambda v, end: need(v, str, "look at the end of").endswith(need(end, str, "look for")),
    "startswith/1": lambda v, start: need(v, str, "look at the start of").startswith(need(start, str, "look for")),
    "error/0": fail_with, "error/1": lambda v, message: fail_with(message),
    "explode/0": lambda v: [ord(letter) for letter in need(v, str, "take apart")],
    "implode/0": lambda v: "".join(map(chr, need(v, list, "put together"))),
    "fingerprint/0": fingerprint, "flatten/0": flattened, "flatten/1": flattened,
    "fromdateiso8601/0": seconds_at, "todateiso8601/0": date_of, "fromjson/0": from_json,
    "has/1": has_key, "index/1": position_of, "join/1": joined, "keys/0": keys_of, "length/0": length,
    "ltrimstr/1": lambda v, s: v[len(s):] if need(v, str, "trim").startswith(need(s, str, "trim off")) else v,
    "rtrimstr/1": lambda v, s: v[:len(v) - len(s)] if need(v, str, "trim").endswith(need(s, str, "trim off")) else v,
    "max/0": lambda v: max(reversed(need(v, list, "compare")), key=order, default=None),
    "min/0": lambda v: min(need(v, list, "compare"), key=order, default=None),
    "range/2": lambda v, a, b: [a + i for i in range(max(0, math.ceil(b - a)))],
    "reverse/0": lambda v: need(v, list, "reverse")[::-1],
    "sort/0": lambda v: sorted(need(v, list, "sort"), key=order), "unique/0": unique,
    "split/1": split_text, "tonumber/0": number_of, "tostring/0": text_of,
    "trim/0": lambda v: need(v, str, "trim").strip(), "type/0": type_of,
    "_any/0": lambda v: any(map(truth, v)), "_all/0": lambda v: all(map(truth, v)),
    "_sort/0": lambda v: sorted(v, key=lambda pair: order(pair[0])), "_group/0": grouped,
    "@text": text_of, "@json": json_of,
    "@base64": lambda v: base64.b64encode(text_of(v).encode("utf-8", "replace")).decode(), "@base64d": decoded,
    "@uri": lambda v: urllib.parse.quote(text_of(v).encode("utf-8", "replace"), safe="-_.~"),
}

NULL = ["lit", None]
FORMS = {
    "in": jq_in, "lit": jq_lit, "var": jq_var, "empty": jq_empty, "get": jq_get, "at": jq_at, "slice": jq_slice,
    "each": jq_each, "try": jq_try, "pipe": jq_pipe, "comma": jq_comma, "collect": jq_collect, "make": jq_make,
    "text": jq_text, "if": jq_if, "alt": jq_alt, "and": jq_and, "or": jq_or, "bind": jq_bind, "reduce": jq_reduce,
    "first": jq_first, "limit": jq_limit, "values": jq_values, "call": jq_call,
    "add": operator(added), "sub": operator(subtracted), "mul": operator(multiplied), "div": operator(divided),
    "mod": operator(remainder),
    "eq": operator(lambda a, b: order(a) == order(b)), "ne": operator(lambda a, b: order(a) != order(b)),
    "lt": operator(lambda a, b: order(a) < order(b)), "le": operator(lambda a, b: order(a) <= order(b)),
    "gt": operator(lambda a, b: order(a) > order(b)), "ge": operator(lambda a, b: order(a) >= order(b)),
}
