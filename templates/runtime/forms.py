"""The operations of expressions."""
from functions import CALLS, ranged
from values import (
    ONE, ZERO, ExpressionError, Whole, added, compare, divided, items_of, looked_up, multiplied, remainder, sliced, sorted_keys,
    spend, subtracted, text_of, truth, whole_text, wrong,
)


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


def jq_search(dot, names, kind, *pattern):
    from regexp import search  # a pod has it only if an expression needs it
    yield search(kind, dot, *pattern)


def jq_replace(dot, names, replacement, *pattern):
    from regexp import matches, replaced
    yield from replaced(dot, matches(dot, *pattern), lambda groups: outcomes(replacement, groups, names))


def operator(calculate):
    def form(dot, names, left, right):
        for b in outcomes(right, dot, names):
            for a in outcomes(left, dot, names):
                yield calculate(a, b)
    return form


NULL = ["lit", None]
FORMS = {
    "in": jq_in, "lit": jq_lit, "var": jq_var, "empty": jq_empty, "get": jq_get, "at": jq_at, "slice": jq_slice,
    "each": jq_each, "try": jq_try, "pipe": jq_pipe, "comma": jq_comma, "collect": jq_collect, "make": jq_make,
    "text": jq_text, "if": jq_if, "alt": jq_alt, "and": jq_and, "or": jq_or, "bind": jq_bind, "reduce": jq_reduce,
    "first": jq_first, "last": jq_last, "limit": jq_limit, "values": jq_values, "call": jq_call,
    "search": jq_search, "replace": jq_replace,
    "add": operator(added), "sub": operator(subtracted), "mul": operator(multiplied), "div": operator(divided),
    "mod": operator(remainder),
    "eq": operator(lambda a, b: compare(a, b) == 0), "ne": operator(lambda a, b: compare(a, b) != 0),
    "lt": operator(lambda a, b: compare(a, b) < 0), "le": operator(lambda a, b: compare(a, b) <= 0),
    "gt": operator(lambda a, b: compare(a, b) > 0), "ge": operator(lambda a, b: compare(a, b) >= 0),
}
