// Package skillsource has the skills that MCP servers publish, as a source for a catalogue.
//
// A server that declares the extension io.modelcontextprotocol/skills lists its skills, each with its front matter and with the size and
// the digest of every file. A [Source] lists them from that alone: it reads no file before somebody loads the skill, and then no other
// than those that are asked for. What it reads has to have the size, the digest and the front matter that the list has; else nothing of
// it is used.
//
// A file that was read is kept in Options.Cache, under the name of its digest, and hashed again at each use. So is the list: what was read
// once is there while the server is not. Nothing in the cache has the name of a manifest, so no search for skills finds any there.
//
// What a server says is hostile: lists, entries and files are bounded, and one bad entry takes no other with it. A match of digests says
// that two answers of the server agree, and no more. The package asks nobody and runs nothing; give the catalogue a skill.TrustFunc, and
// the Layer the label of the server.
//
// A Source is safe for concurrent use, also by several processes with one cache.
package skillsource
