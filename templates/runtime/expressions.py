"""The expressions of a definition, as the pods of its Workflows evaluate them: jq, which argoperator has parsed.

The Sensor runs gojq, the image of a pod has only Python. So argoperator hands over the tree of each expression, with
its functions written out; what this file does not know, argoperator refuses. An expression is a list that begins with
the name of its operation. As in jq it yields any number of values for one input, and as in gojq an error ends it; the
results and the texts of the errors are those of gojq.
"""
import values
from forms import outcomes
from values import BUDGET, ExpressionError, plain, text_of


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


def evaluated(expression, dot, names):
    """The values of a whole expression in the form of JSON. Every error is an ExpressionError."""
    BUDGET.left = values.STEPS
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
