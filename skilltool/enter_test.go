package skilltool

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// doors are the ways by which the skill x becomes active. Each returns the session that it is about, nil if there is none,
// and what went wrong.
var doors = map[string]func(context.Context, *Kit) (*session.Session, string){
	"tool": func(ctx context.Context, k *Kit) (*session.Session, string) {
		r := k.Activate(ctx, "x", "")
		return k.o.Session, failureText(r)
	},
	"user": func(ctx context.Context, k *Kit) (*session.Session, string) {
		r, _ := k.Invoke(ctx, "x", "")
		return k.o.Session, failureText(r)
	},
	"prompt": func(ctx context.Context, k *Kit) (*session.Session, string) {
		p, err := disclose.NewPlan(context.WithoutCancel(ctx), k.o.Catalog(), &disclose.PlanOptions{Mode: disclose.ByTriggers})
		if err != nil {
			return k.o.Session, err.Error()
		}
		c, err := k.Turn(ctx, p, "apples")
		if err != nil {
			return k.o.Session, err.Error()
		}
		return k.o.Session, strings.Join(c.Text.Warnings, "\n")
	},
	"sub-agent": func(ctx context.Context, k *Kit) (*session.Session, string) {
		sub, err := k.Sub(ctx, tool.Fork{Skill: "x"})
		if err != nil {
			return nil, err.Error()
		}
		return sub.o.Session, ""
	},
}

func failureText(r tool.Result) string {
	if r.Success {
		return ""
	}
	return r.Message
}

// An activation that fails leaves nothing behind, whichever step failed and whichever way it came: no skill on the stack, no
// event of an activation for the audit log, the catalogue as it was, and a later activation is a first one. R127: the hook pre is asked
// last, so it runs only for a skill that it alone can refuse.
func TestNoHalfActivation(t *testing.T) {
	for _, step := range []struct {
		name, want string
		needs      string // of the skills below
		fail       func(f *failing) (repair func())
	}{
		{"open", "SKILL.md", "", func(f *failing) func() {
			f.rename(f.dir, f.dir+".gone")
			return func() { f.rename(f.dir+".gone", f.dir) }
		}},
		{"check", "has changed since it was installed", "", func(f *failing) func() {
			f.write("more.md", "more")
			return func() { f.remove("more.md") }
		}},
		{"text", "context canceled", "", func(f *failing) func() {
			f.opening = f.cancel
			return func() { f.opening = func() {} }
		}},
		{"pre", "its hook refused: not today", "", func(f *failing) func() {
			f.hook = func() (int, string) { return 2, "not today" }
			return func() { f.hook = nil }
		}},
		{"stack, at its end", "context canceled", "", func(f *failing) func() {
			f.hook = func() (int, string) { f.cancel(); return 0, "" }
			return func() { f.hook = nil }
		}},
		{"stack, when it is full", "8 skills are active (max 8)", "tool user prompt", func(f *failing) func() {
			for i := range session.MaxActive {
				if r := f.kit.Activate(f.t.Context(), fmt.Sprintf("other%d", i), ""); !r.Success {
					f.t.Fatal(r.Message)
				}
			}
			return func() { f.kit.o.Session.End(f.t.Context()) }
		}},
		{"strict", "Skill 'x' is already active", "tool user", func(f *failing) func() {
			f.kit.o.StrictStack = true
			if r := f.kit.Activate(f.t.Context(), "x", ""); !r.Success {
				f.t.Fatal(r.Message)
			}
			return func() { f.kit.End(f.t.Context()) }
		}},
	} {
		for door, through := range doors {
			if step.needs != "" && !strings.Contains(step.needs, door) {
				continue
			}
			t.Run(step.name+"/"+door, func(t *testing.T) {
				f := newFailing(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				f.cancel = cancel
				repair := step.fail(f)
				before, catalogue := f.seen(), f.kit.o.Catalog()
				f.asked = 0
				s, fault := through(ctx, f.kit)
				if runs := strings.HasPrefix(step.name, "pre") || step.name == "stack, at its end"; (f.asked == 1) != runs || f.asked > 1 {
					t.Errorf("the hook pre ran %d times", f.asked)
				}
				if !strings.Contains(fault, step.want) {
					t.Errorf("it failed with %q, want %q", fault, step.want)
				}
				if after := f.seen(); after != before || s != nil && s != f.kit.o.Session {
					t.Errorf("left behind:\n%s\nbefore it was\n%s", after, before)
				}
				e, err := f.kit.o.Catalog().Lookup("x")
				if err != nil || e.State() != skill.StateEnabled || f.kit.o.Catalog() != catalogue {
					t.Errorf("the catalogue has become another: %v, %v", e.State(), err)
				}
				repair()
				f.kit.o.StrictStack, f.events = false, nil
				s, fault = through(t.Context(), f.kit)
				if fault != "" || s == nil || fmt.Sprint(s.Recent()) != "[x]" || f.activated() != "Activated skill 'x'" {
					t.Errorf("afterwards: %q, %s", fault, f.activated())
				}
			})
		}
	}
}

// If a turn ends after it activated a skill, the model was not told of it: the skill is left. One that was active before stays, and is told
// in full the next time.
func TestTurnTakesBack(t *testing.T) {
	f := newFailing(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.onStart = cancel
	_, fault := doors["prompt"](ctx, f.kit)
	if fault != "context canceled" || len(f.kit.o.Session.Active()) != 0 || f.activated() != "Activated skill 'x'" {
		t.Errorf("%q, active %v, %s", fault, f.kit.o.Session.Recent(), f.activated())
	}
	f.onStart = nil
	if _, fault := doors["prompt"](t.Context(), f.kit); fault != "" || len(f.kit.o.Session.Active()) != 1 {
		t.Errorf("the next turn: %q, active %v", fault, f.kit.o.Session.Recent())
	}
	in := entered{token: f.kit.o.Session.Active()[0].Token, was: true}
	f.kit.takeBack(t.Context(), []entered{in})
	p, err := disclose.NewPlan(t.Context(), f.kit.o.Catalog(), &disclose.PlanOptions{Mode: disclose.ByTriggers})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Body", "[The skill 'x' is active"} {
		if c, err := f.kit.Turn(t.Context(), p, "apples"); err != nil || !strings.Contains(c.Text.Body, want) {
			t.Errorf("after a renewal that was not told: %v, %q, want %q", err, c.Text.Body, want)
		}
	}
}

// failing is a kit whose skill x can be made to fail at each step of its activation.
type failing struct {
	t       *testing.T
	kit     *Kit
	dir     string               // of x
	cancel  func()               // ends the context of the activation
	opening func()               // is called when a file of x is opened
	hook    func() (int, string) // answers for the hook pre: exit code and what it writes
	onStart func()               // is called for the hook SessionStart
	events  []trace.Event
	asked   int // how often the hook pre ran
}

func newFailing(t *testing.T) *failing {
	t.Helper()
	files := tree{"x/SKILL.md": skillText("x", "triggers: {keywords: [apples]}\nhooks:\n  pre: hooks/pre.sh\n  SessionStart: [{hooks: [{type: command, command: 'true begun'}]}]\n", "Body"),
		"x/hooks/pre.sh": "#!/bin/sh\n"}
	for i := range session.MaxActive {
		files[fmt.Sprintf("other%d/SKILL.md", i)] = skillText(fmt.Sprintf("other%d", i), "", "Body")
	}
	root := files.write(t)
	f := &failing{t: t, dir: filepath.Join(root, "x"), opening: func() {}}
	tracer := trace.TracerFunc(func(_ context.Context, e trace.Event) { f.events = append(f.events, e) })
	installed := digestOf(t, root, "x")
	source := skill.SourceFunc(func(ctx context.Context) iter.Seq2[skill.Found, error] {
		return func(yield func(skill.Found, error) bool) {
			for found, err := range skill.Dir(root, nil).Skills(ctx) {
				if found.Path == "x" {
					found.Digest = installed
				}
				open := found.Open
				found.Open = func(ctx context.Context) (skill.Tree, error) { f.opening(); return open(ctx) }
				if !yield(found, err) {
					return
				}
			}
		}
	})
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "test", Source: source}}})
	if err != nil {
		t.Fatal(err)
	}
	f.kit = New(&Options{Catalog: func() *skill.Catalog { return c }, Session: session.New(&session.Options{Trace: tracer}), Trace: tracer, Hooks: true,
		Policy:  Policy{Approve: func(context.Context, *skill.Skill) (bool, error) { return true, nil }},
		Scripts: host(t, func(o *script.Options) { o.Runner = runner.RunnerFunc(f.run) })})
	return f
}

