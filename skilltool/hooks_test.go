package skilltool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// hooked returns the files of a skill with hooks, as front matter, and the scripts guard.sh, which refuses what has "secret"
// in it, and log.sh, which appends its input to $AGENT_SKILL_CACHE_DIR/log.
func hooked(hooks string) tree {
	return tree{
		"x/SKILL.md":         skillText("x", hooks, "Body"),
		"x/scripts/guard.sh": "#!/bin/sh\nif grep -q secret; then echo 'no secrets, please' >&2; exit 2; fi\n",
		"x/scripts/log.sh":   "#!/bin/sh\ncat >>\"$AGENT_SKILL_CACHE_DIR/log\"\necho >>\"$AGENT_SKILL_CACHE_DIR/log\"\n",
		"x/hooks/pre.sh":     "#!/bin/sh\ntest ! -e \"$AGENT_SKILL_CACHE_DIR/closed\" || { echo closed; exit 1; }\n",
		"x/hooks/post.sh":    "#!/bin/sh\ncat >\"$AGENT_SKILL_CACHE_DIR/left\"\n",
	}
}

func preToolUse(matcher, command string) string {
	return "hooks:\n  PreToolUse:\n    - matcher: " + matcher + "\n      hooks:\n        - type: command\n          command: " + command + "\n"
}

// runHooked activates the skill x of some files and returns the kit, the executor, and the folder of the host's cache.
func runHooked(t *testing.T, files tree, change func(*Options)) (*Kit, *tool.Executor, string) {
	t.Helper()
	cache := ""
	k, e := checked(t, files, session.Options{}, func(o *Options) {
		o.Scripts = host(t, func(so *script.Options) { cache = so.Cache })
		o.Hooks = true
		if change != nil {
			change(o)
		}
	})
	e.After = k.After
	if r := k.Activate(t.Context(), "x", ""); !r.Success {
		t.Fatal(r.Message)
	}
	return k, e, cache
}

// kept returns what a hook of x left in a file of its cache.
func kept(t *testing.T, cache, name string) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(cache, "skill-cache", "*", name))
	if len(found) != 1 {
		return ""
	}
	b, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// R127: a guard of an active skill sees each call that its matcher names, in the form of Claude Code, and can refuse it.
func TestGuard(t *testing.T) {
	_, refuser, _ := runHooked(t, hooked(preToolUse("Bash|Write", `"${CLAUDE_SKILL_DIR}/SKILL.md"`)), nil)
	// a file that cannot be started denies: bash says so
	if r := refuser.Call(t.Context(), "bash", json.RawMessage(`{"command":"ls"}`)); r.Success || !strings.Contains(r.Message, "ermission denied") {
		t.Errorf("got %+v", r)
	}
	var refused []string
	k, e, _ := runHooked(t, hooked(preToolUse("Bash|Write", `bash "${CLAUDE_PLUGIN_ROOT}"/scripts/guard.sh`)), func(o *Options) {
		o.Trace = trace.TracerFunc(func(_ context.Context, e trace.Event) {
			if e.Kind == trace.RestrictionViolated {
				refused = append(refused, e.Skill+": "+e.Err.Error())
			}
		})
	})
	for _, tt := range []struct {
		tool, args string
		want       bool
	}{
		{"bash", `{"command":"ls"}`, true},
		{"bash", `{"command":"cat secret"}`, false},
		{"write_file", `{"file_path":"secret"}`, false},
		{"read_file", `{"file_path":"secret"}`, true},
		{"skill", `{"action":"search","skill_name":"secret"}`, true}, // what is always allowed is not a hook's business
	} {
		r := e.Call(t.Context(), tt.tool, json.RawMessage(tt.args))
		if no := r.Reason == reasonHook; no == tt.want {
			t.Errorf("%s %s: %+v", tt.tool, tt.args, r)
		}
		if want := "Tool '" + tt.tool + "' not allowed by a hook of skill 'x': no secrets, please"; !tt.want && r.Message != want {
			t.Errorf("got %q, want %q", r.Message, want)
		}
	}
	want := []string{"x: Tool 'bash' not allowed by a hook of skill 'x'", "x: Tool 'write_file' not allowed by a hook of skill 'x'"}
	if !slices.Equal(refused, want) { // R127: an audit log has each refusal, without what the hook wrote
		t.Errorf("traced %q, want %q", refused, want)
	}
	k.End(t.Context())
	if r := e.Call(t.Context(), "bash", json.RawMessage(`{"command":"cat secret"}`)); !r.Success {
		t.Errorf("a hook runs for a skill that is not active: %s", r.Message)
	}
}

