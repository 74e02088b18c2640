package mcphost

import "fmt"

// Kind says why a server failed.
type Kind string

// The kinds of failure.
const (
	KindUnknown  Kind = "unknown"  // no server has the label
	KindStart    Kind = "start"    // it could not be started or reached, or was not ready in time
	KindCrash    Kind = "crash"    // its process ended
	KindProtocol Kind = "protocol" // it does not speak MCP, or too much
	KindTimeout  Kind = "timeout"  // it did not answer in time
	KindAnswer   Kind = "answer"   // it answered with an error
	KindLogin    Kind = "login"    // it wants to know who the user is
	KindTool     Kind = "tool"     // one tool of it cannot be used
	KindChanged  Kind = "changed"  // a tool is not what it was when it was looked at
	KindWait     Kind = "wait"     // it failed before, and is not started again yet
	KindClosed   Kind = "closed"   // the Host is closed
)

// ServerError is the failure of one server. Its text is for people and models.
type ServerError struct {
	Label   string
	Kind    Kind
	Message string
	Trace   string // what its process wrote last; may be empty
	Err     error  // the cause; may be nil
}

// Error returns the text: the server, what is wrong, and what its process wrote last.
func (e *ServerError) Error() string {
	text := fmt.Sprintf("MCP server %s: %s", e.Label, e.Message)
	if e.Trace != "" {
		text += "\n" + e.Trace
	}
	return text
}

// Unwrap returns the cause.
func (e *ServerError) Unwrap() error { return e.Err }
