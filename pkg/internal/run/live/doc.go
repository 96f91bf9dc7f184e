// Package live runs operators on a real API server, in this process: it watches what their
// EventSources watch, delivers the events to their Sensors' triggers, and runs their
// Workflows, with the code that package simulate uses in memory.
//
// The rule of this package: requests of an operator carry the identity of its service
// account, so that a missing permission shows as it does on a cluster. Everything that
// happens becomes a record.
package live
