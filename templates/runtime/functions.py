"""The functions of jq that take values."""
import base64
import functools
import hashlib
import math
import urllib.parse

from dates import date_of, from_date
from values import (
    EXACT, NUMBER, ZERO, Exceeded, ExpressionError, Whole, added, as_float, asserted, cannot, cannot_with, comparable, compare,
    contents, float_of, from_raw, int_of, is_exact, is_number, is_valid, json_of, listed, magnitude, negated, number_in, parse_json,
    parsed, positions, preview, raw, sorted_keys, spend, split_text, sum_of, text_in, text_of, texts, type_of, typed, unreadable, valid,
    whole_text, written,
)


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


def length(value):
    if isinstance(value, bool):
        raise cannot("length", value)
    if value is None:
        return ZERO
    return magnitude(value) if is_number(value) else Whole(len(value))


def number_of(value):
    if is_number(value):
        return value
    if not NUMBER.fullmatch(text_in("tonumber", value)):
        raise unreadable("tonumber", value, "invalid number")
    return number_in(value)


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


def sha256(value):
    """The SHA-256 of a text in UTF-8, as 64 hexadecimal digits."""
    text = valid(text_in("sha256", value)).encode()
    spend(len(text) // 64)
    return hashlib.sha256(text).hexdigest()


def fail_with(value):
    raise ExpressionError(value)


HTML = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;", "'": "&apos;", '"': "&quot;"})


def shell_words(value):
    """The value as words of a shell, each in quotes if it is a text."""
    return " ".join(shell_word(word) for word in (value if isinstance(value, list) else [value]))


def shell_word(word):
    if isinstance(word, (list, dict)):
        raise ExpressionError(lambda: f"@sh cannot format an array including: {typed(word)}")
    return "'" + word.replace("'", "'\\''") + "'" if isinstance(word, str) else json_of(word)


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
    "sha256/0": sha256, "sort/0": lambda v: [item for _, item in sorted_pairs("sort", v)],
    "_sort_by/1": lambda v, by: [item for _, item in sorted_pairs("sort_by", v, by)],
    "_group_by/1": lambda v, by: grouped(sorted_pairs("group_by", v, by)),
    "unique/0": lambda v: unique(sorted_pairs("unique", v)),
    "_unique_by/1": lambda v, by: unique(sorted_pairs("unique_by", v, by)),
    "split/1": split_text, "tonumber/0": number_of, "tostring/0": text_of,
    "trim/0": lambda v: text_in("trim", v).strip(SPACES), "type/0": type_of, "_negate/0": negated, "_plus/0": asserted,
    "@text": text_of, "@json": json_of,
    "@base64": lambda v: base64.b64encode(raw(text_of(v))).decode(), "@base64d": decoded,
    "@html": lambda v: text_of(v).translate(HTML), "@sh": shell_words,
    "@uri": lambda v: urllib.parse.quote(raw(text_of(v)), safe="-_.~"),
}
