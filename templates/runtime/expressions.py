"""The expressions of a definition, as the pods of its Workflows evaluate them: jq, which argoperator has parsed.

The Sensor runs gojq, the image of a pod has only Python. So argoperator hands over the tree of each expression, with
its functions written out; what this file does not know, argoperator refuses. An expression is a list that begins with
the name of its operation. As in jq it yields any number of values for one input, and as in gojq an error ends it; the
results and the texts of the errors are those of gojq.

Numbers: an int or a float of the input is a float64 of gojq, a Whole is one of its exact whole numbers. Whole numbers of
the input from 2^53 on stay exact, where a Sensor refuses them. Bytes that are no UTF-8, which only @base64d makes, are
the surrogates of Python's "surrogateescape".
"""
import base64
import decimal
import functools
import json
import math
import re
import urllib.parse

# Limits of one expression, so that it fails before it uses all of the pod's time or memory.
STEPS = 5_000_000  # operations, and items that are created, compared or written
LETTERS = 1 << 26  # of one string
BITS = 13_000  # of one integer: Python formats up to 4300 digits

EXACT = 2 ** 53  # below it every integer is a float
LARGEST = 2 ** 63 - 1


class ExpressionError(Exception):
    """A jq error; `catch` receives its value. The value may be a function that is called when the value is needed."""

    def __init__(self, value):
        super().__init__(value)
        self.made = value

    @property
    def value(self):
        if callable(self.made):
            self.made = self.made()
        return self.made

    def __str__(self):
        return text_of(self.value)


class Exceeded(Exception):
    """An expression exceeds a limit. No `try` of the expression catches this."""


class Whole(int):
    """An integer of jq: exact, of any size."""


class WrittenWhole(Whole):
    """An integer that fromjson parsed. Until it is used in a calculation, it is written as it was."""


class WrittenFloat(float):
    """Another number that fromjson parsed."""


def built(node, dot, names):
    """The value of a node of the configuration. A key whose value is null is omitted."""
    (form, value), = node.items()
    if form == "object":
        fields = [(key, built(item, dot, names)) for key, item in value.items()]
        return {key: item for key, item in fields if item is not None}
    if form == "array":
        return [built(item, dot, names) for item in value]
    if form == "concat":
        return "".join(text_of(in_text(only(part, dot, names))) for part in value)
    return only(value, dot, names) if form == "expr" else value


def in_text(value):
    if value is None:
        raise ExpressionError("null inside a text")
    return value


def only(expression, dot, names):
    """The first value of an expression, or null."""
    found = list(evaluated(expression, dot, names))
    return found[0] if found else None


class Budget:
    left = STEPS


def spend(steps=1):
    Budget.left -= steps
    if Budget.left < 0:
        raise Exceeded(f"the expression takes more than {STEPS} steps")


def evaluated(expression, dot, names):
    """The values of a whole expression in the form of JSON. Every error is an ExpressionError."""
    Budget.left = STEPS
    try:
        for value in outcomes(expression, dot, names):
            yield plain(value)
    except (ExpressionError, GeneratorExit):
        raise
    except RecursionError as error:
        raise ExpressionError("the expression, or a value in it, is nested too deep for a pod") from error
    except MemoryError as error:
        raise ExpressionError("the expression takes more memory than the pod has") from error
    except Exception as error:
        raise ExpressionError(str(error) or type(error).__name__) from error


def outcomes(expression, dot, names):
    """The values of an expression. `names` are its variables."""
    spend()
    return FORMS[expression[0]](dot, names, *expression[1:])


def combined(makers):
    """Every combination of the values of generators; the last one varies fastest. Each generator is created from the
    values before it."""
    values, running = [], [makers[0](())]
    while running:
        for value in running[-1]:
            values.append(value)
            break
        else:
            running.pop()
            if values:
                values.pop()
            continue
        if len(values) < len(makers):
            running.append(makers[len(values)](values))
        else:
            yield tuple(values)
            values.pop()


def jq_in(dot, names):
    yield dot


def jq_lit(dot, names, value):
    yield Whole(value) if type(value) is int else value


def jq_var(dot, names, name):
    yield names[name]


def jq_empty(dot, names):
    return
    yield


def jq_get(dot, names, base, key):
    for value in outcomes(base, dot, names):
        yield looked_up(value, key)


def jq_at(dot, names, base, key):
    for one in outcomes(key, dot, names):
        for value in outcomes(base, dot, names):
            yield looked_up(value, one)


def jq_slice(dot, names, start, end, base):
    for first in outcomes(start or NULL, dot, names):
        for last in outcomes(end or NULL, dot, names):
            for value in outcomes(base, dot, names):
                yield sliced(value, first, last)


def jq_each(dot, names, base):
    for value in outcomes(base, dot, names):
        for item in items_of(value):
            spend()
            yield item


def jq_try(dot, names, body, handler):
    try:
        yield from outcomes(body, dot, names)
    except ExpressionError as error:
        caught = error
    else:
        return
    if handler is not None:
        yield from outcomes(handler, caught.value, names)


