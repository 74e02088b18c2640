// Package parity tests that every model is shown the same. Each scripted conversation runs over every wire, from the
// loop through the provider's package to a fake server, with the engine's own tools and real scripts. The tests compare
// and count what the models were shown, and search it for the text of scripts. The package has no code of its own, and
// its tests share no mutable state.
//
// With -live a few prompts are also sent to real models: see live_test.go.
package parity
