// Package oauth logs a user in to MCP servers that are reached over HTTP, and keeps the tokens.
//
// [Login] follows the authorization of the protocol: the server names its authorization server (RFC 9728), whose metadata (RFC 8414) say
// where to go. The code comes back to an address on this machine, bound to this login by a state, PKCE with S256 and, where there is one,
// the issuer (RFC 9207). Both requests name the server as the resource that the token is for (RFC 8707). An authorization server
// without metadata, or one that does not say that it knows S256, is refused.
//
// A [Store] keeps tokens in a file that only the user reads, each for one issuer and one resource. A token is sent to the server that it
// is for, and to the authorization server that gave it, and to nobody else.
//
// The functions are safe for concurrent use, also by several processes.
package oauth
