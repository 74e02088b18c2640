package policy_test

import (
	"errors"
	"testing"
	"time"

	"github.com/agent-base/agent-base/policy"
)

// A document that is changed, comes or goes while a program runs allows nothing any more.
func TestWatch(t *testing.T) {
	parse := func(text string) *policy.Document {
		d, _ := policy.Parse([]byte(text), "policy.yaml")
		return d
	}
	broken := policy.Closed("policy.yaml", errors.New("it belongs to another"))
	for name, tt := range map[string]struct {
		first, then *policy.Document
		changed     bool
	}{
		"none":              {nil, nil, false},
		"same":              {parse("mode: ask"), parse("mode: ask"), false},
		"changed":           {parse("mode: ask"), parse("mode: all"), true},
		"a comment":         {parse("mode: ask"), parse("mode: ask # yes"), true},
		"new":               {nil, parse("mode: ask"), true},
		"removed":           {parse("mode: ask"), nil, true},
		"broken":            {parse("mode: ask"), parse("mode: ["), true},
		"broken all along":  {parse("mode: ["), parse("mode: ["), false},
		"cannot be read":    {parse("mode: ask"), broken, true},
		"could not be read": {broken, policy.Closed("policy.yaml", errors.New("it belongs to another")), false},
	} {
		t.Run(name, func(t *testing.T) {
			at, read := time.Unix(0, 0), tt.first
			p := &policy.Policy{Changed: policy.Watch(tt.first, func() *policy.Document { return read }, func() time.Time { return at })}
			if tt.first != nil {
				p.Organisation = []*policy.Document{tt.first}
			}
			before := p.Err()
			read = tt.then
			if now := p.Err(); (before == nil) != (now == nil) {
				t.Errorf("in the first second: %v, then %v", before, now)
			}
			at = at.Add(time.Second)
			if changed := errors.Is(p.Err(), policy.ErrChanged); changed != tt.changed {
				t.Errorf("changed %t, want %t: %v", changed, tt.changed, p.Err())
			}
			if d := p.Host("x.example"); (d.Level == policy.Never) != (tt.changed || before != nil) {
				t.Errorf("a host: %+v", d)
			}
			read, at = tt.first, at.Add(time.Hour) // what was decided meanwhile stays decided
			if changed := errors.Is(p.Err(), policy.ErrChanged); changed != tt.changed {
				t.Errorf("after it was put back: %v", p.Err())
			}
		})
	}
}
