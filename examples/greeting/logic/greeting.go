//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
)

type object struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metadata          `json:"metadata"`
	Data       map[string]string `json:"data"`
}

type metadata struct {
	Name string `json:"name"`
}

func main() {
	var request struct{ Parent object }
	data, err := os.ReadFile(os.Getenv("ARGOPERATOR_REQUEST"))
	if err == nil {
		err = json.Unmarshal(data, &request)
	}
	if err != nil {
		log.Fatal(err)
	}
	children := []object{}
	for number, name := range strings.Fields(request.Parent.Data["names"]) {
		children = append(children, object{
			APIVersion: "v1", Kind: "ConfigMap",
			Metadata: metadata{Name: fmt.Sprintf("%s-card-%d", request.Parent.Metadata.Name, number)},
			Data:     map[string]string{"text": "Hello, " + name + "!"},
		})
	}
	data, err = json.Marshal(map[string]any{"children": children})
	if err == nil {
		err = os.WriteFile(os.Getenv("ARGOPERATOR_RESPONSE"), data, 0o600)
	}
	if err != nil {
		log.Fatal(err)
	}
}
