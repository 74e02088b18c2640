// Package cli is the command `agent`: one file for each command, and the few that all of them share.
//
//   - System is the world outside, read once: arguments, environment, folders, streams.
//   - app is one run of the command; it opens settings, catalogue, trust and script host when a command asks for them.
//   - exit.go maps every error to an exit code, a machine-readable code and a hint. No other place does.
//
// A command is an options struct, a constructor that declares flags, and a run method. What a command prints for people
// goes through cmd/agent/internal/ui, which makes foreign text harmless; what it prints with --json is the plain data.
//
// The package refuses to guess: without a terminal it asks nothing and approves nothing, and no command that reads
// writes. One run uses one goroutine; Main may be called several times, also in parallel.
package cli
