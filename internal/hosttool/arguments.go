package hosttool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/agent-base/agent-base/tool"
)

// refusal is an error that chooses the result's code and reason.
type refusal struct {
	code   tool.Code
	reason string
	text   string
}

func (r *refusal) Error() string { return r.text }

// denied is the refusal of something that is not allowed.
func denied(reason, format string, args ...any) error {
	return &refusal{tool.PermissionDenied, reason, fmt.Sprintf(format, args...)}
}

// unusable is the refusal of a call that does not fit the tool's schema.
func unusable(format string, args ...any) error {
	return &refusal{tool.ExecutionFailed, tool.ReasonArguments, fmt.Sprintf(format, args...)}
}

// failed is the refusal of something that cannot be done.
func failed(reason, format string, args ...any) error {
	return &refusal{tool.ExecutionFailed, reason, fmt.Sprintf(format, args...)}
}

// failure returns the result for an error about the file that a model named.
func failure(name string, err error) tool.Result {
	var r *refusal
	switch {
	case errors.As(err, &r):
		return tool.Result{Error: r.code, Reason: r.reason, Message: r.text}
	case errors.Is(err, fs.ErrNotExist):
		return tool.CauseNotFound.Failure(fmt.Sprintf("'%s' not found; glob lists what is there", name))
	case errors.Is(err, fs.ErrPermission):
		return tool.CauseSecurity.Failure(fmt.Sprintf("'%s': permission denied by the system", name))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return tool.CauseTimeout.Failure(fmt.Sprintf("'%s': stopped before it was done", name))
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return tool.CauseIO.Failure(fmt.Sprintf("'%s': %v", name, err))
}

// call makes a tool's function of run: if ctx is done it calls nothing, it reads the arguments into an A with
// [tool.Arguments], and it turns an error into a result.
func call[A any](run func(context.Context, *A) (tool.Result, string, error)) func(context.Context, json.RawMessage) tool.Result {
	return func(ctx context.Context, raw json.RawMessage) tool.Result {
		if err := ctx.Err(); err != nil {
			return tool.Interrupted(ctx).Failure(fmt.Sprintf("The turn was ended before this call: %v", err))
		}
		a := new(A)
		if err := tool.Arguments(raw, a); err != nil {
			return failure("", unusable("arguments do not fit the tool's schema: %v", err))
		}
		r, about, err := run(ctx, a)
		if err != nil {
			return failure(about, err)
		}
		return r
	}
}