// run answers for the hooks of x.
func (f *failing) run(ctx context.Context, c *runner.Command) (*runner.Output, error) {
	words := strings.Join(c.Args, " ")
	if strings.Contains(words, "pre.sh") {
		f.asked++
	}
	switch {
	case strings.Contains(words, "begun") && f.onStart != nil:
		f.onStart()
	case strings.Contains(words, "pre.sh") && f.hook != nil:
		code, text := f.hook()
		return &runner.Output{ExitCode: code, Stderr: []byte(text)}, nil
	}
	return &runner.Output{}, ctx.Err()
}

// seen is what an activation changes: the stack, what it allows, and the events of activations.
func (f *failing) seen() string {
	b, err := json.Marshal(f.kit.o.Session.State())
	if err != nil {
		f.t.Fatal(err)
	}
	return fmt.Sprint(string(b), f.kit.o.Session.Restriction().Skills(), f.activated(), len(f.kit.called))
}

// activated returns the messages of the events of activations.
func (f *failing) activated() string {
	var out []string
	for _, e := range f.events {
		if e.Kind == trace.SkillActivated {
			out = append(out, e.Message)
		}
	}
	return strings.Join(out, ", ")
}

func (f *failing) rename(from, to string) { f.must(os.Rename(from, to)) }
func (f *failing) write(name, text string) {
	f.must(os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o644))
}
func (f *failing) remove(name string) { f.must(os.Remove(filepath.Join(f.dir, name))) }

func (f *failing) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// loaded returns a skill of a catalogue, which the test closes at its end.
func loaded(t *testing.T, c *skill.Catalog, name string) *skill.Skill {
	t.Helper()
	e, err := c.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// digestOf returns the digest of a skill below root.
func digestOf(t *testing.T, root, name string) string {
	t.Helper()
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "test", Source: skill.Dir(root, nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := loaded(t, c, name).Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}
