// Package page serves the page of argoperator dev: an operator at work, its objects, and
// editors for the definition and for custom resources.
//
// The rule of this package: it answers only requests to a local address that carry the
// token of the session, whatever site the browser shows beside it.
package page
