// Package parity holds the check that every model is shown the same (R97): one scripted conversation after another runs
// over each wire, from the loop through the provider's package to a fake server, with the engine's own tools and real
// scripts. What the models were shown is compared, counted and searched for the text of scripts. It has no code of its
// own, and its tests share nothing that changes.
//
// With -live a few prompts go to real models as well: see live_test.go.
package parity