// A guard that cannot run, fails, panics or takes too long denies: security 2.12 #176.
func TestGuardFails(t *testing.T) {
	slow := "hooks: {PreToolUse: [{matcher: '*', hooks: [{type: command, command: sleep 60, timeout: 0.2}]}]}\n"
	for _, tt := range []struct {
		name, hooks, want string
		change            func(*Options)
	}{
		{"it is slow", slow, "timed out after 0.2s", nil},
		{"it is no program", preToolUse("'*'", "no-such-program-anywhere"), "not found", nil},
		{"its answer is broken", preToolUse("'*'", `echo '{'`), "its answer is not a JSON document", nil},
		{"its answer is long", preToolUse("'*'", `head -c 70000 /dev/zero | tr '\0' ' '; echo '{"decision":"block"}'`), "its answer is too long", nil},
		{"it writes without end", preToolUse("'*'", `head -c 20000000 /dev/zero`), "its answer is too long", nil},
		{"its pattern is broken", preToolUse("'['", "exit 1"), "not allowed by a hook", nil},
		{"the runner panics", preToolUse("'*'", "true"), "internal error", func(o *Options) {
			o.Scripts = host(t, func(so *script.Options) {
				so.Runner = runner.RunnerFunc(func(context.Context, *runner.Command) (*runner.Output, error) { panic("x") })
			})
		}},
		{"no scripts run", preToolUse("'*'", "true"), "Scripts are not run here", func(o *Options) { o.Scripts = nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, e, _ := runHooked(t, hooked(tt.hooks), tt.change)
			begun := time.Now()
			r := e.Call(t.Context(), "bash", json.RawMessage(`{}`))
			if r.Error != tool.PermissionDenied || r.Reason != reasonHook || !strings.Contains(r.Message, tt.want) {
				t.Errorf("got %+v", r)
			}
			if time.Since(begun) > 50*time.Second {
				t.Error("it was waited for")
			}
		})
	}
}

// C57: the hooks of content that is not approved do not run, so a guard denies and says why.
func TestGuardOfUntrusted(t *testing.T) {
	k, _ := kit(t, kitOptions{files: hooked(preToolUse("'*'", "true")), trust: skill.TrustNone, change: func(o *Options) { o.Hooks = true }})
	if r := k.Activate(t.Context(), "x", ""); !r.Success {
		t.Fatal(r.Message)
	}
	if err := k.Check(t.Context(), "bash", json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "Skill 'x' is not trusted") {
		t.Errorf("got %v", err)
	}
	k.o.Hooks = false
	if err := k.Check(t.Context(), "bash", json.RawMessage(`{}`)); err != nil {
		t.Errorf("hooks are off: %v", err)
	}
}

