// Package simulate answers what an operator would do: a change of an object
// goes through the emitted EventSources and Sensors, by Argo's own transform,
// filter, parameter and trigger code, onto a cluster in memory.
//
// The rule of this room: it judges nothing and never asks how the objects were
// made. What it cannot carry out it says; it does not guess.
package simulate
