package resource

// formatTexts are valid texts of every format that the API server validates, by the
// name without dashes. The first is the simplest.
var formatTexts = map[string][]string{
	"bsonobjectid": {"507f1f77bcf86cd799439011", "60c72b2f9b1d8e0015a3f0aa"},
	"uri":          {"https://example.com", "http://example.com:8080/a/b?c=d#e", "s3://bucket/key"},
	"email":        {"user@example.com", "first.last+tag@sub.example.org"},
	"hostname":     {"example.com", "a", "very-long-host-name.sub.example.org"},
	"ipv4":         {"192.0.2.1", "0.0.0.0", "255.255.255.255"},
	"ipv6":         {"2001:db8::1", "::", "fe80::1"},
	"cidr":         {"192.0.2.0/24", "0.0.0.0/0", "2001:db8::/32"},
	"mac":          {"02:00:5e:10:00:01", "ff:ff:ff:ff:ff:ff"},
	"uuid":         {"123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000000"},
	"uuid3":        {"6fa459ea-ee8a-3ca4-894e-db77e160355e", "11a38b9a-b3da-360f-9353-a5a725514269"},
	"uuid4":        {"16fd2706-8baf-433b-82eb-8c7fada847da", "f47ac10b-58cc-4372-a567-0e02b2c3d479"},
	"uuid5":        {"886313e1-3b8a-5372-9b90-0c9aee199e5d", "74738ff5-5367-5958-9aee-98fffdcd1876"},
	"isbn":         {"0321751043", "978-0321751041"},
	"isbn10":       {"0321751043", "0-306-40615-2"},
	"isbn13":       {"978-0321751041", "9780306406157"},
	"creditcard":   {"4111111111111111", "5555555555554444"},
	"ssn":          {"111-22-3333", "078-05-1120"},
	"hexcolor":     {"#ffffff", "#000", "#1A2b3C"},
	"rgbcolor":     {"rgb(255,255,255)", "rgb(0,0,0)"},
	"byte":         {"c2FtcGxl", "YQ==", "w7xtbMOkdXTwn5iA"},
	"password":     {"change-me", "p"},
	"date":         {"2026-01-02", "1970-01-01", "2024-02-29"},
	"duration":     {"1h", "30s", "1h30m", "100ms"},
	"k8sshortname": {"sample", "a", "my-name-0"},
	"k8slongname":  {"example.com", "a", "my-name.sub.example.org"},
	"datetime":     {"2026-01-02T03:04:05Z", "1970-01-01T00:00:00Z", "2024-02-29T23:59:59.123456Z"},
}
