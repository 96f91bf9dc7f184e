package differential_test

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/testing/differential"
)

// gamesEach is the number of games with each set of operators.
const gamesEach = 10

// TestAttackers plays games on drawn operators: tenants with all rights in their namespaces, one who may
// only write custom resources, and somebody who may change labels and annotations elsewhere. Nothing may happen outside of
// their rights that the definition does not say and lint does not warn of. GAMES is the
// number of games, GAME the first of them.
func TestAttackers(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // many short-lived allocations
	games, from := int(number(t, "GAMES", 200)), int(number(t, "GAME", 0))
	if testing.Short() {
		games = 40
	}
	var group sync.WaitGroup
	r := &attacks{refused: map[string]int{}, codes: map[string]int{}}
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), 4) {
		python := start(t)
		group.Go(func() {
			for seed := range next {
				r.play(t, uint64(seed), python)
			}
		})
	}
	for i := from / gamesEach; r.count() < games; i++ {
		next <- i
	}
	close(next)
	group.Wait()
	t.Logf("%d games on %d sets of operators, %d with effects; %d sets have errors: %v; findings of the others: %v",
		r.games, r.sets, r.failed, r.wrong, r.refused, r.codes)
}

// attacks counts games.
type attacks struct {
	mu                         sync.Mutex
	games, sets, wrong, failed int
	refused, codes             map[string]int
}

func (r *attacks) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.games
}

func (r *attacks) play(t *testing.T, seed uint64, python *differential.Python) {
	t.Helper()
	o, wrong, err := differential.DrawOperators(seed, nil)
	if err != nil {
		t.Errorf("operators %d: %v", seed, err)
		return
	}
	r.mu.Lock()
	if o == nil {
		r.wrong++
	} else {
		r.sets++
		if r.games += gamesEach; r.games%1000 == 0 {
			t.Logf("%d games on %d sets of operators, up to %d; %d with effects", r.games, r.sets, seed, r.failed)
		}
		for _, code := range codesOf(o.Findings) {
			r.codes[code]++
		}
	}
	for _, code := range codesOf(wrong.Only(diag.Error)) {
		r.refused[code]++
	}
	r.mu.Unlock()
	if o == nil {
		return
	}
	g, err := differential.Begin(o, seed, python)
	if err != nil {
		t.Errorf("operators %d: %v\n%s", seed, err, o)
		return
	}
	defer func() {
		if err := g.Close(); err != nil {
			t.Errorf("operators %d: %v", seed, err)
		}
	}()
	for i := range uint64(gamesEach) {
		effects, err := g.Attack(seed*gamesEach + i)
		if len(effects) == 0 && err == nil {
			continue
		}
		r.mu.Lock()
		r.failed++
		few, games := r.failed <= 5, r.games
		r.mu.Unlock()
		if few {
			t.Errorf("game %d of operators %d, among the first %d games: %v\n%s\n%s\nEFFECTS\n%s", i, seed, games, err, o, g.Log(), strings.Join(effects, "\n"))
		}
		return
	}
}

func codesOf(list diag.List) []string {
	var out []string
	for _, f := range list {
		if !slices.Contains(out, f.Code) {
			out = append(out, f.Code)
		}
	}
	return out
}