def jq_pipe(dot, names, left, right):
    for value in outcomes(left, dot, names):
        yield from outcomes(right, value, names)


def jq_comma(dot, names, *parts):
    for part in parts:
        yield from outcomes(part, dot, names)


def jq_collect(dot, names, body):
    yield [] if body is None else list(outcomes(body, dot, names))


def jq_make(dot, names, pairs):
    """An object. A pair without a value expression has the value of the input's key."""
    if not pairs:
        yield {}
        return
    makers = []
    for key, value in pairs:
        makers.append(lambda before, key=key: outcomes(key, dot, names))
        makers.append(lambda before, value=value:
                      outcomes(value, dot, names) if value else iter([looked_up(dot, before[-1])]))
    for made in combined(makers):
        for name in made[-2::-2]:
            if not isinstance(name, str):
                raise wrong("expected a string for object key but got: %s", name)
        yield dict(zip(made[::2], made[1::2]))


def jq_text(dot, names, form, *parts):
    """A string with expressions in it. With more than one value, the last part varies slowest."""
    change = CALLS[form] if form else text_of
    makers = [lambda before, kind=kind, part=part:
              iter([part]) if kind == "lit" else map(change, outcomes(part, dot, names))
              for kind, part in reversed(parts)]
    for made in combined(makers):
        yield whole_text("".join(reversed(made)))


def jq_if(dot, names, test, then, otherwise):
    for value in outcomes(test, dot, names):
        yield from outcomes(then if truth(value) else otherwise, dot, names)


def jq_alt(dot, names, left, right):
    found = False
    for value in outcomes(left, dot, names):
        if truth(value):
            found = True
            yield value
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
    """An update that yields nothing keeps the result; of several values the last one is used."""
    for result in outcomes(start, dot, names):
        for value in outcomes(source, dot, names):
            for last in outcomes(update, result, dict(names, **{name: value})):
                result = last
        yield result


def jq_first(dot, names, body):
    for value in outcomes(body, dot, names):
        yield value
        return


def jq_last(dot, names, body):
    found = []
    for value in outcomes(body, dot, names):
        found = [value]
    yield from found


def jq_limit(dot, names, count, body):
    for left in outcomes(count, dot, names):
        sign = compare(left, ZERO)
        if sign < 0:
            raise ExpressionError("limit doesn't support negative count")
        if sign == 0:
            continue
        for value in outcomes(body, dot, names):
            left = subtracted(left, ONE)
            yield value
            if compare(left, ZERO) <= 0:
                break


def jq_values(dot, names, body):
    """map_values: the first value of each item; an item without one is removed."""
    nothing = object()
    keys = sorted_keys(dot) if isinstance(dot, dict) else range(len(items_of(dot)))
    found = [(key, next(outcomes(body, dot[key], names), nothing)) for key in keys]
    kept = [(key, value) for key, value in found if value is not nothing]
    yield dict(kept) if isinstance(dot, dict) else [value for _, value in kept]


def jq_call(dot, names, name, *arguments):
    """A function of values; the first argument varies fastest."""
    call = CALLS[name]
    if not arguments:
        yield call(dot)
        return
    for values in combined([lambda before, one=one: outcomes(one, dot, names) for one in reversed(arguments)]):
        if name == "_range/3":
            yield from ranged(*reversed(values))
        else:
            yield call(dot, *reversed(values))


def operator(calculate):
    def form(dot, names, left, right):
        for b in outcomes(right, dot, names):
            for a in outcomes(left, dot, names):
                yield calculate(a, b)
    return form


def merged(below, above):
    """Merges two objects: if both have a key, objects are merged and any other value is taken from above."""
    result = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else value
    return result


def parse_json(text, **hooks):
    """The JSON of a text; NaN, which is not JSON, is an error, because the API server would reject it."""
    def reject(word):
        raise ValueError(f"{word} is not JSON")
    return json.loads(text, parse_constant=reject, **hooks)


def seconds_of(text):
    """A time of the API server in seconds."""
    seconds = seconds_at(text)
    if seconds is None:
        raise ValueError(f"{text!r} is no time")
    return seconds


# Errors have the text of gojq, because an expression may read it.

def wrong(message, *values):
    """An error that shows values with their types."""
    return ExpressionError(lambda: message % tuple(typed(value) for value in values))


def cannot(name, value):
    """The error of a function that does not accept a value."""
    return wrong(name + " cannot be applied to: %s", value)


def cannot_with(name, value, *arguments):
    return ExpressionError(lambda: f"{name}({'; '.join(map(preview, arguments))}) cannot be applied to: {typed(value)}")


def unreadable(name, value, why):
    return ExpressionError(lambda: f"{name} cannot be applied to {preview(value)}: {why}")


def typed(value):
    return "null" if value is None else f"{type_of(value)} ({preview(value)})"


class Enough(Exception):
    """The JSON is longer than preview shows."""


