package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// governedWorld is a world with a policy whose contact is sec@example.com.
func governedWorld(t *testing.T, text string, env ...string) *world {
	t.Helper()
	w := newWorld(t, env...)
	w.policy = "contact: sec@example.com\n" + text
	return w
}

// refused runs the command, and fails the test unless it says that the policy refuses something, and whom to ask.
func (w *world) refused(args ...string) {
	w.t.Helper()
	stdout, stderr, code := w.run("", args...)
	for _, part := range []string{"the policy of your organisation, /etc/agent/policy.yaml:", "sec@example.com"} {
		if said := stdout + stderr; code == failure.ExitOK || !strings.Contains(said, part) {
			w.t.Errorf("%q: exit code %d, no %q in %q", args, code, part, said)
			return
		}
	}
}

// set returns the value that a setting has in the end.
func (w *world) set(key string) string {
	w.t.Helper()
	stdout, stderr, _ := w.run("", "doctor", "--json", "--all")
	var d struct {
		Doctor struct {
			Settings []struct {
				Key   string
				Value any
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		w.t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	for _, s := range d.Doctor.Settings {
		if s.Key == key {
			return fmt.Sprint(s.Value)
		}
	}
	w.t.Fatalf("no setting %q", key)
	return ""
}

// said returns what a model got for its calls, in a conversation with these flags.
func (w *world) said(s *fakemodel.Server, calls []fakemodel.Call, flags ...string) string {
	w.t.Helper()
	s.SetSteps(fakemodel.Step{Calls: calls}, fakemodel.Step{Text: "Done.", Forever: true})
	stdout, stderr, _ := w.run("", append([]string{"-p", "go", "--json"}, flags...)...)
	return stdout + stderr
}

// keysEnforced has for each key of a policy what shows that it is enforced.
var keysEnforced = map[string]func(t *testing.T){
	policy.KeyContact: func(t *testing.T) { governedWorld(t, "mode: ask").refused("-p", "x", "--mode", "all") },
	policy.KeyDeny: func(t *testing.T) {
		s := fakemodel.New(t)
		w := governedWorld(t, "permissions: {deny: ['Bash(git push:*)', 'script_run', 'greet_in_language']}\n", s.Env()...)
		for _, flags := range [][]string{{"--mode", "all"}, {"--allow", "Bash(git push:*)"}, {"--allow-bash", "--allow", "Bash"}} {
			if said := w.said(s, []fakemodel.Call{attempt("bash", `{"command":"git push origin"}`)}, flags...); !strings.Contains(said, "the policy of your organisation, /etc/agent/policy.yaml:2") {
				t.Errorf("%q: %s", flags, said)
			}
		}
		w.refused("script", "run", "hello-extended", "advanced_greeting")
		w.refused("skill", "call", "hello-extended", "greet_in_language", "name=Ada", "language=es")
	},
	policy.KeyAsk: func(t *testing.T) {
		s := fakemodel.New(t)
		w := governedWorld(t, "permissions: {ask: [Bash]}\n", s.Env()...)
		if said := w.said(s, []fakemodel.Call{attempt("bash", `{"command":"true"}`)}, "--allow-bash"); !strings.Contains(said, "the rule Bash asks (the policy of your organisation") {
			t.Error(said)
		}
	},
	policy.KeyMode: func(t *testing.T) {
		w := governedWorld(t, "mode: ask\n", "AGENT_MODE=all")
		w.refused("-p", "x", "--mode", "accept-edits")
		if got := w.set("mode"); got != "ask" {
			t.Errorf("mode %s", got)
		}
	},
	policy.KeySandbox: func(t *testing.T) {
		s := fakemodel.New(t)
		w := governedWorld(t, "sandbox: required\n", append(s.Env(), "AGENT_SANDBOX=off", "AGENT_BASH_SANDBOX=off")...)
		for _, home := range []string{w.home, ""} { // without a home there is no sandbox for commands
			w.home = home
			if said := w.said(s, []fakemodel.Call{attempt("bash", `{"command":"echo r''n","outside":true}`)}, "--allow-bash"); strings.Contains(said, `rn\n`) || !strings.Contains(said, "no command runs outside the sandbox: nothing looser than sandbox: required is allowed (the policy of your organisation") {
				t.Errorf("home %q: %s", home, said)
			}
		}
		w = governedWorld(t, "sandbox: required\n", "AGENT_SANDBOX=off", "AGENT_BASH_SANDBOX=off")
		w.refused("skill", "list", "--sandbox", "off")
		for _, key := range []string{"sandbox", "bashSandbox"} {
			if got := w.set(key); got != "required" {
				t.Errorf("%s %s", key, got)
			}
		}
	},
	policy.KeyModels: func(t *testing.T) {
		s := fakemodel.New(t)
		w := governedWorld(t, "models: ['anthropic/*', 'replay/*']\n", s.Env()...)
		w.refused("-p", "x", "--model", "openai/x")
		w.refused("-p", "x", "--model", "anthropic/x") // a variable leads it to another host
		w.refused("-p", "x")
		w.env = append(w.env, "AGENT_MODEL=openai/x")
		w.refused("-p", "x")
	},
	policy.KeyNetwork: func(t *testing.T) {
		s := fakemodel.New(t)
		w := governedWorld(t, "network: [good.example]\n", append(s.Env(), "AGENT_BASH_NETWORK=all", "AGENT_PACKAGE_HOSTS=evil.example,good.example")...)
		w.refused("skill", "grant", "hello-world", "--net", "evil.example", "--yes")
		w.refused("skill", "grant", "hello-world", "--net", "all", "--yes")
		if hosts := w.set("bashNetwork") + w.set("packageHosts") + w.set("sandbox"); hosts != "[][good.example]required" {
			t.Errorf("hosts %s", hosts)
		}
		if said := w.said(s, []fakemodel.Call{attempt("web_fetch", `{"url":"https://evil.example/"}`)}, "--allow", "WebFetch"); strings.Contains(said, `"success":true`) || !strings.Contains(said, "evil.example") {
			t.Error(said)
		}
	},
	policy.KeyNever: func(t *testing.T) {
		w := governedWorld(t, "grants: {never: ['write:~/secret', socket, 'env:AWS_*']}\n", "AGENT_BASH_WRITE="+"~/secret/x", "AGENT_BASH_SOCKETS=ssh", "AGENT_BASH_VARIABLES=AWS_PROFILE")
		for _, flags := range [][]string{{"--write", w.home + "/secret"}, {"--write", w.home + "/secret/x"}, {"--socket", "ssh"}} {
			w.refused(append([]string{"skill", "grant", "hello-world", "--yes"}, flags...)...)
		}
		if got := w.set("bashWrite") + w.set("bashSockets") + w.set("bashVariables"); got != "[][][]" {
			t.Errorf("given %s", got)
		}
	},
	policy.KeyServers: func(t *testing.T) {
		w := governedWorld(t, "mcpServers: [{command: 'true x'}]\n", "X=y")
		w.write("home/.agent/config.yaml", "mcpServers:\n  own: {command: 'true', args: ['${X}']}\n  net: {url: 'https://mcp.example.com/'}\n")
		w.refused("mcp", "test", "own") // the value of the variable counts
		w.refused("mcp", "test", "net")
		w.refused("mcp", "add", "other", "--", "false")
	},
	policy.KeyHooks: func(t *testing.T) {
		const hooks = "agent: {hooks: {PreToolUse: [{hooks: [{command: 'true', sandbox: false}]}]}}\n"
		w := governedWorld(t, "hooks: off\n")
		w.write("home/.agent/config.yaml", hooks)
		if got := w.set("agentHooks"); got != "[]" {
			t.Errorf("hooks %s", got)
		}
		s := fakemodel.New(t)
		w = governedWorld(t, "sandbox: required\n", s.Env()...) // it is a guard, and does not run
		w.write("home/.agent/config.yaml", hooks)
		if said := w.said(s, []fakemodel.Call{attempt("glob", `{"pattern":"*"}`)}); !strings.Contains(said, "it did not run: no command runs outside the sandbox") {
			t.Errorf("with a sandbox that is required: %s", said)
		}
	},
	policy.KeyAudit: func(t *testing.T) {
		w := governedWorld(t, "audit: required\n", "AGENT_AUDIT=off")
		if got := w.set("audit"); got != "required" {
			t.Errorf("audit %s", got)
		}
		w.write("home/.agent/audit", "in the way\n") // no log can be kept
		if _, stderr, code := w.run("", "script", "run", "hello-extended", "advanced_greeting"); code == failure.ExitOK || !strings.Contains(stderr, "audit") {
			t.Errorf("exit code %d, %s", code, stderr)
		}
	},
	policy.KeyTelemetry: func(t *testing.T) {
		if got := governedWorld(t, "telemetry: off\n", "AGENT_TELEMETRY=otlp").set("telemetry"); got != "off" {
			t.Errorf("telemetry %s", got)
		}
	},
	policy.KeyRetention: func(t *testing.T) {
		if got := governedWorld(t, "retention: 7\n", "AGENT_KEEP_CONVERSATIONS=100").set("keepConversations"); got != "7" {
			t.Errorf("kept %s days", got)
		}
	},
}

// H4: each key of a policy is enforced.
func TestPolicyKeys(t *testing.T) {
	for _, key := range policy.Keys() {
		test, ok := keysEnforced[key]
		if !ok {
			test, ok = skillKeysEnforced[key]
		}
		if !ok {
			t.Errorf("nothing shows that %s is enforced", key)
			continue
		}
		t.Run(key, test)
	}
}

// routes are ways in which somebody below the organisation could try to loosen what it says.
func routes(t *testing.T) map[string]func(w *world) []string {
	out := map[string]func(w *world) []string{
		"nothing":     func(*world) []string { return nil },
		"a subfolder": func(w *world) []string { w.write("work/sub/x", ""); return []string{"--project", w.project + "/sub"} },
		"other skills": func(w *world) []string {
			w.write("more/x", "")
			return []string{"--skills-dir", filepath.Dir(w.home) + "/more"}
		},
		"a rule":          func(*world) []string { return []string{"--allow", "Bash(git push:*)"} },
		"all commands":    func(*world) []string { return []string{"--allow-bash"} },
		"without sandbox": func(*world) []string { return []string{"--without-sandbox"} },
		"another home": func(w *world) []string {
			w.write("other/.agent/config.yaml", "permissions: {allow: [Bash]}\nagent: {mode: all}\n")
			w.home = filepath.Dir(w.home) + "/other"
			return nil
		},
		"variables of the system": func(w *world) []string {
			dir := filepath.Dir(w.home) + "/other"
			w.env = append(w.env, "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CONFIG_DIRS="+dir, "ProgramData="+dir, "AGENT_POLICY="+dir, "AGENT_SYSTEM="+dir)
			return nil
		},
		"AGENT_HOME": func(w *world) []string {
			dir := filepath.Dir(w.home) + "/elsewhere"
			w.write("elsewhere/config.yaml", "agent: {mode: all, bashSandbox: off, keepConversations: 1000}\nskills: {sandbox: off, audit: off, telemetry: otlp}\npermissions: {allow: [Bash]}\n")
			w.env = append(w.env, "AGENT_HOME="+dir)
			return nil
		},
		"settings": func(w *world) []string {
			w.write("home/.agent/config.yaml", "agent: {mode: all, bashSandbox: off, keepConversations: 1000}\nskills: {sandbox: off, audit: off, telemetry: otlp}\npermissions: {allow: [Bash]}\n")
			return nil
		},
		"a project": func(w *world) []string {
			w.write("work/.agent/config.yaml", "agent: {mode: all, bashSandbox: off}\nskills: {sandbox: off, audit: off, profile: wink}\n")
			return nil
		},
	}
	for _, p := range config.Profiles() {
		out["profile "+p.Name] = func(*world) []string { return []string{"--profile", p.Name} }
		out["profile of a project "+p.Name] = func(w *world) []string {
			w.write("work/.agent/config.yaml", "skills: {profile: "+p.Name+"}\n")
			return nil
		}
	}
	for _, k := range config.Keys() {
		if value, ok := loose[k.Name]; ok {
			out["variable "+k.Variable] = func(w *world) []string { w.env = append(w.env, k.Variable+"="+value); return nil }
		}
	}
	if len(out) < 30 {
		t.Fatalf("only %d routes", len(out))
	}
	return out
}

// loose are the values of settings that the policy below does not allow.
var loose = map[string]string{"mode": "all", "sandbox": "off", "bashSandbox": "off", "audit": "off", "telemetry": "otlp", "keepConversations": "3000", "permissions.allow": "Bash(git push:*)"}

// H2, H4: no flag, variable, folder, setting or profile leads round the policy of an organisation.
func TestNobodyLeadsRoundThePolicy(t *testing.T) {
	strict := map[string]string{"mode": "ask", "sandbox": "required", "bashSandbox": "required", "audit": "required", "telemetry": "off", "keepConversations": "7"}
	text := "mode: ask\nsandbox: required\naudit: required\ntelemetry: off\nretention: 7\npermissions: {deny: ['Bash(git push:*)']}\n"
	for name, prepare := range routes(t) {
		t.Run(name, func(t *testing.T) {
			s := fakemodel.New(t)
			w := governedWorld(t, text, s.Env()...)
			flags := prepare(w)
			if said := w.said(s, []fakemodel.Call{attempt("bash", `{"command":"git push origin"}`)}, flags...); !strings.Contains(said, "the policy of your organisation, /etc/agent/policy.yaml:7") {
				t.Errorf("the command was not refused: %s", said)
			}
			known := flags
			if slices.ContainsFunc(flags, func(f string) bool { return f == "--allow" || f == "--allow-bash" || f == "--without-sandbox" }) {
				known = nil // only the agent itself has them
			}
			stdout, stderr, _ := w.run("", append([]string{"doctor", "--json", "--all"}, known...)...)
			var d struct {
				Doctor struct {
					Settings []struct {
						Key   string
						Value any
					}
				}
			}
			if err := json.Unmarshal([]byte(stdout), &d); err != nil {
				t.Fatalf("%v: %s", err, stderr)
			}
			for _, one := range d.Doctor.Settings {
				if want, ok := strict[one.Key]; ok && fmt.Sprint(one.Value) != want {
					t.Errorf("%s is %v", one.Key, one.Value)
				}
			}
		})
	}
}

// H4: what a project denies and disables holds in a folder of it that --project names.
func TestRulesOfAProjectHoldBelow(t *testing.T) {
	s := fakemodel.New(t)
	w := newWorld(t, s.Env()...)
	w.write("work/.agent/config.yaml", "permissions: {deny: ['Bash(git push:*)', 'Read(secret/**)']}\nskills: {disabled: [hello-world]}\n")
	w.write("work/sub/.agent/config.yaml", "permissions: {deny: ['Bash(make:*)']}\n")
	w.write("work/sub/deep/x", "")
	w.write("work/secret/key", "topsecret\n")
	calls := []fakemodel.Call{attempt("bash", `{"command":"git push origin"}`), attempt("bash", `{"command":"make all"}`), attempt("bash", `{"command":"cat ../../secret/key"}`)}
	said := w.said(s, calls, "--project", w.project+"/sub/deep", "--mode", "accept-edits")
	for _, part := range []string{"the rule Bash(git push:*) denies it", "the rule Bash(make:*) denies it"} {
		if !strings.Contains(said, part) {
			t.Errorf("no %q in %s", part, said)
		}
	}
	if strings.Contains(said, "topsecret") {
		t.Error("a file that a rule of the project denies was read")
	}
	if out, _, _ := w.run("", "skill", "list", "--all", "--json", "--project", w.project+"/sub/deep"); !strings.Contains(out, `"disabled"`) {
		t.Error("a skill that the project disables is enabled")
	}
}

// A policy that cannot be used closes every command but those that show what is wrong.
func TestClosedPolicy(t *testing.T) {
	w := newWorld(t)
	w.policy = "mdoe: ask\n"
	for _, args := range [][]string{{"skill", "list"}, {"script", "run", "hello-extended", "advanced_greeting"}, {"-p", "x"}, {"serve"}, {"mcp", "list"}, {"skill", "trust", "hello-world"}, {"--check"}} {
		_, stderr, code := w.run("", args...)
		if code != failure.ExitDenied || !strings.Contains(stderr, "nothing is allowed") || !strings.Contains(stderr, `line 1, column 1: unknown key "mdoe": did you mean "mode"?`) {
			t.Errorf("%q: exit code %d, %s", args, code, stderr)
		}
	}
	if list, err := os.ReadDir(w.home + "/.agent"); err == nil {
		t.Error("something was written: ", list)
	}
	for _, args := range [][]string{{"version"}, {"help"}, {"--help"}, {"completion", "bash"}} {
		if _, stderr, code := w.run("", args...); code != failure.ExitOK {
			t.Errorf("%q: exit code %d, %s", args, code, stderr)
		}
	}
	if out, _, code := w.run("", "doctor"); code != failure.ExitFailure || !strings.Contains(out, "nothing is allowed") {
		t.Errorf("doctor: exit code %d, %s", code, out)
	}
	if out, _, code := w.run("", "policy", "show"); code != failure.ExitInvalid || !strings.Contains(out, "nothing is allowed") {
		t.Errorf("policy show: exit code %d, %s", code, out)
	}
}
