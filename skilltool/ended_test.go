package skilltool

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// opened is a file system that does something for each file that is opened.
type opened struct {
	fs.FS
	do func(name string)
}

func (o opened) Open(name string) (fs.File, error) {
	o.do(name)
	return o.FS.Open(name)
}

// kitOver is a kit with the skill "a" of 40 files, and "scout" for sub-agents.
func kitOver(t *testing.T, do func(name string)) *Kit {
	t.Helper()
	files := fstest.MapFS{
		"a/SKILL.md":     {Data: []byte(skillText("a", "triggers: {keywords: [apples]}\n", "Body"))},
		"scout/SKILL.md": {Data: []byte(skillText("scout", "context: fork\n", "Look."))},
		"scout/more.md":  {Data: []byte("more")},
	}
	for i := range 40 {
		files[fmt.Sprintf("a/f%02d.md", i)] = &fstest.MapFile{Data: []byte("x")}
	}
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "test", Source: skill.FS(opened{files, do}, nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	return New(&Options{Catalog: func() *skill.Catalog { return c }, Session: session.New(nil), Forks: true})
}

// If ctx is done, no tool does anything, with or without an executor, and no skill becomes active.
func TestEndedContext(t *testing.T) {
	k, _ := kit(t, kitOptions{trust: skill.TrustBundled, change: func(o *Options) { o.Forks = true }})
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	args := map[string]string{
		"skill": `{"skill_name":"bound"}`, "skill_read": `{"skill_name":"bound","path":"SKILL.md"}`, "script_list": `{}`,
		"script_help": `{"skill_name":"kalshi-markets","script_name":"status"}`, "script_run": `{"skill_name":"kalshi-markets","script_name":"status"}`,
	}
	for _, one := range k.Tools() {
		if r := one.Call(dead, json.RawMessage(args[one.Name])); r.Success || r.Error != tool.Timeout || !strings.Contains(r.Message, "context canceled") {
			t.Errorf("%s: %s", one.Name, r.Encode())
		}
	}
	if r, turn := k.Invoke(dead, "bound", ""); r.Success || r.Error != tool.Timeout || turn != "" {
		t.Errorf("invoke: %s, %q", r.Encode(), turn)
	}
	if sub, err := k.Sub(dead, tool.Fork{Skill: "bound"}); err == nil || sub != nil {
		t.Errorf("sub: %v, %v", sub, err)
	}
	if n := len(k.o.Session.Active()); n != 0 {
		t.Errorf("%d skills are active", n)
	}
}

// A context that ends while a skill is read activates nothing, and the rest of the files is not read.
func TestContextEndsDuringActivation(t *testing.T) {
	for name, activate := range map[string]func(context.Context, *Kit) string{
		"tool": func(ctx context.Context, k *Kit) string {
			return string(k.Tools()[0].Call(ctx, json.RawMessage(`{"skill_name":"a"}`)).Encode())
		},
		"invoke": func(ctx context.Context, k *Kit) string {
			r, turn := k.Invoke(ctx, "a", "")
			return string(r.Encode()) + turn
		},
		"sub": func(ctx context.Context, k *Kit) string {
			sub, err := k.Sub(ctx, tool.Fork{Skill: "a"})
			return fmt.Sprint(sub != nil, err)
		},
		"fork": func(ctx context.Context, k *Kit) string {
			return string(k.Tools()[0].Call(ctx, json.RawMessage(`{"skill_name":"scout"}`)).Encode())
		},
		"turn": func(ctx context.Context, k *Kit) string {
			p, err := disclose.NewPlan(t.Context(), k.o.Catalog(), &disclose.PlanOptions{Mode: disclose.ByTriggers})
			if err != nil {
				return err.Error()
			}
			c, err := k.Turn(ctx, p, "apples")
			return fmt.Sprint(c.Text.Body, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			after := 0
			k := kitOver(t, func(name string) {
				switch {
				case ctx.Err() != nil:
					after++
				case strings.HasSuffix(name, "f03.md"), strings.HasSuffix(name, "more.md"):
					cancel()
				}
			})
			if got := activate(ctx, k); strings.Contains(got, `"success":true`) || !strings.Contains(got, "context canceled") || len(k.o.Session.Active()) != 0 {
				t.Errorf("%s\nactive: %v", got, k.o.Session.Recent())
			}
			if after > 8 {
				t.Errorf("%d more files were opened", after)
			}
		})
	}
}

// R92: an activation has 30 seconds, all of its steps together; a caller's own deadline is not called that.
func TestActivationTimeout(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit time.Duration // of the caller; 0: none
		least time.Duration
		want  string
	}{
		{"ours", 0, activationTimeout, "Failed to load skill: timed out after 30s"},
		{"the caller's", 10 * time.Second, 10 * time.Second, "Failed to load skill: context deadline exceeded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow := false
				k := kitOver(t, func(string) {
					if slow {
						time.Sleep(2 * time.Second)
					}
				})
				ctx := t.Context()
				if tt.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.limit)
					defer cancel()
				}
				call := k.Tools()[0].Call
				slow = true
				start := time.Now()
				r := call(ctx, json.RawMessage(`{"skill_name":"a"}`))
				if took := time.Since(start); took < tt.least || took > tt.least+10*time.Second {
					t.Errorf("took %v", took)
				}
				if r.Success || r.Error != tool.Timeout || r.Message != tt.want || len(k.o.Session.Active()) != 0 {
					t.Errorf("%s, active %v", r.Encode(), k.o.Session.Recent())
				}
			})
		})
	}
}

// A skill that takes too long for a turn is left out with that reason, and a sub-agent for it does not begin.
func TestActivationTimeoutElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := false
		k := kitOver(t, func(string) {
			if slow {
				time.Sleep(2 * time.Second)
			}
		})
		p, err := disclose.NewPlan(t.Context(), k.o.Catalog(), &disclose.PlanOptions{Mode: disclose.ByTriggers})
		if err != nil {
			t.Fatal(err)
		}
		slow = true
		c, err := k.Turn(t.Context(), p, "apples")
		if got := fmt.Sprint(c.Text.Warnings); err != nil || !strings.Contains(got, `skill "a" is left out: timed out after 30s`) || len(k.o.Session.Active()) != 0 {
			t.Errorf("turn: %s, %v, active %v", got, err, k.o.Session.Recent())
		}
		if sub, err := k.Sub(t.Context(), tool.Fork{Skill: "a"}); sub != nil || fmt.Sprint(err) != "timed out after 30s" {
			t.Errorf("sub: %v, %v", sub, err)
		}
		if r, turn := k.Invoke(t.Context(), "a", ""); r.Error != tool.Timeout || r.Message != "Failed to load skill: timed out after 30s" || turn != "" {
			t.Errorf("invoke: %s, %q", r.Encode(), turn)
		}
	})
}
