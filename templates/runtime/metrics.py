"""What a worker counts, in the text format of Prometheus."""
import threading

BUCKETS = (0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)  # seconds
RESULTS = ("success", "error", "refused")  # by the exit code of a reconcile


class Metrics:
    """Counts the reconciles of each operator."""

    def __init__(self, operators):
        self.lock = threading.Lock()
        self.counts = {(name, result): 0 for name in operators for result in RESULTS}
        self.requests = dict.fromkeys(operators, 0)
        self.durations = {name: [0] * (len(BUCKETS) + 1) for name in operators}
        self.seconds = dict.fromkeys(operators, 0.0)

    def add(self, operator, code, seconds, requests):
        """Counts one reconcile."""
        with self.lock:
            self.counts[operator, RESULTS[min(code, 2)]] += 1
            self.requests[operator] += requests
            self.seconds[operator] += seconds
            self.durations[operator][sum(seconds > bound for bound in BUCKETS)] += 1

    def text(self, queue, working):
        """All metrics."""
        with self.lock:
            return "".join(line + "\n" for line in self._lines(queue, working))

    def _lines(self, queue, working):
        yield from head("argoperator_reconciles_total", "counter", "Reconciles by their result.")
        for (name, result), count in sorted(self.counts.items()):
            yield f'argoperator_reconciles_total{{operator="{name}",result="{result}"}} {count}'
        yield from head("argoperator_reconcile_requests_total", "counter", "Requests of reconciles to the API server.")
        for name, count in sorted(self.requests.items()):
            yield f'argoperator_reconcile_requests_total{{operator="{name}"}} {count}'
        yield from head("argoperator_reconcile_duration_seconds", "histogram", "Duration of reconciles.")
        for name, counts in sorted(self.durations.items()):
            for index, bound in enumerate([str(bound) for bound in BUCKETS] + ["+Inf"]):
                yield f'argoperator_reconcile_duration_seconds_bucket{{operator="{name}",le="{bound}"}} {sum(counts[:index + 1])}'
            yield f'argoperator_reconcile_duration_seconds_sum{{operator="{name}"}} {self.seconds[name]:.6f}'
            yield f'argoperator_reconcile_duration_seconds_count{{operator="{name}"}} {sum(counts)}'
        yield from head("argoperator_queue_length", "gauge", "Custom resources that wait for their turn.")
        yield f"argoperator_queue_length {queue}"
        yield from head("argoperator_working", "gauge", "1 if this process holds the Lease and works, 0 if it stands by.")
        yield f"argoperator_working {int(working)}"


def head(name, kind, help_text):
    yield f"# HELP {name} {help_text}"
    yield f"# TYPE {name} {kind}"
