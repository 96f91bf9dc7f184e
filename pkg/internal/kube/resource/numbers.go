package resource

import (
	"errors"
	"math"
)

// number generates a number, integer or not, that satisfies the demand.
func (m *maker) number(d *demand, whole bool, name string) (any, error) {
	low, high := d.window(whole)
	near := max(low, min(0, high)) // to zero
	tries := []float64{near, low, high, math.Round((low + high) / 2), low + (high-low)/2, low + (high-low)/1024}
	if m.taste == typical {
		tries = append([]float64{max(low, min(1, high))}, tries...)
		if number, ok := likelyNumber(name); ok {
			tries = append([]float64{number}, tries...)
		}
	}
	tries = append(tries, d.onMultiples(low, high)...)
	if m.taste == random {
		tries = append(m.randomNumbers(d, low, high, whole), tries...)
	}
	for _, v := range tries {
		if whole && v != math.Trunc(v) {
			continue
		}
		if value := plainNumber(v); m.fits(d, value) {
			return value, nil
		}
	}
	return nil, errors.New("no number meets the constraints")
}

// window returns a range of typical numbers within the limits.
func (d *demand) window(whole bool) (low, high float64) {
	low, high = d.min, d.max
	if whole {
		low, high = math.Ceil(low), math.Floor(high)
		if d.exclusiveMin && low == d.min {
			low++
		}
		if d.exclusiveMax && high == d.max {
			high--
		}
	}
	switch {
	case math.IsInf(low, -1) && math.IsInf(high, 1):
		return -100, 100
	case math.IsInf(low, -1):
		return min(0, high-100), high
	case math.IsInf(high, 1):
		return low, max(100, low+100)
	}
	return low, high
}

// onMultiples returns the smallest and largest multiple in a range.
func (d *demand) onMultiples(low, high float64) []float64 {
	var out []float64
	for _, of := range d.multiples {
		first, last := math.Ceil(low/of)*of, math.Floor(high/of)*of
		out = append(out, first, first+of, last, last-of)
	}
	if len(d.multiples) > 1 {
		product := 1.0
		for _, of := range d.multiples {
			product *= of
		}
		out = append(out, math.Ceil(low/product)*product, math.Floor(high/product)*product)
	}
	return out
}

func (m *maker) randomNumbers(d *demand, low, high float64, whole bool) []float64 {
	var out []float64
	if m.r.IntN(2) == 0 {
		for range 4 {
			if number, ok := m.hint().(float64); ok {
				out = append(out, number)
			}
		}
	}
	for range 4 {
		v := low + m.r.Float64()*(high-low)
		switch m.r.IntN(4) {
		case 0: // near the lower end, like most numbers of real objects
			v = low + float64(m.r.IntN(8))
		case 1:
			v = high - float64(m.r.IntN(3))
		}
		if whole || m.r.IntN(2) == 0 {
			v = math.Round(v)
		} else {
			v = math.Round(v*4) / 4
		}
		for _, of := range d.multiples {
			v = math.Round(v/of) * of
		}
		out = append(out, v)
	}
	return out
}

// plainNumber returns a number as JSON decodes it: integers as int64.
func plainNumber(v float64) any {
	if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
		return int64(v)
	}
	return v
}
