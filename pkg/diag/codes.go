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

	// Expressions.
	BadExpression = "bad-expression"

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
	UnknownFormat      = "unknown-format"
	StatusNotWritten   = "status-not-written"

	PrivilegeEscalation = "privilege-escalation"
	NoAdmissionPolicy   = "no-admission-policy"
	UnrestrictedTarget  = "unrestricted-target"
	SecretExposed       = "secret-exposed"
	ImmutableField      = "immutable-field"
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
		{YAMLSyntax, "The file is not legal YAML or JSON."},
		{YAMLAlias, "A YAML alias refers to itself, or the aliases of a file unfold to too much."},
		{YAMLMergeKey, "The merge key << is not part of YAML 1.2: repeat the keys, or alias a whole value."},
		{YAMLTag, "A YAML tag such as !!binary or !custom is not read."},
		{InvalidUTF8, "The file holds bytes that are not UTF-8 text."},
		{TooLarge, "A file, or files together, exceed what can be carried."},
		{NoDefinition, "The input holds no definition."},
		{WrongAPIVersion, "apiVersion is not one that this argoperator reads, or that the API serves."},
		{WrongKind, "kind is not Operator, or not the kind that is wanted."},
		{UnknownKey, "A key that the language does not know."},
		{DuplicateKey, "A key is written twice in one mapping."},
		{MissingKey, "A key that must be written is not."},
		{ConflictingKeys, "Keys that exclude each other are both written, or a key is written without the one it belongs to."},
		{WrongType, "A value has another type than the key wants."},
		{NullValue, "A key is written without a value."},
		{BadValue, "A value has the right type and is not legal."},
		{DuplicateValue, "Two entries of a list say the same."},
		{ReservedName, "A name that argoperator or Kubernetes keeps for itself."},
		{Unsupported, "The engine cannot carry what the definition asks for."},
		{BadName, "A name is not legal where it is used."},
		{NameTooLong, "A name, or one derived from it, exceeds the limit of its kind of object."},
		{ProtectedGroup, "The API group belongs to the Kubernetes project."},
		{UnknownKind, "A kind that is not built into Kubernetes and whose plural or scope is not written."},
		{BadSchema, "The schema says something that a CustomResourceDefinition cannot."},
		{UnknownType, "A type of the short schema form that is neither built in nor named in types."},
		{UnknownMarker, "A marker of the short schema form that does not exist."},
		{BadMarker, "A marker of the short schema form that is mistyped or does not fit the type."},
		{BadDefault, "A default that the field's own schema refuses."},
		{UnknownField, "A path leads to a field that the schema does not have."},
		{BadPath, "A JSON path that cannot be used in this place."},
		{FileNotFound, "A file that the definition refers to does not exist."},
		{PathOutsideDirectory, "A path leads out of the definition's directory."},
		{NotAFile, "A path leads to something that is not a regular file."},
		{NoCustomResource, "The input holds no custom resource of the operators."},
		{FailedValidationRule, "A rule of the schema (CEL) does not hold for the custom resource, or not for its change."},
		{DeprecatedVersion, "The API server warns whoever uses the version."},
		{DroppedField, "The API server drops the field without a word."},
		{MissingSchema, "Of the kind no schema is known: only what all objects have in common was judged."},
		{ServerRejected, "With --server: the API server of the kubeconfig rejects the object, by its own validation, an admission policy, a webhook or a quota."},
		{ServerWarning, "With --server: the API server of the kubeconfig accepts the object with a warning."},
		{ServerNotChecked, "With --server: the API server of the kubeconfig could not check objects, for example because their kind or namespace is missing."},
		{ServerUnreachable, "With --server: the API server of the kubeconfig cannot be reached, or does not accept the credentials."},
		{BreakingChange, "Custom resources or clients that the kind takes today are refused after the change, or may be."},
		{RemovedChild, "A child is no longer in the definition: the objects that the operator made of it stay."},
		{BadExpression, "An expression between ${ and } that does not parse, or that its place cannot evaluate."},
		{MayBeNull, "A field that may be missing is used where null fails or does damage."},
		{DefaultReplacesFalse, "The operator // replaces a false that was meant."},
		{NoTest, "The input holds no test, or none that was asked for."},
		{StepFailed, "A step of a test was refused, could not be done, or something failed on the way."},
		{FailedExpectation, "What a test expects did not come true."},
		{NotIdempotent, "A second delivery of the same events wrote something, or the operator never comes to rest."},
		{EmptyExpectation, "What a test expects is true of everything."},
		{NotImported, "What is there already is not taken over into the new project."},
		{ChangedOnImport, "What is there already is taken over, and something about it is to be known."},
		{UnpinnedImage, "The image has no fixed version."},
		{MissingImageDigest, "The file of install.imagesLock has no digest for the image, or a registry gave none."},
		{MissingCommandFile, "The command names a file that does not travel with the logic."},
		{StatusNotWritten, "The kind does not take the status that the operator would report."},
		{UnknownFormat, "The API server does not check this string format."},
		{ImmutableField, "A field of a child that nobody can change is computed from one that may change."},
		{NoAdmissionPolicy, "Users may write what the operator relies on, because the policies that keep them from it are turned off."},
		{UnrestrictedTarget, "Whoever creates a custom resource chooses where the operator writes or reads, and nothing limits the choice."},
		{SecretExposed, "Secrets can be read by those who may not read Secrets."},
		{PrivilegeEscalation, "A child grants rights, and the API server refuses it unless the operator's service account holds them or may grant them."},
	}
}
