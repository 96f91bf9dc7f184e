// Command verdicts reads objects in JSON, one a line, and prints for each a list of the
// reasons why argoperator says that the API server refuses it, as a line of JSON.
// e2e/agreement compares them with the answers of the API server.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
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
	for {
		var object map[string]any
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		reasons := []string{}
		for _, p := range admission.Child(object, nil) {
			if !p.Warning {
				reasons = append(reasons, p.Path+": "+p.Message)
			}
		}
		if err := encoder.Encode(reasons); err != nil {
			return err
		}
	}
}
