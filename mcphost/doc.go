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
// Everything that a server says is hostile. A message over 8 MiB fails its call, the content of a resource over 24 MiB. What it writes that answers nothing is dropped and
// counted, each kind by itself: lines that are no messages, answers that nobody waits for, requests, messages of progress, other
// notifications. After 16 MiB of one kind between two answers, or 64 MiB on standard error, Options.Kill is called.
//
// A Host gives a model only what fits: descriptions of 2,048 characters, schemas of 64 KiB with 32 levels, 256 tools of a server, results of
// HostOptions.MaxResult. A tool that has another description or schema than when it was looked at is refused until [Host.Accept]. What goes
// wrong in a call is its result, and a server that has died is started again, after a while if that fails.
//
// A server may ask the user for something while a call is under way, by a form or at an address, if HostOptions.Elicit is there. A form that
// asks for a secret is declined, and so is what comes too often. It gets no model (sampling) and no folders (roots).
//
// A server with a URL is reached by https, or by http on this machine. A redirect to another host is refused, because what identifies the user
// would be sent there.
//
// # Concurrency
//
// A Host and a Conn are safe for concurrent use.
package mcphost
