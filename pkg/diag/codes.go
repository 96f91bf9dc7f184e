package diag

// The codes of findings. A code is part of the interface: it is never renamed and never
// reused. Add a code here, and its line in Codes.
const (
	// Files and their text.
	YAMLSyntax   = "yaml-syntax"
	YAMLAlias    = "yaml-alias"
	YAMLMergeKey = "yaml-merge-key"
	YAMLTag      = "yaml-tag"
	InvalidUTF8  = "invalid-utf8"
	TooLarge     = "too-large"
	NoDefinition = "no-definition"

	// Keys and values.
	WrongAPIVersion = "wrong-api-version"
	WrongKind       = "wrong-kind"
	UnknownKey      = "unknown-key"
	DuplicateKey    = "duplicate-key"
	MissingKey      = "missing-key"
	ConflictingKeys = "conflicting-keys"
	WrongType       = "wrong-type"
	NullValue       = "null-value"
	BadValue        = "bad-value"
	DuplicateValue  = "duplicate-value"
	ReservedName    = "reserved-name"
	Unsupported     = "unsupported"

	// Names.
	BadName        = "bad-name"
	NameTooLong    = "name-too-long"
	ProtectedGroup = "protected-group"
	UnknownKind    = "unknown-kind"

	// Schemas.
	BadSchema     = "bad-schema"
	UnknownType   = "unknown-type"
	UnknownMarker = "unknown-marker"
	BadMarker     = "bad-marker"
	BadDefault    = "bad-default"
	UnknownField  = "unknown-field"
	BadPath       = "bad-path"

	// Files that a definition refers to.
	FileNotFound         = "file-not-found"
	PathOutsideDirectory = "path-outside-directory"
	NotAFile             = "not-a-file"

	// Custom resources.
	NoCustomResource     = "no-custom-resource"
	FailedValidationRule = "failed-validation-rule"
	DeprecatedVersion    = "deprecated-version"
	DroppedField         = "dropped-field"
	MissingSchema        = "missing-schema"

	// Answers of an API server.
	ServerRejected    = "server-rejected"
	ServerWarning     = "server-warning"
	ServerNotChecked  = "server-not-checked"
	ServerUnreachable = "server-unreachable"

	// Changes.
	BreakingChange = "breaking-change"
	RemovedChild   = "removed-child"
	MovedChild     = "moved-child"

	// Expressions.
	BadExpression = "bad-expression"

	UnusedVariable       = "unused-variable"
	MayBeNull            = "may-be-null"
	DefaultReplacesFalse = "default-replaces-false"

	// Tests.
	NoTest            = "no-test"
	StepFailed        = "step-failed"
	FailedExpectation = "failed-expectation"
	NotIdempotent     = "not-idempotent"
	EmptyExpectation  = "empty-expectation"

	// Files of other tools.
	NotImported     = "not-imported"
	ChangedOnImport = "changed-on-import"

	// Warnings.
	UnpinnedImage      = "unpinned-image"
	MissingImageDigest = "missing-image-digest"
	MissingCommandFile = "missing-command-file"
	MissingModule      = "missing-module"
	BadChart           = "bad-chart"
	ChartDiffers       = "chart-differs"
	ChartRandom        = "chart-random"
	UndeclaredKind     = "undeclared-kind"
	UnknownFormat      = "unknown-format"
	StatusNotWritten   = "status-not-written"

	PrivilegeEscalation = "privilege-escalation"
	BadIgnore           = "bad-ignore"
	UnusedIgnore        = "unused-ignore"
	NoAdmissionPolicy   = "no-admission-policy"
	UnrestrictedTarget  = "unrestricted-target"
	Uniqueness          = "uniqueness"
	SecretExposed       = "secret-exposed"
	ExpressionCost      = "expression-cost"
	EndlessChildren     = "endless-children"
	EndlessWait         = "endless-wait"
	EndlessWrites       = "endless-writes"
	ImmutableField      = "immutable-field"

	// What a cluster accepts, and what does not work there.
	ScaledReplicas = "scaled-replicas"
	RepeatedRun    = "repeated-run"
	SharedSelector = "shared-selector"
	UnmatchedChild = "unmatched-child"
	LossyVersion   = "lossy-version"
	DataLoss       = "data-loss"
	DeletedOnFlip  = "deleted-on-flip"
	OpenToAll      = "open-to-all"

	InterpretedText = "interpreted-text"
)

