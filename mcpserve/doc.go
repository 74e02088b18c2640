// Package mcpserve serves skills to other agents over the Model Context Protocol.
//
// A [Server] offers the tools of package skilltool, and nothing else that can change: activating a skill adds no tool. What the scripts
// of a skill may do is decided where the server runs, by the options of the [skilltool.Kit] that it makes for each call.
//
// # Calls stand alone
//
// A connection is no conversation: a client may have several at once over it, or one over several. Each call gets a session of its own.
// The result of the tool skill has a handle, in its metadata as "session". A call with that argument sees the skills that were active
// then, and what they allow; without it no skill is active. A handle is sealed with Options.Key and holds for 24 hours. Any server with
// that key reads it.
//
// # What a client gets
//
// The text of a result is the engine's envelope as JSON, and its structured content the same value. A value over Limits.Result is cut in
// its middle. While a call runs, what its script prints is told as progress, if the client asked for that.
//
// # Concurrency
//
// A Server is safe for concurrent use.
package mcpserve
