// Package toolset makes tools of the code in skills.
//
// A toolset is a Python class, an export of a TypeScript or JavaScript file, or an MCP server that a skill brings. [Entries]
// reads which a skill has, and runs nothing. A [Host] starts what is needed, one process for all classes of a language and one
// for each server, inside the sandbox and with the grants of the skill's scripts, and returns their tools. Toolsets in Go are
// registered by the program that embeds the engine.
//
// # Life
//
// A process is started by [Host.Tools] or by the first call of a tool, ends when no call was made for five minutes, and is
// started again by the next call. After a failure the next start is at once, then after 1 s, 2 s, 4 s and so on up to a
// minute; a call in between fails and says so. Close ends all of them. A call that is cancelled or out of time is cancelled in
// the toolset too; a process that then gives no sign of life is killed.
//
// # What a toolset cannot do
//
// It runs with the limits of a script. A message over 8 MiB fails its call. What it writes to standard output that is no
// message is dropped and counted; a process that writes too much of it between two answers is killed, as package mcphost says. The names, descriptions and
// schemas of its first listing hold as long as the Host: a tool that has others later is refused. Secrets that it was given are
// replaced in what it says.
//
// # Concurrency
//
// A Host is safe for concurrent use. Calls of one process run at the same time.
package toolset
