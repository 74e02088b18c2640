package toolset

import (
	"errors"
	"fmt"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/toolset/internal/host"
	"github.com/agent-base/agent-base/want"
)

// Kind says why a toolset failed.
type Kind string

// The kinds of failure. The first six are about the code of a toolset, which a language host found when it loaded it.
const (
	KindImport  Kind = host.KindImport  // the file could not be loaded
	KindClass   Kind = host.KindClass   // the file has no such class or export
	KindBase    Kind = host.KindBase    // the class does not inherit from AgentToolset
	KindPackage Kind = host.KindPackage // a package is missing
	KindShape   Kind = host.KindShape   // what is named is no toolset
	KindTool    Kind = host.KindTool    // one tool of it cannot be used

	KindEntry    Kind = "entry"    // what the skill declares cannot be followed
	KindStart    Kind = "start"    // the process could not be started, or was not ready in time
	KindCrash    Kind = "crash"    // the process ended
	KindProtocol Kind = "protocol" // it does not speak MCP, or too much
	KindChanged  Kind = "changed"  // a tool is not what it was when it was listed, or the skill has changed
	KindWait     Kind = "wait"     // it failed before, and is not started again yet
	KindClosed   Kind = "closed"   // the Host is closed
)

// Error is the failure of one toolset. Its text is for people and models.
type Error struct {
	Skill   string // canonical name
	Toolset string // as the skill declares it; for KindEntry, the file that does
	Kind    Kind
	Message string
	Package string // the missing one, for KindPackage: a module of Python, or an npm package with the prefix script.NPM
	Trace   string // where it happened in the skill's files; "" if that is not known
	Err     error  // the cause; may be nil
}

// Error returns the text: the toolset, what is wrong, and the trace.
func (e *Error) Error() string {
	if e.Trace != "" {
		return e.Brief() + "\n" + e.Trace
	}
	return e.Brief()
}

// Brief returns the text without what the toolset wrote.
func (e *Error) Brief() string {
	if e.Kind == KindEntry { // Toolset is the file that declares it
		return fmt.Sprintf("%s of skill '%s': %s", e.Toolset, e.Skill, e.Message)
	}
	return fmt.Sprintf("Toolset %s of skill '%s': %s", e.Toolset, e.Skill, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Lacks returns the missing package, beside what Err lacks.
func (e *Error) Lacks() want.Set {
	if e.Kind != KindPackage || e.Package == "" {
		return nil
	}
	return script.Packages(e.Package)
}

// Errors returns the failures that an error of Host.Tools joins, in the order of the toolsets.
func Errors(err error) []*Error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // each error of the tree is looked at
		return []*Error{e}
	}
	var out []*Error
	if many, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // likewise
		for _, one := range many.Unwrap() {
			out = append(out, Errors(one)...)
		}
		return out
	}
	if inner := errors.Unwrap(err); inner != nil {
		return Errors(inner)
	}
	return nil
}
