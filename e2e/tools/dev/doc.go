// Package dev tests argoperator dev with the programs that users have: kubectl, and a
// browser for the page. Run it with make test-dev.
package dev
