package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
)

// itemKey matches a tag with a key of an item.
var itemKey = lazily(`\{\{\s*item\.([-\w]+)\s*\}\}`)

// invalidItems reports steps whose items cannot be made, or that use a key which one of their items has not.
func invalidItems(i *inspection, f flow) {
	for _, t := range f.templates() {
		eachCall(t, func(at *field.Path, c call) {
			if c.sequence != nil {
				i.sequenceFormat(at.Child("withSequence", "format"), c.sequence.Format)
				if c.sequence.End == nil && c.sequence.Count == nil {
					i.reportHint(at.Child("withSequence"), "add count or end", "the sequence has no end")
				}
			}
			if c.when != "" && !strings.Contains(c.when, "{{") {
				return // without its condition, a step needs no value
			}
			uses := c.itemKeys()
			if keys, known := f.keysOfParam(t, c.withParam); known {
				for _, key := range uses {
					if !slices.Contains(keys, key) {
						i.reportHint(at.Child("withParam"), keyHint(key, keys), "the items have no %s, which the step uses", key)
					}
				}
			}
			for n, item := range c.items {
				var keys map[string]any
				if json.Unmarshal(item.Value, &keys) != nil {
					continue
				}
				for _, key := range uses {
					if _, has := keys[key]; !has {
						i.reportHint(at.Child("withItems").Index(n), "add "+key+" to the item",
							"the item has no %s, which the step uses", key)
					}
				}
			}
		})
	}
}

