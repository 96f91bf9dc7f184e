package differential

import (
	"context"

	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// rendered compares a world in which only the custom resource has been created with what
// argoperator render shows for it, which knows no other objects.
func (j *player) rendered(o operator, w *world, cr map[string]any) error {
	if len(j.c.othersObjects()) > 0 || j.c.hasSecond() {
		return nil
	}
	inputs := simulate.Inputs{Objects: o.objects, Kinds: o.kinds, Runner: j.runner, Prepared: o.prepared, Untraced: true}
	rendering, err := simulate.Render(context.Background(), inputs, []simulate.Action{{Event: simulate.Added, Object: cr}})
	if err != nil {
		return j.failed(w, "render", err)
	}
	there, err := w.Get(cr)
	if err != nil {
		return err
	}
	shown, live := map[string]any{}, map[string]any{}
	for _, object := range rendering.Objects {
		shown[placeOf(object)] = w.essential(decoded[map[string]any](object))
	}
	for _, object := range append(w.own(), there) {
		if key := placeOf(object); shown[key] != nil || key != placeOf(cr) { // one that only its user wrote is not shown
			live[key] = w.essential(decoded[map[string]any](w.Normalized(object)))
		}
	}
	if diff := difference(shown, live); diff != "" {
		j.report(Engines, w, "render", "-render +"+string(w.engine)+"\n"+diff)
	}
	return nil
}
