// Command verdicts reads JSON, one value a line, and prints for each a list of reasons as a
// line of JSON. For an object, they are why argoperator says that the API server refuses it.
// For {"before": OBJECT, "after": OBJECT}, they are why the API server in memory refuses the
// update. e2e/agreement compares them with the answers of the API server.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	if err := errors.Join(run(os.Stdin, out), out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "verdicts:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	decoder, encoder := json.NewDecoder(in), json.NewEncoder(out)
	decoder.UseNumber()
	cache := cluster.NewCache()
	for {
		var value map[string]any
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		reasons, err := verdict(value, cache)
		if err != nil {
			return err
		}
		if err := encoder.Encode(reasons); err != nil {
			return err
		}
	}
}

func verdict(value map[string]any, cache *cluster.Cache) ([]string, error) {
	before, isUpdate := value["before"].(map[string]any)
	if !isUpdate {
		return creation(value), nil
	}
	after, _ := value["after"].(map[string]any)
	c := cluster.NewCluster(nil, cluster.Ticks())
	c.Cache = cache
	for _, object := range []map[string]any{before, after} {
		if reasons, err := applied(c, object); err != nil || len(reasons) > 0 {
			return reasons, err
		}
	}
	return []string{}, nil
}

func creation(object map[string]any) []string {
	reasons := []string{}
	for _, p := range admission.Child(object, nil) {
		if !p.Warning {
			reasons = append(reasons, p.Path+": "+p.Message)
		}
	}
	return reasons
}

// applied applies an object, and returns why the API server refuses it.
func applied(c *cluster.Cluster, object map[string]any) ([]string, error) {
	o := &unstructured.Unstructured{Object: object}
	kind := c.Kind(o.GroupVersionKind())
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPatch, kind.Path(o.GetNamespace(), o.GetName())+"?fieldManager=agreement&force=true", bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/apply-patch+yaml")
	recorder := &cluster.Recorder{Cluster: c}
	if _, err := recorder.RoundTrip(request); err != nil {
		return nil, err
	}
	if call := recorder.TakeCalls()[0]; call.Status >= http.StatusBadRequest {
		return []string{call.Outcome()}, nil
	}
	return nil, nil
}
