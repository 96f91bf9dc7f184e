"""Which custom resources refer to an object, for events of related objects."""
from api import Refused
from related import related_to, select


class Referrers:
    """The rules of all custom resources by their keys. Rules with names in one namespace are found by the name, the others
    by a look at each."""

    def __init__(self, related):
        self.kinds = {entry["name"]: (entry["apiVersion"], entry["kind"]) for entry in related}
        self.rules, self.named, self.broad = {}, {}, {}  # broad: the keys that have other rules, by kind

    def put(self, run, key, cr):
        """Stores the rules of a custom resource."""
        self.drop(key)
        rules = []
        try:
            related_to(run, cr, lambda entry, place, rule: rules.append((self.kinds[entry["name"]], place, rule)) or [])
        except Refused:  # the reconcile has reported it
            return
        self.rules[key] = rules
        for kind, place, rule in rules:
            for found in self._places(kind, place, rule):
                found.add(key)

    def drop(self, key):
        """Forgets a custom resource."""
        for kind, place, rule in self.rules.pop(key, ()):
            for found in self._places(kind, place, rule):
                found.discard(key)

    def _places(self, kind, place, rule):
        """The sets of keys that a rule belongs to."""
        if rule.get("labelSelector") is None and place:
            return [self.named.setdefault((kind, place, name), set()) for name in rule["names"]]
        return [self.broad.setdefault(kind, set())]

    def of(self, kind, metadata, labels_before):
        """The keys of the custom resources that refer to an object, or did so before its labels changed."""
        place = metadata.get("namespace") or ""
        keys = set(self.named.get((kind, place, metadata["name"]), ()))
        seen = [{"metadata": metadata}, {"metadata": dict(metadata, labels=labels_before)}]
        for key in self.broad.get(kind, ()):
            if any(one == kind and any(select(seen, where, rule)) for one, where, rule in self.rules[key]):
                keys.add(key)
        return sorted(keys)
