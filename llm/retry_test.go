package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"
)

func failure(k ErrorKind, after time.Duration) []step {
	return []step{{err: &Error{Kind: k, Message: string(k), RetryAfter: after}}}
}

func TestRetry(t *testing.T) {
	good := []step{text("a"), end}
	busy := failure(Overloaded, 0)
	tests := []struct {
		name    string
		o       RetryOptions
		answers [][]step
		asked   int
		got     string // texts and the error
		waits   int
	}{
		{"at once", RetryOptions{}, [][]step{good}, 1, "a", 0},
		{"the third time", RetryOptions{}, [][]step{busy, failure(Cut, 0), good}, 3, "a", 2},
		{"four times", RetryOptions{}, [][]step{busy}, 4, "error: overloaded", 3},
		{"as often as asked", RetryOptions{Attempts: 2}, [][]step{busy}, 2, "error: overloaded", 1},
		{"never", RetryOptions{Attempts: 1}, [][]step{busy}, 1, "error: overloaded", 0},
		{"not for a bad key", RetryOptions{}, [][]step{failure(BadKey, 0), good}, 1, "error: bad_key", 0},
		{"not for an error of another kind", RetryOptions{}, [][]step{{{err: errors.New("odd")}}, good}, 1, "error: odd", 0},
		{"not after a word", RetryOptions{}, [][]step{append([]step{text("b")}, busy...), good}, 1, "berror: overloaded", 0},
		{"not after a call", RetryOptions{}, [][]step{append([]step{call}, busy...), good}, 1, "error: overloaded", 0},
		{"after a count", RetryOptions{}, [][]step{append([]step{few}, busy...), good}, 2, "a", 1},
		{"when it was asked for", RetryOptions{}, [][]step{failure(RateLimit, time.Second), good}, 2, "a", 1},
		{"not when it would take too long", RetryOptions{max: time.Second}, [][]step{failure(RateLimit, 2*time.Second), good}, 1, "error: rate_limit", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked, told, waits := 0, 0, 0
			tt.o.Sleep = func(context.Context, time.Duration) error { waits++; return nil }
			tt.o.Waiting = func(error, time.Duration, time.Duration) { told++ }
			var got strings.Builder
			for e, err := range Retry(scripted(&asked, tt.answers...), &tt.o).Stream(t.Context(), &Request{}) {
				got.WriteString(e.Text)
				if err != nil {
					fmt.Fprintf(&got, "error: %v", err)
				}
			}
			if asked != tt.asked || got.String() != tt.got || waits != tt.waits || told != waits {
				t.Errorf("asked %d times, waited %d times (told %d), got %q", asked, waits, told, got.String())
			}
		})
	}
}

// Waits double, within a half of chance, up to Max; what the provider asks for is kept to the letter.
func TestRetryWaits(t *testing.T) {
	tests := []struct {
		name  string
		o     RetryOptions
		after time.Duration
		upTo  []time.Duration
		exact bool
	}{
		{"defaults", RetryOptions{}, 0, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}, false},
		{"bounded", RetryOptions{Attempts: 5, max: time.Second}, 0, []time.Duration{500 * time.Millisecond, time.Second, time.Second, time.Second}, false},
		{"asked for", RetryOptions{Attempts: 3}, 7 * time.Second, []time.Duration{7 * time.Second, 7 * time.Second}, true},
		{"ages", RetryOptions{Attempts: 3, Base: 1 << 62, max: 1<<63 - 1}, 0, []time.Duration{1 << 62, 1<<63 - 1}, false},
		{"nonsense", RetryOptions{Attempts: 3, Base: -1}, 0, []time.Duration{0, 0}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var waits []time.Duration
			tt.o.Sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
			asked := 0
			for range Retry(scripted(&asked, failure(RateLimit, tt.after)), &tt.o).Stream(t.Context(), &Request{}) {
			}
			if len(waits) != len(tt.upTo) {
				t.Fatalf("waits %v, want up to %v", waits, tt.upTo)
			}
			for i, d := range waits {
				if d > tt.upTo[i] || d < tt.upTo[i]/2 || tt.exact && d != tt.upTo[i] {
					t.Errorf("wait %d: %s, want up to %s", i, d, tt.upTo[i])
				}
			}
		})
	}
}

// With a time there are as many attempts as fit in it, and the last wait ends with it.
func TestRetryTime(t *testing.T) {
	tests := []struct {
		name  string
		o     RetryOptions
		takes time.Duration // each attempt
		after time.Duration
		asked int
		took  time.Duration // from the first failure to the last
	}{
		{"a minute", RetryOptions{Time: time.Minute}, 0, 0, 0, time.Minute},
		{"with a limit on attempts", RetryOptions{Time: time.Hour, Attempts: 2}, 0, time.Second, 2, time.Second},
		{"slow attempts", RetryOptions{Time: time.Minute, Base: -1}, time.Minute, 0, 2, 0},
		{"asked for", RetryOptions{Time: time.Minute}, 0, 30 * time.Second, 3, time.Minute},
		{"asked for too long", RetryOptions{Time: time.Minute}, 0, 61 * time.Second, 1, 0},
		{"asked for more than is left", RetryOptions{Time: time.Minute}, 0, 40 * time.Second, 2, 40 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Unix(0, 0)
			var first, last time.Time
			asked := 0
			tt.o.Now = func() time.Time { return now }
			tt.o.Sleep = func(_ context.Context, d time.Duration) error { now = now.Add(d); return nil }
			tt.o.Waiting = func(_ error, wait, left time.Duration) {
				if tt.o.Time > 0 && now.Add(wait+left).After(first.Add(tt.o.Time)) {
					t.Errorf("at %s: a wait of %s, and %s left", now.Sub(first), wait, left)
				}
			}
			m := scripted(&asked, failure(Network, tt.after))
			slow := ModelFunc(func(ctx context.Context, q *Request) iter.Seq2[Event, error] {
				now = now.Add(tt.takes)
				if asked == 0 {
					first = now
				}
				last = now
				return m.Stream(ctx, q)
			})
			_, err := Collect(t.Context(), Retry(slow, &tt.o), &Request{}, nil)
			if err == nil || err.Error() != "network" || tt.asked > 0 && asked != tt.asked || asked > 12 {
				t.Errorf("%d requests, %v", asked, err)
			}
			if got := last.Sub(first) - time.Duration(min(asked-1, 1))*tt.takes; got != tt.took {
				t.Errorf("asked for %s after the first failure, want %s", got, tt.took)
			}
		})
	}
}

// A wait that is ended ends the stream with its error, whatever ended it.
func TestRetryInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	own := errors.New("enough")
	tests := []struct {
		name  string
		ctx   context.Context
		sleep func(context.Context, time.Duration) error
		want  error
	}{
		{"by the context", ctx, nil, context.Canceled},
		{"by the sleeper", t.Context(), func(context.Context, time.Duration) error { return own }, own},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			o := &RetryOptions{Base: time.Hour, max: time.Hour, Sleep: tt.sleep, Waiting: func(error, time.Duration, time.Duration) { cancel() }}
			_, err := Collect(tt.ctx, Retry(scripted(&asked, failure(Overloaded, 0)), o), &Request{}, nil)
			if err != tt.want || asked != 1 {
				t.Errorf("got %v after %d requests, want %v", err, asked, tt.want)
			}
		})
	}
}

// Whoever has heard enough is not asked again, nor is the model.
func TestRetryBrokenOff(t *testing.T) {
	asked := 0
	for range Retry(scripted(&asked, []step{text("a"), text("b"), {err: &Error{Kind: Cut}}}), nil).Stream(t.Context(), &Request{}) {
		break
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}
