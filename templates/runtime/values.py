"""Values of jq: numbers, texts, lists and objects, their order, their JSON and the errors that show them.

Numbers: an int or a float of the input is a float64 of gojq, a Whole is one of its exact whole numbers. Whole numbers of
the input from 2^53 on stay exact, where a Sensor refuses them. Bytes that are no UTF-8, which only @base64d and @urid make,
are the surrogates of Python's "surrogateescape".
"""
import decimal
import json
import math
import re
import threading

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


class Budget(threading.local):
    """The steps that are left of the expression that a thread evaluates."""
    left = STEPS


BUDGET = Budget()


def spend(steps=1):
    BUDGET.left -= steps
    if BUDGET.left < 0:
        raise Exceeded(f"the expression takes more than {STEPS} steps")


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


def positions(items, wanted):
    """The positions of a list within a list."""
    places = range(len(items) - len(wanted) + 1) if wanted else ()
    return [Whole(at) for at in places if compare(items[at:at + len(wanted)], wanted) == 0]


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


def magnitude(value):
    if isinstance(value, (WrittenWhole, WrittenFloat)):
        return written(value.text[1:]) if value.text.startswith("-") else value
    return Whole(abs(value)) if is_exact(value) else abs(as_float(value))


NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def written(text):
    """A JSON number that keeps its text."""
    value = number_in(text)
    number = WrittenFloat(value) if isinstance(value, float) else WrittenWhole(value)
    number.text = text
    return number


ZERO, ONE = Whole(0), Whole(1)
