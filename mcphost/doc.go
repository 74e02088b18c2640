// Package mcphost is the client side of the Model Context Protocol: conversations with servers that other people wrote.
//
// A [Host] uses the servers that a user configured. It offers their tools to a model, and starts each server when it is needed:
//
//	h, err := mcphost.NewHost(&mcphost.HostOptions{Servers: []mcphost.Server{{Label: "github", Run: run}}})
//	if err != nil {
//		return err
//	}
//	defer h.Close()
//	tools, err := h.Tools(ctx) // mcp__github__create_issue, …
//
// A [Conn] is the conversation with a server that is a process. It speaks the revisions without sessions (2026-07-28) and those
// that begin with initialize, whichever the server knows. It starts nothing: who starts the process joins In, Out and Err of the
// Conn to it and calls End when it is gone.
//
// # What a server may do
//
// Everything that a server says is hostile. A message over 8 MiB fails its call. What it writes that answers nothing is dropped and
// counted, each kind by itself: lines that are no messages, answers that nobody waits for, requests, messages of progress, other
// notifications. After 16 MiB of one kind between two answers, or 64 MiB on standard error, Options.Kill is called.
//
// # Concurrency
//
// A Host and a Conn are safe for concurrent use.
package mcphost
