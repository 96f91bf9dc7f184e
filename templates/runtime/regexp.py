"""Regular expressions, as Go matches them: the functions of jq that search a text.

argoperator compiles a regular expression with Go's own compiler and hands over the instructions. Each is a list: its name, the
place of the next one, and an argument. They run here as threads, all at one letter of the text at a time, so that the steps are
at most the letters times the instructions. An earlier thread has precedence over a later one.
"""
from bisect import bisect_right

from values import LETTERS, Exceeded, ExpressionError, Whole, added, cannot_with, spend, whole_text

END = -1  # the letter before and after a text


def search(kind, text, pattern, flags, program):
    """What a function of jq makes of a text: test, match, capture, scan and split."""
    if kind == "test":
        return first_match(program, checked("test", text, pattern, flags, program), 0, ()) is not None
    return RESULTS[kind](text, matches(text, pattern, flags, program))


def checked(name, text, pattern, flags, program):
    if not isinstance(text, str):
        raise cannot_with(name, text, pattern, flags)
    if "invalid" in program:
        raise ExpressionError(program["invalid"])
    return text


def matches(text, pattern, flags, program):
    """The first match or, with the flag g, every one. There is no empty match right after another match."""
    checked("match", text, pattern, flags, program)
    at, last, found = 0, -1, []
    groups = (-1,) * (2 + 2 * len(program["groups"]))
    while at <= len(text):
        places = first_match(program, text, at, groups)
        if places is None:
            break
        start, end = places[:2]
        if end > at or start != last:
            found.append(dict(part(text, start, end), captures=[
                dict(part(text, *places[2 * group:2 * group + 2]), name=name) for group, name in enumerate(program["groups"], 1)]))
            if "g" not in (flags or ""):
                break
        at, last = end + (end == at), end
    return found


def part(text, start, end):
    """A match or a group; a group without a part in the match is at -1."""
    spend(8)  # it takes more memory than other values
    return {"offset": Whole(start), "length": Whole(end - start), "string": text[start:end] if start >= 0 else None}


def first_match(program, text, at, places):
    """Where the first match from a place of the text on and its groups begin and end, or None. With empty `places` it ends as
    soon as it is certain that there is a match."""
    code, found, threads, seen = program["code"], None, [], set()
    while True:
        if not threads:
            if found is not None or program["anchored"] and at > 0:
                return found
            at, seen = text.find(program["prefix"], at), set()
            if at < 0:
                return None
        if found is None:
            follow(code, program["start"], text, at, places and (at, *places[1:]), threads, seen)
        spend(len(seen))
        letter = letter_at(text, at)
        ready, threads, seen = threads, [], set()
        for place, noted in ready:
            step = code[place]
            if step[0] == "match":
                found = noted and (noted[0], at, *noted[2:])
                break
            if bisect_right(program["sets"][step[2]], letter) % 2:
                follow(code, step[1], text, at + 1, noted, threads, seen)
        if letter == END or found == ():
            return found
        at += 1


def follow(code, place, text, at, noted, threads, seen):
    """Adds the threads that go on from an instruction without another letter."""
    todo = [(place, noted)]
    while todo:
        place, noted = todo.pop()
        if place in seen:
            continue
        seen.add(place)
        step = code[place]
        if step[0] == "either":
            todo += [(step[2], noted), (step[1], noted)]
        elif step[0] == "note":
            todo.append((step[1], noted and noted[:step[2]] + (at,) + noted[step[2] + 1:]))
        elif step[0] == "at":
            if step[2] & edges(text, at) == step[2]:
                todo.append((step[1], noted))
        elif step[0] != "fail":
            threads.append((place, noted))


def letter_at(text, at):
    """A code point. A byte that is not UTF-8 is the replacement character."""
    if not 0 <= at < len(text):
        return END
    letter = ord(text[at])
    return 0xfffd if 0xd800 <= letter <= 0xdfff else letter


def edges(text, at):
    """The edges of lines, texts and words that a place is, with the bits that Go gives them."""
    before, after = letter_at(text, at - 1), letter_at(text, at)
    return ((before in (END, 10)) | (after in (END, 10)) << 1 | (before == END) << 2 | (after == END) << 3
            | (16 if in_word(before) != in_word(after) else 32))


def in_word(letter):
    return 48 <= letter < 58 or 65 <= letter < 91 or letter == 95 or 97 <= letter < 123


def named_groups(found):
    return {one["name"]: one["string"] for one in found["captures"] if one["name"] is not None}


def pieces(text, found):
    """The text between matches."""
    starts = [0] + [one["offset"] + one["length"] for one in found]
    ends = [one["offset"] for one in found] + [len(text)]
    return [text[start:end] for start, end in zip(starts, ends)]


RESULTS = {
    "match": lambda text, found: found,
    "capture": lambda text, found: [named_groups(one) for one in found],
    "scan": lambda text, found: [[group["string"] for group in one["captures"]] or one["string"] for one in found],
    "split": pieces,
}


def replaced(text, found, replacements):
    """The text with others in the place of its matches. Several replacements of a match give several results."""
    results, letters = [], 0
    *befores, after = pieces(text, found)
    for one, before in zip(found, befores):
        for at, replacement in enumerate(replacements(named_groups(one))):
            if at == len(results):
                results.append([])
            results[at].append(added(before, replacement))
            letters += len(results[at][-1])
            if letters > LETTERS:
                raise Exceeded(f"a text of the expression has more than {LETTERS} characters")
    return [whole_text("".join([*parts, after])) for parts in results] or [text]
