// Package ui connects the command with the person who uses it: streams, tables, progress, questions, and the
// sanitising of foreign text.
//
// Text from a skill or a model is hostile. It may move the cursor, rewrite what was printed before, or hide letters.
// [Line] and [Text] make such text safe to print, and [Prose] does so for long texts in any written language. All
// functions of this package that take plain text apply one of them. Only what is written to [Streams.Out] directly,
// and text of type [Safe], reaches the terminal unchanged.
//
// A question is printed in a frame: each of its rows begins with [Mark]. No function of this package lets foreign text
// contain that character or one that looks like it, so foreign text cannot imitate a question, neither above it nor
// inside it. This also holds on a terminal without colours.
//
// The package does not guess. It reads no environment, opens no terminal, and never asks a question when nobody can
// answer it.
//
// Functions are safe for concurrent use. A Streams is used by one goroutine at a time.
package ui
