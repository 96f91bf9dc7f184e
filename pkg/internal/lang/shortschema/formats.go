package shortschema

// knownFormats returns the formats that the API server validates (strings) or documents
// (numbers); see pkg/apiserver/validation/formats.go of apiextensions-apiserver.
func knownFormats() []string {
	return []string{
		"bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac",
		"uuid", "uuid3", "uuid4", "uuid5", "isbn", "isbn10", "isbn13", "creditcard", "ssn",
		"hexcolor", "rgbcolor", "byte", "password", "date", "duration", "datetime", "date-time",
		"k8s-short-name", "k8s-long-name", "int32", "int64", "float", "double",
	}
}
