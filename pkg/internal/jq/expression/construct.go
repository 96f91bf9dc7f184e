package expression

import (
	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// object is { … }.
func (a *analyser) object(o *gojq.Object, in value, names *env) result {
	r := one(value{kinds: object, empty: len(o.KeyVals) == 0})
	fields, closed, sometimes := map[string]schema.Type{}, true, []string(nil)
	for _, kv := range o.KeyVals {
		key, known, keys := a.key(kv, in, names)
		var v result
		switch {
		case kv.Val != nil:
			v = a.query(kv.Val, in, names)
		case len(kv.Key) > 0 && kv.Key[0] == '$':
			v = a.variable(kv, kv.Key, names)
		case known:
			v = one(a.field(in, key, kv))
		default:
			v = one(unknown())
		}
		a.use(v.value)
		r = keys.then(v).then(r)
		closed = closed && known
		fields[key] = v.toType()
		if v.kinds&null != 0 && (v.kinds != anything || v.absent != nil) { // of unknown values, nothing is certain
			sometimes = append(sometimes, key)
		}
	}
	r.value = value{kinds: object, empty: len(o.KeyVals) == 0}
	if closed {
		r.shape = schema.Record(fields, sometimes...)
	}
	return r
}

// key returns the name of an object's field, if it is constant.
func (a *analyser) key(kv *gojq.ObjectKeyVal, in value, names *env) (name string, known bool, r result) {
	switch {
	case kv.KeyString != nil:
		r = a.str(kv.KeyString, in, names)
		if r.text != nil {
			return *r.text, true, r
		}
		return "", false, r
	case kv.KeyQuery != nil:
		r = a.query(kv.KeyQuery, in, names)
		a.use(r.value)
		a.wants(kv.KeyQuery, r.value, str, "a key of an object must be")
		return "", false, r
	case kv.Key[0] == '$':
		return kv.Key[1:], true, one(value{})
	}
	return kv.Key, true, one(value{})
}

func (a *analyser) array(array *gojq.Array, in value, names *env) result {
	if array.Query == nil {
		v := listOf(unknown())
		v.empty = true
		return one(v)
	}
	item := a.query(array.Query, in, names).value
	list := a.collected(array.Query, item)
	list.item = item.absent
	return one(list)
}

func (a *analyser) str(s *gojq.String, in value, names *env) result {
	if s.Queries == nil {
		return one(value{kinds: str, text: &s.Str})
	}
	r, text, known := one(some(str)), "", true
	for _, q := range s.Queries {
		if q.Term.Str != nil {
			text += q.Term.Str.Str
			continue
		}
		part := a.query(q.Term.Query, in, names)
		a.use(part.value)
		a.missing(q, part.value, `the string would contain "null"`)
		r = part.then(r)
		if known = known && part.text != nil; known {
			text += *part.text
		}
	}
	if r.value = some(str); known {
		r.text = &text
	}
	return r
}
