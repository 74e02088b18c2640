package skilltool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agent-base/agent-base/tool"
)

// activationTimeout bounds one activation, from finding the skill to its place on the stack. A source that ignores
// its context is waited for, but what it returns after that time is not activated.
const activationTimeout = 30 * time.Second

// errActivationTime is the cause of a context that ended because activationTimeout was over, not the turn.
var errActivationTime = fmt.Errorf("timed out after %s", activationTimeout)

// timed returns the context of one activation.
func timed(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, activationTimeout, errActivationTime)
}

// cause returns what ended an activation that failed with err: its time, its context, or err itself.
func cause(ctx context.Context, err error) error {
	switch {
	case context.Cause(ctx) == errActivationTime:
		return errActivationTime
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}

// ended reports whether the cause of err is a context that is done.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errActivationTime)
}

// failureCause returns the cause of a failure because of err.
func failureCause(err error) tool.Cause {
	if ended(err) {
		return tool.CauseTimeout
	}
	return tool.CauseIO
}

// tooLate returns the result of a call whose context was done before.
func tooLate(err error) tool.Result {
	return tool.CauseTimeout.Failure(fmt.Sprintf("The turn was ended before this call: %v", err))
}