// R127: pre and post run around a skill, pre can refuse it, and the events of a conversation reach their hooks. A hook that
// cannot refuse does not keep those after it from running.
func TestMoments(t *testing.T) {
	hooks := `hooks:
  pre: hooks/pre.sh
  post: hooks/post.sh
  SessionStart: [{hooks: [{type: command, command: echo ready}, {type: command, command: exit 3}, {type: command, command: echo now}]}]
  PostToolUse: [{matcher: Bash, hooks: [{command: bash "$CLAUDE_SKILL_DIR/scripts/log.sh"}, {command: echo seen >&2; exit 2}, {command: 'echo broken >&2; exit 1'}, {command: "echo '{\"hookSpecificOutput\":{\"additionalContext\":\"more\"}}'"}]}]
  PreToolUse: [{hooks: [{command: 'cd "$AGENT_SKILL_CACHE_DIR" && echo x >> asked && [ $(wc -l < asked) -gt 2 ]', once: true}]}]
  Stop: [{hooks: [{command: cp /dev/stdin "$AGENT_SKILL_CACHE_DIR/stopped"}]}]
`
	k, e, cache := runHooked(t, hooked(hooks), nil)
	for range 2 {
		if r := e.Call(t.Context(), "bash", json.RawMessage(`{"n":0}`)); r.Success {
			t.Error("the guard did not run, or not again after its no")
		}
	}
	r := e.Call(t.Context(), "bash", json.RawMessage(`{"n":1}`))
	if !r.Success || r.Message != "done\nA hook of skill 'x' says: seen\nbroken\nmore" {
		t.Errorf("after the guard that runs once: %+v", r)
	}
	if e.Call(t.Context(), "bash", json.RawMessage(`{"n":1}`)); kept(t, cache, "asked") != "x\nx\nx" && kept(t, cache, "asked") != "x\nx\nx\n" {
		t.Errorf("the guard ran %q times", kept(t, cache, "asked"))
	}
	if got, want := kept(t, cache, "log"), `"tool_name":"Bash","agent_tool":"bash","tool_input":{"n":1},"tool_response":{"success":true`; !strings.Contains(got, want) {
		t.Errorf("the hook got %s", got)
	}
	if more, failures := k.Stopped(t.Context(), 0); more != "" || len(failures) > 0 {
		t.Errorf("got %q, %q", more, failures)
	}
	if got := kept(t, cache, "stopped"); got != `{"hook_event_name":"Stop","skill_name":"x","stop_hook_active":false}` {
		t.Errorf("the hook got %s", got)
	}
	e.Call(t.Context(), "skill", json.RawMessage(`{"action":"deactivate","skill_name":"x"}`))
	if got := kept(t, cache, "left"); got != `{"hook_event_name":"post","skill_name":"x"}` {
		t.Errorf("the hook got %s", got)
	}
	again := k.Activate(t.Context(), "x", "")
	if a, ok := again.Result.(Activation); !ok || !strings.HasSuffix(a.Content, "\n\nIts hook says: ready\nnow") {
		t.Errorf("got %+v", again)
	}
	sub, err := k.Sub(t.Context(), tool.Fork{Skill: "x"})
	if err != nil || sub.Opening() != "Its hook says: ready\nnow" || k.Opening() != "" {
		t.Errorf("a sub-agent begins with %v, %v", sub, err)
	}
	sub.End(t.Context())
	k.End(t.Context())
	closed, _ := filepath.Glob(filepath.Join(cache, "skill-cache", "*"))
	if err := os.WriteFile(filepath.Join(closed[0], "closed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := k.Activate(t.Context(), "x", ""); r.Success || r.Message != "Skill 'x' is not activated: its hook refused: closed" || len(k.o.Session.Active()) > 0 {
		t.Errorf("got %+v", r)
	}
}

// R127: a hook for Stop makes the model go on with exit code 2 or a document that says so. One that fails does not.
func TestStopped(t *testing.T) {
	for _, tt := range []struct{ name, command, more, failure string }{
		{"done", "exit 0", "", ""},
		{"not done", "echo 'run the tests' >&2; exit 2", "A hook of skill 'x' says that the work is not done: run the tests", ""},
		{"a document", `echo '{"decision":"block","reason":"run the tests"}'`, "A hook of skill 'x' says that the work is not done: run the tests", ""},
		{"once", "grep -q 'stop_hook_active.:true' || exit 2", "", ""},
		{"an end in any case", `echo '{"continue":false,"decision":"block"}'`, "", ""},
		{"a failure", "echo oops >&2; exit 1", "", "The hook Stop of skill 'x' failed: oops"},
		{"no program", "no-such-program-at-all 2>/dev/null", "", "The hook Stop of skill 'x' failed"},
		{"no document", "echo '{'", "", "The hook Stop of skill 'x' failed: its answer is not a JSON document"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			command, err := json.Marshal(tt.command)
			if err != nil {
				t.Fatal(err)
			}
			k, _, _ := runHooked(t, hooked("hooks:\n  Stop: [{hooks: [{command: "+string(command)+"}]}]\n"), nil)
			more, failures := k.Stopped(t.Context(), 1)
			if more != tt.more || strings.Join(failures, "\n") != tt.failure {
				t.Errorf("got %q, %q", more, failures)
			}
		})
	}
}

// security 2.12 #173, #176: a guard is not got rid of by a sub-agent, nor by leaving its skill where restrictions are held.
func TestGuardsHold(t *testing.T) {
	files := hooked(preToolUse("'*'", `"grep -vq secret"`))
	files["scout/SKILL.md"] = skillText("scout", "context: fork\n", "Look.")
	secret, plain := json.RawMessage(`{"command":"secret"}`), json.RawMessage(`{"command":"ls"}`)
	const want = "Tool 'bash' not allowed by a hook of skill 'x'"

	k, e, _ := runHooked(t, files, func(o *Options) { o.Forks = true })
	sub, err := k.Sub(t.Context(), tool.Fork{Skill: "scout"})
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.Check(t.Context(), "bash", secret); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a sub-agent: %v", err)
	}
	if err := sub.Check(t.Context(), "bash", plain); err != nil {
		t.Errorf("a sub-agent: %v", err)
	}

	active, _ := k.o.Session.Lookup("x")
	k.o.Session.Hold(active.Token)
	e.Call(t.Context(), "skill", json.RawMessage(`{"action":"deactivate","skill_name":"x"}`))
	if len(k.o.Session.Active()) > 0 {
		t.Fatal("x is active")
	}
	if err := k.Check(t.Context(), "bash", secret); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("after leaving: %v", err)
	}
	k.o.Session.Release()
	if err := k.Check(t.Context(), "bash", secret); err != nil {
		t.Errorf("after the prompt was answered: %v", err)
	}
}