def preview(value):
    """The first 30 bytes of the JSON of a value."""
    pieces, size = [], 0

    def write(piece):
        nonlocal size
        pieces.append(piece)
        size += len(piece)
        if size >= 32:
            raise Enough
    try:
        encode(value, write)
    except Enough:
        pass
    data = "".join(pieces).encode()[:32]
    if len(data) <= 30:
        return data.decode()
    end = {str: ' ..."', list: " ...]", dict: " ...}"}.get(type(value), " ...")
    text = data.decode(errors="ignore")
    while len(text.encode()) > 30 - len(end):
        text = text[:-1]
    return text + end


# Values.

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


def is_exact(number):
    return isinstance(number, Whole) or (type(number) is int and not -EXACT < number < EXACT)


def parsed(value):
    """A number of fromjson as the number that it is."""
    if isinstance(value, WrittenWhole):
        return Whole(value)
    return float(value) if isinstance(value, WrittenFloat) else value


def as_float(number):
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def float_of(value):
    """The value as a floating point number, or None if it is not a number, or one of fromjson that is too large."""
    if not is_number(value):
        return None
    number = as_float(value)
    return None if math.isinf(number) and isinstance(value, (WrittenWhole, WrittenFloat)) else number


def int_of(value):
    """The value as a 64-bit integer, or None if it is not a number."""
    if not is_number(value):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return LARGEST if value > 0 else -LARGEST - 1
    return max(-LARGEST - 1, min(LARGEST, int(value)))


def int_above(value):
    """int_of, rounded up; but a number of fromjson is truncated."""
    return int_of(math.ceil(value) if type(value) is float and math.isfinite(value) else value)


def whole(value):
    if value.bit_length() > BITS:
        raise Exceeded(f"a whole number of the expression has more than {BITS} bits")
    return Whole(value)


def number_in(text):
    """The number that a text of digits is."""
    if set(text) & set(".eE"):
        return float(text)
    if len(text) > BITS // 4:
        raise Exceeded(f"a whole number of the expression has {len(text)} digits")
    return Whole(text)


def number_text(number):
    if isinstance(number, (WrittenWhole, WrittenFloat)):
        return number.text
    return str(int(number)) if isinstance(number, int) else float_text(number)


def float_text(number):
    """In the format of gojq: 1 for 1.0, digits from 1e-6 to 1e21."""
    if math.isnan(number):
        return "null"
    text = repr(min(max(number, -1.7976931348623157e+308), 1.7976931348623157e+308))
    if "e" not in text:
        return text[:-2] if text.endswith(".0") else text
    if 1e-6 <= abs(number) < 1e21:
        return format(decimal.Decimal(text), "f")
    return text.replace("e-0", "e-")


def text_of(value):
    return value if isinstance(value, str) else json_of(value)


def json_of(value):
    pieces = []
    encode(value, pieces.append)
    return "".join(pieces)


ESCAPED = re.compile('[\x7f\ud800-\udfff]')


def encode(value, write):
    """The JSON of a value in pieces, in the format of gojq."""
    spend()
    if isinstance(value, str):
        spend(len(value) >> 10)
        text = json.dumps(value, ensure_ascii=False)
        write(text if text.isascii() and "\x7f" not in text else
              ESCAPED.sub(lambda found: "\\u007f" if found.group() == "\x7f" else "\\ufffd", text))
    elif value is None or isinstance(value, bool):
        write({None: "null", True: "true", False: "false"}[value])
    elif isinstance(value, (int, float)):
        write(number_text(value))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            write("," if position else "[")
            encode(item, write)
        write("]" if value else "[]")
    else:
        for position, key in enumerate(sorted_keys(value)):
            write("," if position else "{")
            encode(key, write)
            write(":")
            encode(value[key], write)
        write("}" if value else "{}")