// Code is the code of a finding with its meaning.
type Code struct {
	Code string
	Doc  string // one line, for the documentation
}

// Codes returns every code in the order of the documentation. The caller owns the
// slice.
func Codes() []Code {
	return []Code{
		{YAMLSyntax, "The file is not valid YAML or JSON."},
		{YAMLAlias, "A YAML alias refers to itself, or the aliases of a file expand to too many values."},
		{YAMLMergeKey, "The merge key << is not part of YAML 1.2. Repeat the keys, or use an alias for a whole value."},
		{YAMLTag, "YAML tags such as !!binary or !custom are not supported."},
		{InvalidUTF8, "The file contains bytes that are not UTF-8 text."},
		{TooLarge, "A file, or all files together, exceed a size limit."},
		{NoDefinition, "The input contains no definition."},
		{WrongAPIVersion, "This version of argoperator does not support the apiVersion, or the API does not serve it."},
		{WrongKind, "kind is not Operator, or not the expected kind."},
		{UnknownKey, "The key does not exist."},
		{DuplicateKey, "A mapping contains a key twice."},
		{MissingKey, "A required key is missing."},
		{ConflictingKeys, "Two keys exclude each other, or a key needs another key that is missing."},
		{WrongType, "A value has the wrong type."},
		{NullValue, "A key has no value."},
		{BadValue, "A value has the right type but is invalid."},
		{DuplicateValue, "A list contains the same entry twice."},
		{ReservedName, "argoperator or Kubernetes reserves the name."},
		{Unsupported, "The engine does not support something in the definition."},
		{BadName, "A name is invalid where it is used."},
		{NameTooLong, "A name, or a name derived from it, is too long for its kind of object."},
		{ProtectedGroup, "The API group is reserved for the Kubernetes project."},
		{UnknownKind, "The kind is not built into Kubernetes, and the definition does not state its plural and scope."},
		{BadSchema, "A CustomResourceDefinition cannot contain such a schema."},
		{UnknownType, "The short schema uses a type that is neither built in nor defined in types."},
		{UnknownMarker, "The short schema uses a marker that does not exist."},
		{BadMarker, "A marker of the short schema has a wrong value or does not apply to the type."},
		{BadDefault, "The default does not match the schema of its field."},
		{UnknownField, "A path refers to a field that the schema does not contain."},
		{BadPath, "The JSON path cannot be used here."},
		{FileNotFound, "A file that the definition refers to does not exist."},
		{PathOutsideDirectory, "A path leads outside the directory of the definition."},
		{NotAFile, "A path refers to something other than a regular file."},
		{NoCustomResource, "The input contains no custom resource of the operators."},
		{FailedValidationRule, "The custom resource, or its change, violates a CEL validation rule of the schema."},
		{DeprecatedVersion, "The API server warns users of this version."},
		{DroppedField, "The API server drops the field without a message."},
		{MissingSchema, "argoperator does not know the schema of the kind, and checked only the metadata."},
		{
			ServerRejected,
			"With --server: the API server of the kubeconfig rejects the object, by its own validation, an admission policy, a webhook " +
				"or a quota.",
		},
		{ServerWarning, "With --server: the API server of the kubeconfig accepts the object with a warning."},
		{
			ServerNotChecked,
			"With --server: the API server of the kubeconfig could not check objects, for example because their kind or namespace is " +
				"missing.",
		},
		{ServerUnreachable, "With --server: the API server of the kubeconfig cannot be reached, or does not accept the credentials."},
		{BreakingChange, "The change breaks existing custom resources or clients, or can break them."},
		{RemovedChild, "The definition no longer contains a child. Says what happens to the objects that the operator created for it."},
		{MovedChild, "A child has another name or namespace than in the earlier definition, so its objects are created anew."},
		{BadExpression, "An expression between ${ and } has a syntax error, or cannot be evaluated where it is used."},
		{UnusedVariable, "No expression reads a variable."},
		{MayBeNull, "An expression uses an optional field where null fails or gives a wrong result."},
		{DefaultReplacesFalse, "The operator // also replaces false."},
		{NoTest, "The input contains no test, or no selected test."},
		{StepFailed, "The API server rejected a step of a test, the step is impossible, or a request failed."},
		{FailedExpectation, "An expectation of a test is not met."},
		{NotIdempotent, "A second delivery of the same events caused a write, or the operator keeps reacting to its own writes."},
		{EmptyExpectation, "An expectation of a test is always met."},
		{NotImported, "The new project does not contain something of the input."},
		{ChangedOnImport, "The new project contains something of the input that needs attention."},
		{UnpinnedImage, "The image has no fixed version."},
		{MissingImageDigest, "The file of install.imagesLock has no digest for the image, or the registry returned none."},
		{MissingModule, "A Python program imports a module that its image does not have."},
		{MissingCommandFile, "The command uses a file that is not part of the logic."},
		{BadChart, "Helm cannot render the chart."},
		{ChartDiffers, "A part of the chart is left out, or has another result than in an installation by Helm."},
		{ChartRandom, "The chart has another result for each call, so each reconcile would change its objects."},
		{UndeclaredKind, "A template of the chart makes an object whose kind is not among children."},
		{StatusNotWritten, "The status that the operator writes does not match the schema of the kind."},
		{UnknownFormat, "The API server does not validate this string format."},
		{ImmutableField, "An immutable field of a child is computed from a field that can change, or differs from the earlier definition."},
		{NoAdmissionPolicy, "Users can change the state that the operator relies on, because the admission policies are turned off."},
		{Uniqueness, "Several custom resources, or items of forEach, may share one object: its name does not tell them apart."},
		{UnrestrictedTarget, "Users who create custom resources choose where the operator writes or reads, without a limit."},
		{EndlessChildren, "Operators make custom resources of each other, without a condition that ends it."},
		{EndlessWait, "A child waits for a value of another object that may never have it, such as one that no template writes."},
		{EndlessWrites, "The operator never stops to write, because a value of a child or of the status is another one after each write."},
		{ExpressionCost, "The time of an expression grows faster than the custom resource, which may keep a Sensor busy for long."},
		{SecretExposed, "Users without permission to read Secrets can read their content."},
		{BadIgnore, "A comment argoperator:ignore has no reason, names an unknown code, or names an error of a definition."},
		{UnusedIgnore, "A comment argoperator:ignore suppresses nothing."},
		{
			PrivilegeEscalation,
			"A child grants permissions that the operator does not have, so the API server rejects it; or that users would get by it.",
		},
		{ScaledReplicas, "An autoscaler and the template of a child both set the number of replicas."},
		{RepeatedRun, "A child that runs to its end is deleted afterwards, and the operator creates it again."},
		{SharedSelector, "A selector is the same for all custom resources, so it selects the pods of all of them."},
		{UnmatchedChild, "A selector, a name, a key or a port matches no child, but nearly does."},
		{LossyVersion, "Custom resources that are written in one version lose a field, or become invalid, in another."},
		{DataLoss, "A change replaces a child, and what it stores is deleted with it."},
		{DeletedOnFlip, "A change of `when` deletes an object that onDelete: Orphan seems to protect."},
		{OpenToAll, "A rule of a NetworkPolicy without peers allows all of them."},
		{InterpretedText, "A text of the custom resource is a part of a program that a shell or another interpreter runs."},
	}
}
