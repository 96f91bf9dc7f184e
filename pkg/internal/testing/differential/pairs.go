package differential

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Pairs are pairs of what changes the behavior of an operator: keys of its definition, kinds
// of its children, and what happens in its life.
type Pairs map[string]bool

// Add adds other pairs.
func (p Pairs) Add(others Pairs) { maps.Copy(p, others) }

// Missing returns those of other pairs that are not among the pairs, sorted.
func (p Pairs) Missing(others Pairs) []string {
	var out []string
	for pair := range others {
		if !p[pair] {
			out = append(out, pair)
		}
	}
	slices.Sort(out)
	return out
}

// Pairwise returns the seeds of cases that together have most pairs of candidates, many for
// each of them: it takes the candidate with the most new pairs, and so on; the first of those
// that all engines support, which can be compared, the last of those that one supports. Drawn
// are the pairs of all candidates.
func Pairwise(from uint64, count int) (seeds []uint64, drawn Pairs, err error) {
	const each = 20
	var candidates []*candidate
	drawn = Pairs{}
	for i := range uint64(each * count) {
		pairs := newDefinition(newDrawing(from+i, nil)).Pairs()
		candidates = append(candidates, &candidate{seed: from + i, pairs: pairs, added: len(pairs), engines: unknown})
		drawn.Add(pairs)
	}
	have := Pairs{}
	for len(seeds) < count {
		best, err := choose(candidates, have, len(engines)-len(engines)*len(seeds)/count)
		if err != nil {
			return nil, nil, err
		}
		if best == nil {
			break
		}
		seeds = append(seeds, best.seed)
		have.Add(best.pairs)
		best.engines = 0
	}
	return seeds, drawn, nil
}

// candidate is a case that Pairwise may choose.
type candidate struct {
	seed    uint64
	pairs   Pairs
	added   int // new pairs, at most: their number falls with each chosen case
	engines int // that support it
}

const unknown = len(engines)

// choose returns the candidate with the most pairs that are new, of those that a number of
// engines supports; nil: there is none.
func choose(candidates []*candidate, have Pairs, number int) (*candidate, error) {
	for {
		var best *candidate
		for _, c := range candidates {
			if c.engines >= number && (best == nil || c.added > best.added) {
				best = c
			}
		}
		if best == nil {
			return nil, nil
		}
		if added := len(have.Missing(best.pairs)); added < best.added {
			best.added = added
			continue
		}
		c, err := Draw(best.seed, nil)
		if err != nil {
			return nil, err
		}
		best.engines = 0
		for _, engine := range engines {
			if _, findings := c.planned(engine); !findings.HasErrors() {
				best.engines++
			}
		}
		if best.engines >= number {
			return best, nil
		}
	}
}

// Pairs returns the pairs of a definition and its life: those of two children apart from
// those of one.
func (d *definition) Pairs() Pairs {
	all, out := d.traits(), Pairs{}
	add := func(some, others []string, relation string) {
		for _, a := range some {
			for _, b := range others {
				if a != b || relation != " & " {
					out[min(a, b)+relation+max(a, b)] = true
				}
			}
		}
	}
	add(all[0], all[0], " & ")
	for i, one := range all[1:] {
		add(all[0], one, " & ")
		add(one, one, " & ")
		for _, other := range all[1 : 1+i] {
			add(one, other, " beside ")
		}
	}
	return out
}

// traits returns what changes the behavior of an operator: first of the whole definition and
// its life, then of each child.
func (d *definition) traits() [][]string {
	rest := maps.Clone(d.spec)
	delete(rest, "children")
	whole := UsedKeys(rest)
	for i := range lifeSteps {
		move, how := d.moveAt(fmt.Sprintf("life.%d", i))
		whole["life: "+move] = true
		if how != normal {
			whole["life"+modeNames[how]] = true
		}
	}
	out := [][]string{effective(whole)}
	for i, one := range d.spec["children"].([]any) {
		child := one.(map[string]any)
		keys := UsedKeys(child)
		keys["kind: "+d.children[i].kind] = true
		if update := textAt(child, "update"); update != "" {
			delete(keys, "update")
			keys["update: "+update] = true
		}
		keys["metadata.namespace"] = at(child, "template", "metadata", "namespace") != nil
		out = append(out, effective(keys))
	}
	return out
}

// free are the keys below which a user writes fields of other languages.
var free = []string{
	"template", "schema", "openAPIV3Schema", "types", "status", "labelSelector", "annotationSelector", "labels", "annotations",
	"variables", "parameters",
}

// inert are the keys that every operator has, or that only name or describe something.
var inert = []string{
	"name", "group", "kind", "apiVersion", "version", "plural", "shortNames", "categories", "path", "priority", "rule", "message",
	"deprecationWarning", "columns", "template", "schema", "versions", "api", "reconcile", "install", "timeout", "resync",
}

// effective returns those of the keys that change the behavior of an operator, sorted.
func effective(keys map[string]bool) []string {
	var out []string
	for key, used := range keys {
		parts := strings.Split(strings.ReplaceAll(key, "[]", ""), ".")
		last := len(parts) - 1
		below := slices.ContainsFunc(parts[:last], func(part string) bool { return slices.Contains(free, part) })
		if used && !below && !slices.Contains(inert, parts[last]) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// UsedKeys returns the paths of the keys of a part of a definition. [] stands for each item
// of a list.
func UsedKeys(value any) map[string]bool {
	out := map[string]bool{}
	collect(value, "", out)
	return out
}

func collect(value any, at string, out map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			path := strings.TrimPrefix(at+"."+key, ".")
			out[path] = true
			collect(inner, path, out)
		}
	case []any:
		for _, item := range value {
			collect(item, at+"[]", out)
		}
	}
}