def plain(value):
    """A value in the form of JSON: 1.0 is 1, and all numbers are JSON numbers."""
    spend()
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ExpressionError(f"the result has a number that JSON does not know: {float(value)}")
        return int(value) if value.is_integer() and abs(value) < 1e21 else float(value)
    if isinstance(value, Whole):
        return int(value)
    if isinstance(value, str):
        return valid(value)
    if isinstance(value, dict):
        return {valid(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


SURROGATE = re.compile("[\ud800-\udfff]")


def is_valid(text):
    return text.isascii() or not SURROGATE.search(text)


def valid(text):
    """The text with the replacement character for each byte that is not UTF-8."""
    return text if is_valid(text) else SURROGATE.sub("\ufffd", text)


def whole_text(text):
    """A text that was concatenated: bytes of several parts may form a character."""
    if len(text) > LETTERS:
        raise Exceeded(f"a text of the expression has more than {LETTERS} characters")
    spend(len(text) >> 10)
    return text if is_valid(text) else from_raw(raw(text))


def raw(text):
    return text.encode("utf-8", "surrogateescape")


def from_raw(data):
    return data.decode("utf-8", "surrogateescape")


def comparable(*texts):
    """The texts, or their bytes if one is not UTF-8: gojq searches bytes."""
    return texts if all(map(is_valid, texts)) else tuple(map(raw, texts))


def sorted_keys(value):
    try:
        return sorted(value, key=raw) if not all(map(is_valid, value)) else sorted(value)
    except UnicodeError:
        return sorted(value)


def items_of(value):
    if isinstance(value, dict):
        return [value[key] for key in sorted_keys(value)]
    if isinstance(value, list):
        return value
    raise wrong("cannot iterate over: %s", value)


def contents(value, error):
    if isinstance(value, (list, dict)):
        return items_of(value)
    raise error


def listed(value, error):
    if isinstance(value, list):
        return value
    raise error


def texts(name, value, other):
    if not isinstance(value, str) or not isinstance(other, str):
        raise cannot_with(name, value, other)
    return comparable(value, other)


def text_in(name, value):
    if not isinstance(value, str):
        raise cannot(name, value)
    return value


def looked_up(value, key):
    if isinstance(key, str):
        if value is None or isinstance(value, dict):
            return None if value is None else value.get(key)
        raise wrong("expected an object but got: %s", value)
    if value is None and (isinstance(key, (list, dict)) or is_number(key)):
        return None
    if is_number(key):
        if not isinstance(value, (list, str)):
            raise wrong("expected an array but got: %s", value)
        position = int_of(key)
        found = value[position] if -len(value) <= position < len(value) else None
        return valid(found) if isinstance(value, str) and found else found
    if isinstance(key, list):
        return positions(listed(value, wrong("expected an array but got: %s", value)), key)
    if isinstance(key, dict):
        if "start" not in key or "end" not in key:
            raise wrong('expected "start" and "end" for slicing but got: %s', key)
        return sliced(value, key["start"], key["end"])
    wanted = {"array": "a number for indexing an array", "string": "a number for indexing a string"}
    raise wrong(f"expected {wanted.get(type_of(value), 'a string for object key')} but got: %s", key)


def sliced(value, first, last):
    if value is None:
        return None
    if not isinstance(value, (str, list)):
        raise wrong("expected an array but got: %s", value)
    for one in (first, last):
        if one is not None and not is_number(one):
            indexed = "a string" if isinstance(value, str) else "an array"
            raise wrong("expected a number for indexing " + indexed + " but got: %s", one)
    return value[int_of(first):int_above(last)]


def compare(left, right):
    """-1, 0 or 1: null, false, true, numbers, strings, arrays, objects. NaN is less than everything, including
    itself."""
    spend()
    if isinstance(left, str) and isinstance(right, str):
        left, right = comparable(left, right)
        return (left > right) - (left < right)
    if is_number(left) and is_number(right):
        return compare_numbers(left, right)
    if isinstance(left, list) and isinstance(right, list):
        for one, other in zip(left, right):
            sign = compare(one, other)
            if sign:
                return sign
        return (len(left) > len(right)) - (len(left) < len(right))
    if isinstance(left, dict) and isinstance(right, dict):
        keys = sorted_keys(left)
        return compare(keys, sorted_keys(right)) or next(filter(None, (compare(left[key], right[key]) for key in keys)), 0)
    one, other = rank(left), rank(right)
    return (one > other) - (one < other)


def compare_numbers(left, right):
    if not (is_exact(left) and is_exact(right)):
        left, right = as_float(left), as_float(right)
        if math.isnan(left):
            return -1
        return -1 if left < right else 0 if left == right else 1
    return (left > right) - (left < right)


def rank(value):
    if isinstance(value, bool):
        return 2 if value else 1
    return {"null": 0, "number": 3, "string": 4, "array": 5, "object": 6}[type_of(value)]


def calculated(left, right, exactly, roughly):
    if is_exact(left) and is_exact(right):
        return whole(exactly(int(left), int(right)))
    return roughly(as_float(left), as_float(right))


def added(left, right):
    left, right = parsed(left), parsed(right)
    if is_number(left) and is_number(right):
        return calculated(left, right, int.__add__, float.__add__)
    if isinstance(left, str) and isinstance(right, str):
        return whole_text(left + right)
    if isinstance(left, list) and isinstance(right, list):
        spend(len(left) + len(right))
        return left + right
    if isinstance(left, dict) and isinstance(right, dict):
        spend(len(left) + len(right))
        return {**left, **right}
    if left is None or right is None:
        return left if right is None else right
    raise wrong("cannot add: %s and %s", left, right)


def sum_of(items):
    """The sum of the items, ignoring null."""
    total, owned = None, False
    for item in items:
        if item is None:
            continue
        if owned and isinstance(item, list):
            spend(len(item))
            total.extend(item)
            continue
        total, owned = added(total, item), isinstance(total, list)
    return total


def subtracted(left, right):
    left, right = parsed(left), parsed(right)
    if is_number(left) and is_number(right):
        return calculated(left, right, int.__sub__, float.__sub__)
    if isinstance(left, list) and isinstance(right, list):
        return [item for item in left if not any(compare(item, gone) == 0 for gone in right)]
    raise wrong("cannot subtract: %s and %s", left, right)


def multiplied(left, right):
    left, right = parsed(left), parsed(right)
    if is_number(left) and is_number(right):
        return calculated(left, right, int.__mul__, float.__mul__)
    if isinstance(left, dict) and isinstance(right, dict):
        return merged(left, right)
    for text, times in ((left, right), (right, left)):
        if isinstance(text, str) and is_number(times):
            return repeated(text, as_float(times))
    raise wrong("cannot multiply: %s and %s", left, right)


def repeated(text, times):
    if times < 0 or math.isnan(times):
        return None
    count = int(min(times, 2 ** 31 - 1))
    if len(raw(text)) * count >= 2 ** 31 - 1:
        raise ExpressionError(lambda: f"repeat string result too large: {preview(text)} * {preview(times)}")
    if len(text) * count > LETTERS:
        raise Exceeded(f"a text of the expression has more than {LETTERS} characters")
    return whole_text(text * count)


def divided(left, right):
    left, right = parsed(left), parsed(right)
    if is_number(left) and is_number(right):
        if right == 0:
            raise wrong("cannot divide %s by: %s", *as_calculated(left, right))
        if is_exact(left) and is_exact(right) and left % right == 0:
            return Whole(int(left) // int(right))
        return quotient(as_float(left), as_float(right))
    if isinstance(left, str) and isinstance(right, str):
        return split_text(left, right) if left else []
    raise wrong("cannot divide: %s and %s", left, right)


def as_calculated(left, right):
    """Both numbers in messages: as floats if one is a float."""
    return (left, right) if is_exact(left) and is_exact(right) else (as_float(left), as_float(right))


def quotient(left, right):
    try:
        return left / right
    except OverflowError:
        return math.copysign(math.inf, left) * math.copysign(1, right)


def remainder(left, right):
    left, right = parsed(left), parsed(right)
    if not is_number(left) or not is_number(right):
        raise wrong("cannot modulo: %s and %s", left, right)
    if is_exact(left) and is_exact(right):
        one, other = int(left), int(right)
    elif math.isnan(left) or math.isnan(right):
        return math.nan
    else:
        one, other = int_of(as_float(left)), int_of(as_float(right))
    if other == 0:
        raise wrong("cannot modulo %s by: %s", *as_calculated(left, right))
    rest = abs(one) % abs(other)
    return Whole(-rest if one < 0 else rest)


def negated(value):
    if isinstance(value, (WrittenWhole, WrittenFloat)):
        text = value.text[1:] if value.text.startswith("-") else "-" + value.text
        return written(text)
    if not is_number(value):
        raise wrong("cannot negate: %s", value)
    return whole(-value) if is_exact(value) else -as_float(value)


def asserted(value):
    if not is_number(value):
        raise wrong("cannot plus: %s", value)
    return value


def split_text(text, separator):
    one, other = comparable(text_in("split", text), text_in("split", separator))
    if not other:
        return list(text)
    found = one.split(other)
    spend(len(found))
    return found if isinstance(one, str) else list(map(from_raw, found))


def joined(value, separator):
    items = contents(value, cannot_with("join", value, separator))
    if not items:
        return ""
    if isinstance(separator, str) and all(item is None or isinstance(item, (str, int, float)) for item in items):
        return whole_text(separator.join("" if item is None else text_of(item) for item in items))
    parts = []
    for item in items:
        parts += [separator if parts else "", item if isinstance(item, (str, list, dict)) or item is None else text_of(item)]
    return sum_of(parts)


def magnitude(value):
    if isinstance(value, (WrittenWhole, WrittenFloat)):
        return written(value.text[1:]) if value.text.startswith("-") else value
    return Whole(abs(value)) if is_exact(value) else abs(as_float(value))


def length(value):
    if isinstance(value, bool):
        raise cannot("length", value)
    if value is None:
        return ZERO
    return magnitude(value) if is_number(value) else Whole(len(value))


NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def number_of(value):
    if is_number(value):
        return value
    if not NUMBER.fullmatch(text_in("tonumber", value)):
        raise unreadable("tonumber", value, "invalid number")
    return number_in(value)


def written(text):
    """A JSON number that keeps its text."""
    value = number_in(text)
    number = WrittenFloat(value) if isinstance(value, float) else WrittenWhole(value)
    number.text = text
    return number


def from_json(value):
    try:
        found = parse_json(text_in("fromjson", value), parse_int=written, parse_float=written)
    except ValueError as error:
        raise unreadable("fromjson", value, str(error)) from None
    return found if is_valid(value) and "\\u" not in value else without_surrogates(found)


def without_surrogates(value):
    if isinstance(value, str):
        return valid(value)
    if isinstance(value, dict):
        return {valid(key): without_surrogates(item) for key, item in value.items()}
    return [without_surrogates(item) for item in value] if isinstance(value, list) else value


def keys_of(value):
    if isinstance(value, dict):
        return sorted_keys(value)
    return list(map(Whole, range(len(listed(value, cannot("keys", value))))))


def has_key(value, key):
    if value is None:
        return False
    if isinstance(value, dict) and isinstance(key, str):
        return key in value
    if isinstance(value, list) and is_number(key):
        return 0 <= int_of(key) < len(value)
    raise cannot_with("has", value, key)


def contains(value, other):
    found = holds(value, other)
    if found is None:
        raise cannot_with("contains", parsed(value), parsed(other))
    return found


def holds(value, other):
    """contains; None if the values cannot be compared, which counts as false inside lists and objects."""
    spend()
    if is_number(value) and is_number(other):
        return value == other if is_exact(value) and is_exact(other) else as_float(value) == as_float(other)
    if isinstance(value, str) and isinstance(other, str):
        one, part = comparable(value, other)
        return part in one
    if isinstance(value, list) and isinstance(other, list):
        return all(any(holds(one, item) for one in value) for item in other)
    if isinstance(value, dict) and isinstance(other, dict):
        return all(key in value and bool(holds(value[key], item)) for key, item in other.items())
    return True if type(value) is type(other) and value == other else None


def flattened(value, *depth):
    items = contents(value, cannot("flatten", value))
    levels = -1.0
    if depth:
        levels = float_of(depth[0])
        if levels is None:
            raise cannot("flatten", depth[0])
        if levels < 0 or math.isnan(levels):
            raise ExpressionError(lambda: f"flatten depth should not be negative: {preview(levels)}")
    return flat(items, levels, [])


def flat(items, levels, result):
    for item in items:
        spend()
        if isinstance(item, list) and levels != 0:
            flat(item, levels - 1, result)
        else:
            result.append(item)
    return result


def sorted_pairs(name, value, *by):
    """Pairs of a key and an item, sorted by key. `by` are the keys; without it, the items are."""
    if by:
        keys, items = listed(by[0], cannot_with(name, value, *by)), listed(value, cannot_with(name, value, *by))
    else:
        keys = items = listed(value, cannot(name, value))
    if len(keys) != len(items):
        raise unreadable(f"{name}({preview(keys)})", value, "length mismatch")
    pairs = list(zip(keys, items))
    if not any(map(is_odd, keys)):
        return sorted(pairs, key=functools.cmp_to_key(lambda one, other: compare(one[0], other[0])))
    if len(pairs) > 20:
        raise Exceeded("a pod does not sort so many numbers that are NaN or beyond 2^53")
    for end in range(1, len(pairs)):
        at = end
        while at > 0 and compare(pairs[at][0], pairs[at - 1][0]) < 0:
            pairs[at - 1], pairs[at] = pairs[at], pairs[at - 1]
            at -= 1
    return pairs


def is_odd(key):
    """Numbers without an order: NaN, and integers that are equal to the same float."""
    if isinstance(key, list):
        return any(map(is_odd, key))
    if isinstance(key, dict):
        return any(map(is_odd, key.values()))
    return is_number(key) and (key != key or is_exact(key) and not -EXACT < key < EXACT)


def grouped(pairs):
    groups, last = [], None
    for key, item in pairs:
        if not groups or compare(last, key) != 0:
            groups.append([])
            last = key
        groups[-1].append(item)
    return groups


def unique(pairs):
    return [group[0] for group in grouped(pairs)]


def chosen(name, keeps):
    """min and max: the later item is used if the order of the two items is in `keeps`."""
    def choose(value, *by):
        error = cannot_with(name, value, *by) if by else cannot(name, value)
        items, keys = listed(value, error), listed(by[0] if by else value, error)
        if len(keys) != len(items):
            raise unreadable(f"{name}({preview(keys)})", value, "length mismatch")
        best = 0
        for at in range(1, len(keys)):
            if compare(keys[best], keys[at]) in keeps:
                best = at
        return items[best] if items else None
    return choose


def positions(items, wanted):
    """The positions of a list within a list."""
    places = range(len(items) - len(wanted) + 1) if wanted else ()
    return [Whole(at) for at in places if compare(items[at:at + len(wanted)], wanted) == 0]


def position_of(value, other):
    if value is None:
        return None
    if isinstance(value, str) and isinstance(other, str):
        at = valid(value).find(valid(other)) if other else -1
        return Whole(at) if at >= 0 else None
    if not isinstance(value, list):
        raise cannot_with("index", value, other)
    found = positions(value, other if isinstance(other, list) else [other])
    return found[0] if found else None


def ranged(start, end, step):
    for one in (start, end, step):
        if not is_number(one):
            raise cannot("range", one)
    while compare(step, ZERO) * compare(start, end) < 0:
        yield start
        start = added(start, step)


def fingerprint(value):
    """16 digits, the hash of a value: the same as the Sensor computes."""
    first, second, text = 5381, 52711, json_of(value)
    spend(len(text))
    for letter in text:
        first, second = (first * 33 + ord(letter)) % 2 ** 32, (second * 65599 + ord(letter)) % 2 ** 32
    return f"{first:08x}{second:08x}"


def fail_with(value):
    raise ExpressionError(value)


LETTERS_OF_BASE64 = {letter: place for place, letter in
                     enumerate(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}


def decoded(value):
    """The text before the first "=", decoded; an incomplete last character is an error."""
    data, bits, count, result = raw(text_of(value)).partition(b"=")[0], 0, 0, bytearray()

    def corrupt(at):
        return unreadable("@base64d", value, f"illegal base64 data at input byte {at}")
    for at, letter in enumerate(data):
        if letter in b"\r\n":
            continue
        if letter not in LETTERS_OF_BASE64:
            raise corrupt(at)
        bits, count = (bits << 6 | LETTERS_OF_BASE64[letter]) & 0xffffff, count + 1
        if count % 4 == 0:
            result += bits.to_bytes(3, "big")
    rest = count % 4
    if rest == 1:
        raise corrupt(len(data) - 1)
    if rest:
        result += (bits << 6 * (4 - rest) & 0xffffff).to_bytes(3, "big")[:rest - 1]
    return from_raw(bytes(result))


# Times, with Go's 64-bit arithmetic.

EPOCH_YEAR = 292277022400  # before year 0: where Go counts days from, on March 1
EPOCH_DAYS = EPOCH_YEAR // 400 * 146097 + 719468  # from there to 1970


def wrapped(number):
    return (number + 2 ** 63) % 2 ** 64 - 2 ** 63


def int64(number):
    """The result of Go's conversion from float64."""
    return int(number) if -2.0 ** 63 <= number < 2.0 ** 63 else -2 ** 63


def days_until(year, month, day):
    """The days from 1970 to a date, whose day may be out of range."""
    early = month < 3
    count = (year - early + EPOCH_YEAR) % 2 ** 64
    within = 1461 * (count % 100) // 4 + (979 * (month + 12 * early) - 2919 >> 5)
    return wrapped(146097 * (count // 100) % 2 ** 64 // 4 + within + day - 1 - EPOCH_DAYS)


def date_in(days):
    """Year, month and day of a number of days."""
    era, day = divmod(days, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    return year + era * 400 - EPOCH_YEAR + (month >= 10), month + (3 if month < 10 else -9), day - (153 * month + 2) // 5 + 1


def moment_of(year, month, day, hour, minute, second, part=0):
    """Seconds since 1970; each number may be out of range."""
    carry, month = divmod(wrapped(month) - 1, 12)
    year = wrapped(year + carry)
    carry, _ = divmod(part, 10 ** 9)
    carry, second = divmod(wrapped(second + carry), 60)
    carry, minute = divmod(wrapped(minute + carry), 60)
    carry, hour = divmod(wrapped(hour + carry), 24)
    return wrapped(days_until(year, month + 1, wrapped(day + carry)) * 86400 + hour * 3600 + minute * 60 + second)


def moment_in(value, fail):
    """The seconds of a number, or of jq's array of broken down time."""
    number = float_of(value)
    if number is not None:
        part = int64((number - (math.floor(number) if math.isfinite(number) else number)) * 1e9)
        return wrapped(int64(number) + part // 10 ** 9)
    places = [0] * 8
    for at, item in enumerate(listed(value, fail)[:8]):
        if not is_number(item) or at == 5 and float_of(item) is None:
            raise unreadable('strftime("%Y-%m-%dT%H:%M:%SZ")', value, "expected an array of 8 numbers")
        places[at] = int64(as_float(item)) if at == 5 else int_of(item)
    second = float_of(value[5]) if len(value) > 5 else 0.0
    part = int64((second - (math.floor(second) if math.isfinite(second) else second)) * 1e9)
    year, month, day, hour, minute = places[:5]
    return moment_of(year, month + 1, day, hour, minute, places[5], part)


def date_of(value):
    moment = moment_in(value, cannot_with("strftime", value, "%Y-%m-%dT%H:%M:%SZ"))
    days, second = divmod((moment + EPOCH_DAYS * 86400) % 2 ** 64, 86400)
    year, month, day = date_in(days)
    return f"{year:04d}-{month:02d}-{day:02d}T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"


TIME = re.compile(r"(-?[0-9]{1,4})-([0-9]{1,2})-([0-9]{1,2})T([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})"
                  r"(?:Z|([+-])([0-9]{2})(?:([0-9]{2})|:([0-9]{2})(?::([0-9]{2}))?)?)")


def seconds_at(text):
    """The seconds since 1970 of a time with its zone, or None. February 30 is March 1 or 2."""
    found = TIME.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    sign, ahead, short, long, rest = found.groups()[6:]
    zone = [int(part or 0) for part in (ahead, short or long, rest)]
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second <= 60
            and zone[0] < 24 and zone[1] < 60 and zone[2] < 60):
        return None
    offset = (zone[0] * 60 + zone[1]) * 60 + zone[2]
    return moment_of(year, month, day, hour, minute, second) - (-offset if sign == "-" else offset)


def from_date(value):
    if not isinstance(value, str):
        raise cannot_with("strptime", value, "%Y-%m-%dT%H:%M:%S%z")
    seconds = seconds_at(value)
    if seconds is None or seconds == moment_of(1, 1, 1, 0, 0, 0):
        raise cannot_with("strptime", value, "%Y-%m-%dT%H:%M:%S%z")
    return float(seconds)


def in_case(name, first, last, by):
    table = {code: code + by for code in range(ord(first), ord(last) + 1)}
    return lambda value: valid(text_in(name, value)).translate(table)


def rounded(name, change):
    """floor, ceil and round keep the sign, including that of zero, and values without a fraction."""
    def call(value):
        number = float_of(value)
        if number is None:
            raise cannot(name, value)
        return math.copysign(change(number), number) if math.isfinite(number) else number
    return call


def nearest(number):
    below = math.floor(abs(number))
    return below + (abs(number) - below >= 0.5)


def exploded(value):
    spend(len(text_in("explode", value)))
    return [Whole(ord(letter)) for letter in valid(value)]


def imploded(value):
    letters = []
    spend(len(listed(value, cannot("implode", value))))
    for item in value:
        code = int_of(item)
        if code is None:
            raise cannot("implode", value)
        letters.append(chr(code) if 0 <= code < 0xd800 or 0xdfff < code <= 0x10ffff else "\ufffd")
    return "".join(letters)


def trimmed(name, ends):
    def call(value, other):
        text, part = texts(name, value, other)
        if ends:
            kept = text[:len(text) - len(part)] if text.endswith(part) else text
        else:
            kept = text[len(part):] if text.startswith(part) else text
        return kept if isinstance(kept, str) else from_raw(kept)
    return call


def at_edge(name, method):
    def call(value, other):
        text, part = texts(name, value, other)
        return getattr(text, method)(part)
    return call


def absolute(value):
    if not is_number(value):
        raise cannot("abs", value)
    return magnitude(value)


# The characters that Go counts as space: not U+001C to U+001F, unlike Python.
SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200b)))

CALLS = {
    "abs/0": absolute, "add/0": lambda v: sum_of(contents(v, cannot("add", v))),
    "ascii_downcase/0": in_case("ascii_downcase", "A", "Z", 32), "ascii_upcase/0": in_case("ascii_upcase", "a", "z", -32),
    "ceil/0": rounded("ceil", math.ceil), "floor/0": rounded("floor", math.floor), "round/0": rounded("round", nearest),
    "contains/1": contains, "inside/1": lambda v, other: contains(other, v),
    "endswith/1": at_edge("endswith", "endswith"), "startswith/1": at_edge("startswith", "startswith"),
    "ltrimstr/1": trimmed("ltrimstr", False), "rtrimstr/1": trimmed("rtrimstr", True),
    "error/0": fail_with, "error/1": lambda v, message: fail_with(message),
    "explode/0": exploded, "implode/0": imploded,
    "fingerprint/0": fingerprint, "flatten/0": flattened, "flatten/1": flattened,
    "fromdateiso8601/0": from_date, "todateiso8601/0": date_of, "fromjson/0": from_json,
    "has/1": has_key, "index/1": position_of, "join/1": joined, "keys/0": keys_of, "length/0": length,
    "max/0": chosen("max", (-1, 0)), "_max_by/1": chosen("max_by", (-1, 0)),
    "min/0": chosen("min", (1,)), "_min_by/1": chosen("min_by", (1,)),
    "_range/3": ranged, "reverse/0": lambda v: listed(v, cannot("reverse", v))[::-1],
    "sort/0": lambda v: [item for _, item in sorted_pairs("sort", v)],
    "_sort_by/1": lambda v, by: [item for _, item in sorted_pairs("sort_by", v, by)],
    "_group_by/1": lambda v, by: grouped(sorted_pairs("group_by", v, by)),
    "unique/0": lambda v: unique(sorted_pairs("unique", v)),
    "_unique_by/1": lambda v, by: unique(sorted_pairs("unique_by", v, by)),
    "split/1": split_text, "tonumber/0": number_of, "tostring/0": text_of,
    "trim/0": lambda v: text_in("trim", v).strip(SPACES), "type/0": type_of, "_negate/0": negated, "_plus/0": asserted,
    "@text": text_of, "@json": json_of,
    "@base64": lambda v: base64.b64encode(raw(text_of(v))).decode(), "@base64d": decoded,
    "@uri": lambda v: urllib.parse.quote(raw(text_of(v)), safe="-_.~"),
}

ZERO, ONE = Whole(0), Whole(1)
NULL = ["lit", None]
FORMS = {
    "in": jq_in, "lit": jq_lit, "var": jq_var, "empty": jq_empty, "get": jq_get, "at": jq_at, "slice": jq_slice,
    "each": jq_each, "try": jq_try, "pipe": jq_pipe, "comma": jq_comma, "collect": jq_collect, "make": jq_make,
    "text": jq_text, "if": jq_if, "alt": jq_alt, "and": jq_and, "or": jq_or, "bind": jq_bind, "reduce": jq_reduce,
    "first": jq_first, "last": jq_last, "limit": jq_limit, "values": jq_values, "call": jq_call,
    "add": operator(added), "sub": operator(subtracted), "mul": operator(multiplied), "div": operator(divided),
    "mod": operator(remainder),
    "eq": operator(lambda a, b: compare(a, b) == 0), "ne": operator(lambda a, b: compare(a, b) != 0),
    "lt": operator(lambda a, b: compare(a, b) < 0), "le": operator(lambda a, b: compare(a, b) <= 0),
    "gt": operator(lambda a, b: compare(a, b) > 0), "ge": operator(lambda a, b: compare(a, b) >= 0),
}
