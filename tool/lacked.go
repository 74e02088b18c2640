package tool

import (
	"cmp"
	"context"

	"github.com/agent-base/agent-base/want"
)

// lacking is the error of a call that lacked something.
type lacking interface{ Lacks() want.Set }

// Lacked returns what a call lacked that failed with err: what the errors that err is, wraps or joins have as their Lacks.
func Lacked(err error) want.Set {
	var out want.Set
	if e, ok := err.(lacking); ok { //nolint:errorlint // each error of the tree is looked at
		out = e.Lacks()
	}
	switch e := err.(type) { //nolint:errorlint // likewise
	case interface{ Unwrap() error }:
		return out.Add(Lacked(e.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			out = out.Add(Lacked(one)...)
		}
	}
	return out
}

// NotifyLacked tells the watch of ctx what a call lacked that failed with err: an event for each want. advise returns what helps, as
// sentences, or ""; it gets an error for one want alone.
func NotifyLacked(ctx context.Context, err error, advise func(error) string) {
	if !Watched(ctx) {
		return
	}
	for _, w := range Lacked(err) {
		e := lack{w}
		text := e.Error()
		if more := advise(e); more != "" {
			text += ". " + more
		}
		Notify(ctx, Event{Kind: EventNeeds, Need: w, Text: text})
	}
}

// lack is the error of a call that lacked one want.
type lack struct{ w want.Want }

func (l lack) Lacks() want.Set { return want.New(l.w) }

func (l lack) Error() string {
	name := cmp.Or(l.w.Name, string(l.w.Kind))
	if l.w.From == want.Refused {
		return name + " was refused"
	}
	return name + " is lacking"
}
