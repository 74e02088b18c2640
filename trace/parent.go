package trace

import (
	"context"
	"strings"
)

// parentKey is the key of a traceparent in a context.
type parentKey struct{}

// WithParent returns a copy of ctx in which steps belong to a span of this program or another one. The text is the header traceparent of
// W3C Trace Context; with another text, WithParent returns ctx. A Spanner sets it for each step that it follows.
func WithParent(ctx context.Context, traceparent string) context.Context {
	if !isParent(traceparent) {
		return ctx
	}
	return context.WithValue(ctx, parentKey{}, traceparent)
}

// ParentOf returns the span that steps belong to, to be given to other programs: a traceparent, or "".
func ParentOf(ctx context.Context) string {
	text, _ := ctx.Value(parentKey{}).(string)
	return text
}

// isParent reports whether a text is a traceparent of version 00: 00-<32 digits>-<16 digits>-<2 digits>.
func isParent(text string) bool {
	parts := strings.Split(text, "-")
	if len(parts) != 4 || parts[0] != "00" {
		return false
	}
	for i, n := range []int{2, 32, 16, 2} {
		if len(parts[i]) != n || strings.Trim(parts[i], "0123456789abcdef") != "" {
			return false
		}
	}
	return strings.Trim(parts[1], "0") != "" && strings.Trim(parts[2], "0") != ""
}
