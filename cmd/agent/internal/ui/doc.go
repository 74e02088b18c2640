// Package ui is how the command speaks to a person: streams, foreign text made harmless, tables, questions and progress.
//
// Every string that comes from a skill is hostile: it may move the cursor, rewrite what was printed before, or hide
// letters. [Line] and [Text] turn it into what a person can safely read, and all functions here that take plain text
// apply one of them. Only [Streams.Out] itself, and text of type [Safe], reach the terminal as they are.
//
// The package refuses to guess: it reads no environment, opens no terminal and never asks a question where nobody can
// answer. It alone imports the terminal libraries.
//
// Functions are safe for concurrent use. A Streams is used by one goroutine at a time.
package ui