// itemKeys returns the keys of an item that a step uses.
func (c call) itemKeys() []string {
	uses := map[string]bool{}
	for _, text := range c.texts() {
		for _, m := range itemKey().FindAllStringSubmatch(text, -1) {
			uses[m[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(uses))
}

// keyHint suggests another key of an item.
func keyHint(key string, keys []string) string {
	return cmp.Or(diag.DidYouMean(key, keys, strings.ToLower), "the items have "+strings.Join(keys, ", "))
}

// itemsOfArguments reports steps that use a key which the items in an argument, or in the default of an input, do not have.
func (i *inspection) itemsOfArguments(f flow) {
	for _, t := range f.templates() {
		eachCall(t, func(at *field.Path, c call) {
			if uses := c.itemKeys(); c.withParam != "" && len(uses) > 0 {
				for _, one := range f.givenIn(t, c.withParam) {
					i.lacking(at.Child("withParam"), one, strings.ReplaceAll(c.withParam, one.tag, one.value), uses)
				}
			}
		})
	}
}

// lacking reports the keys that no item of a list has.
func (i *inspection) lacking(at *field.Path, by given, text string, uses []string) {
	var list []map[string]any
	if json.Unmarshal([]byte(text), &list) != nil || len(list) == 0 {
		return
	}
	for _, key := range uses {
		if !slices.ContainsFunc(list, func(item map[string]any) bool { return item[key] != nil }) {
			i.reportHint(at, keyHint(key, slices.Sorted(maps.Keys(list[0]))), "with the value of %s, the items have no %s", by.tag, key)
		}
	}
}

// aggregated matches the list with all outputs of a step or a task that has items.
var aggregated = lazily(`^\{\{\s*(?:steps|tasks)\.([-\w]+)\.outputs\.parameters\s*\}\}$`)

// keysOfParam returns the keys of all items of withParam, if the text is a list, or the outputs of another step.
func (f flow) keysOfParam(t template, text string) (keys []string, known bool) {
	var list []map[string]any
	if text != "" && json.Unmarshal([]byte(text), &list) == nil && len(list) > 0 {
		for key := range list[0] {
			if !slices.ContainsFunc(list, func(item map[string]any) bool { return item[key] == nil }) {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		return keys, true
	}
	m := aggregated().FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || f.spec.TemplateDefaults != nil {
		return nil, false
	}
	eachCall(t, func(_ *field.Path, c call) {
		n := slices.IndexFunc(f.spec.Templates, func(of wfv1.Template) bool { return of.Name == c.template })
		if c.name != m[1] || c.ref != nil || c.inline != nil || n < 0 || f.spec.Templates[n].Plugin != nil {
			return
		}
		known = true
		for _, p := range f.spec.Templates[n].Outputs.Parameters {
			keys = append(keys, p.Name)
		}
	})
	return keys, known && len(keys) > 0
}

func (i *inspection) sequenceFormat(at *field.Path, format string) {
	if format == "" || strings.Contains(format, "{{") {
		return
	}
	if first := fmt.Sprintf(format, 1); strings.Contains(first, "%!") {
		i.reportHint(at, "write the number as %d, such as node-%02d", "the first item is %s", first)
	}
}

// texts returns the texts of a step that Argo fills in for each of its items, at least those with tags.
func (c call) texts() []string {
	found := map[*field.Path]string{}
	taggedBelow(field.NewPath("step"), c.arguments, found)
	return append(slices.Collect(maps.Values(found)), c.template, c.when)
}

// invalidIntegers reports texts in place of integers, which Argo reads when it needs them.
func invalidIntegers(i *inspection, f flow) {
	check := func(at *field.Path, value *intstr.IntOrString) {
		if value == nil || value.Type == intstr.Int || strings.Contains(value.StrVal, "{{") {
			return
		}
		if _, err := strconv.Atoi(value.StrVal); err != nil {
			i.report(at, "%q is no integer", value.StrVal)
		}
	}
	f.eachRetry(func(at *field.Path, r *wfv1.RetryStrategy) {
		check(at.Child("limit"), r.Limit)
		if r.Backoff != nil {
			check(at.Child("backoff", "factor"), r.Backoff.Factor)
		}
	})
	i.semaphores(f.path, f.spec.Synchronization)
	for _, t := range f.templates() {
		i.semaphores(t.path, t.Synchronization)
		check(t.path.Child("activeDeadlineSeconds"), t.ActiveDeadlineSeconds)
		eachCall(t, func(at *field.Path, c call) {
			if s := c.sequence; s != nil {
				at = at.Child("withSequence")
				check(at.Child("start"), s.Start)
				check(at.Child("end"), s.End)
				check(at.Child("count"), s.Count)
			}
		})
	}
}

// semaphores reports keys of ConfigMaps among the objects that do not say how many may hold a semaphore.
func (i *inspection) semaphores(at *field.Path, s *wfv1.Synchronization) {
	for n := 0; s != nil && n < len(s.Semaphores); n++ {
		if s.Semaphores[n] == nil || s.Semaphores[n].ConfigMapKeyRef == nil {
			continue
		}
		ref := s.Semaphores[n].ConfigMapKeyRef
		cm, ok := i.set.configMap(i.Object.GetNamespace(), ref.Name)
		text, has := "", false
		if ok {
			text, has = cm.Data[ref.Key]
		}
		if _, err := strconv.Atoi(text); has && err != nil && !strings.Contains(text, "{{") && !strings.Contains(text, "$") {
			i.reportHint(at.Child("synchronization", "semaphores").Index(n), "write an integer in the ConfigMap",
				"key %s of ConfigMap %s is %q, which is no integer", ref.Key, ref.Name, text)
		}
	}
}

// sharedKeys reports artifacts that each item of a step writes to one place.
func sharedKeys(i *inspection, f flow) {
	repeated := map[string]bool{}
	for _, t := range f.templates() {
		eachCall(t, func(_ *field.Path, c call) {
			if c.ref == nil && c.repeated && (c.items == nil || len(c.items) > 1) {
				repeated[c.template] = true
			}
		})
	}
	for _, t := range f.templates() {
		if !repeated[t.Name] {
			continue
		}
		for n, a := range t.Outputs.Artifacts {
			key, err := a.GetKey()
			if err != nil || key == "" || perItem(key) {
				continue
			}
			i.report(t.path.Child("outputs", "artifacts").Index(n), "every item of the step that calls %s writes to %s", t.Name, key)
		}
	}
}

// perItem reports whether a text may be another one for each item of a step.
func perItem(text string) bool {
	return slices.ContainsFunc(tag().FindAllString(text, -1), func(tag string) bool { return !sameForAll().MatchString(tag) })
}

// sameForAll matches a tag whose value is the same in the whole Workflow.
var sameForAll = lazily(`^\{\{\s*workflow\.`)
