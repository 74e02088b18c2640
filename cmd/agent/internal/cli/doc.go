// Package cli is the command line of `agent`: one file for each command. Package app has what the commands share, and
// package worker the agent itself.
//
// A command is an options struct, a constructor that declares its flags, and a function that runs it: listOptions,
// newListCommand, runList. The options hold the flags and the services that the command needs; the constructor gets the
// function, so a test can parse a command line without running it.
//
// What a command prints for people goes through package ui, which makes foreign text harmless. What it prints with
// --json is the plain data. No command that reads writes. One run uses one goroutine; Main may be called several times,
// also in parallel.
package cli
