package cause

import (
	"context"
	"encoding/json"
	"io/fs"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/nodeenv"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/toolset"
	"github.com/agent-base/agent-base/want"
)

// kind is one kind of error that keeps what it is.
type kind struct {
	name string
	is   error // the fixed error that it is; nil for a type

	fields func(error) (json.RawMessage, bool)           // of an error of the kind; false for another one
	err    func(of json.RawMessage, under []error) error // nil if the fields cannot be read
}

// kinds returns the closed list. A name stays what it is: other versions read it. Where a type is added beneath package script, a test
// asks for a row here, or for the reason why its text is enough.
func kinds() []kind {
	return []kind{
		scripts(),
		typed("toolset", func(e *toolset.Error) *error { return &e.Err }),
		typed("python", func(e *pyenv.Error) *error { return &e.Err }),
		typed("packages_size", func(*pyenv.SizeError) *error { return nil }),
		typed("no_wheel", func(*pyenv.NoWheelError) *error { return nil }),
		typed("package_host", func(*pyenv.HostError) *error { return nil }),
		typed("npm", func(e *nodeenv.Error) *error { return &e.Err }),
		typed("npm_manager", func(*nodeenv.MissingError) *error { return nil }),
		typed("program_dropped", func(*program.DroppedError) *error { return nil }),
		typed("sandbox", func(e *runner.SandboxError) *error { return &e.Err }),
		typed("denied_files", func(*runner.DeniedError) *error { return nil }),
		typed("wait", func(e *mcphost.WaitError) *error { return &e.Last }),
		typed("answer", func(*mcphost.Error) *error { return nil }),

		fixed("uv_missing", pyenv.ErrNoUV),
		fixed("packages_large", pyenv.ErrTooLarge),
		fixed("packages_download", pyenv.ErrLargeDownload),
		fixed("packages_slow", pyenv.ErrTooSlow),
		fixed("npm_large", nodeenv.ErrTooLarge),
		fixed("npm_download", nodeenv.ErrLargeDownload),
		fixed("never_passes", script.ErrNeverPasses),
		fixed("in_use", script.ErrInUse),
		fixed("no_layer", runner.ErrNoLayer),
		fixed("skill_closed", skill.ErrClosed),
		fixed("skill_no_folder", skill.ErrNoFolder),
		fixed("skill_changed", skill.ErrChanged),
		fixed("server_closed", mcphost.ErrClosed),
		fixed("locked", lockfile.ErrLocked),
		fixed("canceled", context.Canceled),
		fixed("deadline", context.DeadlineExceeded),
		fixed("not_exist", fs.ErrNotExist),
		fixed("permission", fs.ErrPermission),
	}
}

// fixed is the kind of one error that is always the same.
func fixed(name string, is error) kind {
	return kind{name: name, is: is,
		fields: func(err error) (json.RawMessage, bool) { return nil, err == is }, //nolint:errorlint // it is this one
		err:    func(json.RawMessage, []error) error { return is }}
}

// typed is the kind of errors of a type. inner returns the field that has what they wrap; nil, or a function that returns nil, for none.
func typed[E any, P interface {
	*E
	error
}](name string, inner func(P) *error) kind {
	return kind{name: name,
		fields: func(err error) (json.RawMessage, bool) {
			e, ok := err.(P) //nolint:errorlint // each error of the tree is looked at
			if !ok {
				return nil, false
			}
			one := *e
			if under := inner(&one); under != nil {
				*under = nil
			}
			b, err := json.Marshal(&one)
			return b, err == nil
		},
		err: func(of json.RawMessage, under []error) error {
			e := P(new(E))
			if json.Unmarshal(of, e) != nil {
				return nil
			}
			if to := inner(e); to != nil && len(under) > 0 {
				*to = under[0]
			}
			return e
		}}
}

// scripts is the kind of the failures of scripts. A want that is none is left out: the message names it.
func scripts() kind {
	k := typed("script", func(e *script.Error) *error { return &e.Err })
	all := k.fields
	k.fields = func(err error) (json.RawMessage, bool) {
		if e, ok := err.(*script.Error); ok { //nolint:errorlint // each error of the tree is looked at
			one := *e
			one.Wants, _ = e.Wants.Split(func(w want.Want) bool { return w.Check() == nil })
			err = &one
		}
		return all(err)
	}
	return k
}
