package fetch

import (
	"context"
	"time"
)

// Hurried returns o, which no longer waits between attempts.
func Hurried(o *GitOptions) *GitOptions {
	o.sleep = func(context.Context, time.Duration) error { return nil }
	return o
}
