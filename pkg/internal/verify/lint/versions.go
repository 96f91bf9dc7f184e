package lint

import (
	"fmt"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

const codeNewerField = "newer-field"

// newerFields are the fields of each version of Argo Workflows that the types of this program do
// not have, by the name of the type. They are the differences between the files
// api/jsonschema/schema.json of the releases 3.7.18, 4.0.5 and 4.1.2.
var newerFields = map[Version]map[string][]string{
	{4, 0}: {
		"Artifact": {"plugin"}, "ArtifactLocation": {"plugin"}, "ArtifactPaths": {"plugin"}, "ArtifactRepository": {"plugin"},
	},
	{4, 1}: {
		"Container": {"restartPolicyRules"}, "ContainerNode": {"restartPolicyRules"}, "ScriptTemplate": {"restartPolicyRules"},
		"UserContainer": {"restartPolicyRules"}, "EnvVarSource": {"fileKeyRef"}, "VolumeProjection": {"podCertificate"},
		"HTTPArtifact": {"saveStreamViaFile"}, "S3Artifact": {"addressingStyle"}, "S3ArtifactRepository": {"addressingStyle"},
		"Template":     {"pendingTimeout", "podResources", "resourceClaims"},
		"WorkflowSpec": {"executorPlugins", "podResources", "resourceClaims"},
	},
}

// removedFields are the fields that earlier versions had.
var removedFields = map[Version]map[string][]string{
	{3, 7}: {"Template": {"priority"}, "WorkflowSpec": {"podPriority"}},
}

// ofVersion gives an unknown field of another version its own code or message. A target decides
// whether one of a newer version is a problem.
func ofVersion(p problem.Problem, targets Targets) (changed problem.Problem, newer bool) {
	if p.Code != diag.UnknownField {
		return p, false
	}
	name := lastOf(p)
	if since := versionOf(newerFields, p.Type, name); since != (Version{}) {
		p.Code, p.Warning, p.Hint = codeNewerField, true, ""
		p.Message = fmt.Sprintf("%s is a field of Argo Workflows %s, and %s ignores it", name, since, targets.Workflows)
		return p, true
	}
	if until := versionOf(removedFields, p.Type, name); until != (Version{}) {
		p.Message = fmt.Sprintf("Argo Workflows %s removed %s of %s", until, name, p.Type)
		p.Hint = ""
	}
	return p, false
}

// lastOf returns the field that a problem is about.
func lastOf(p problem.Problem) string {
	steps := p.Segments()
	return steps[len(steps)-1]
}

func versionOf(fields map[Version]map[string][]string, of, name string) Version {
	for version, types := range fields {
		for _, field := range types[of] {
			if field == name {
				return version
			}
		}
	}
	return Version{}
}
