package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// attempt is a call that a restricted skill must not get done. It would make the file pwned in the workspace.
func attempt(tool, args string) fakemodel.Call { return fakemodel.Call{Name: tool, Args: args} }

const touch = `{"command":"touch pwned"}`

// attempts are ways out of a skill with "allowed-tools: Read".
var attempts = []fakemodel.Call{
	attempt("bash", touch),
	attempt("bash", `{"command":"echo x > pwned"}`),
	attempt("bash", `{"command":"cat note.txt >pwned"}`),
	attempt("bash", `{"command":"true","command":"touch pwned"}`),
	attempt("Bash", touch), attempt("BASH", touch), attempt("bash_", touch), attempt("bash-", touch),
	attempt("shell", touch), attempt("run_command", touch), attempt("execute_command", touch), attempt("mcp__host__bash", touch),
	attempt("mcp__Read__bash", touch), attempt("Read", `{"file_path":"note.txt"}`), attempt("functions_bash", touch), attempt("read_file_bash", touch),
	attempt("write_file", `{"file_path":"pwned","content":"x"}`),
	attempt("write_file", `{"file_path":"note.txt","file_path":"pwned","content":"x"}`),
	attempt("write_file", `{"FILE_PATH":"pwned","content":"x"}`),
	attempt("Write", `{"file_path":"pwned","content":"x"}`), attempt("create_file", `{"file_path":"pwned","content":"x"}`),
	attempt("edit_file", `{"file_path":"note.txt","old_string":"quiet","new_string":"pwned"}`),
	attempt("edit_file", `{"file_path":"note.txt","old_string":"quiet","new_string":"pwned","replace_all":true}`),
	attempt("glob", `{"pattern":"**"}`), attempt("grep", `{"pattern":"quiet"}`), attempt("hello", `{}`),
	attempt("script_run", `{"skill_name":"reader","script_name":"run"}`),
	attempt("script_run", `{"skill_name":"reader","script_name":"scripts/run.sh"}`),
	attempt("script_run", `{"skill":"reader","script":"run"}`),
	attempt("script_run", `{"skill_name":"free","script_name":"run"}`),
	attempt("script_run", `{"skill_name":"free","skill_name":"reader","script_name":"run"}`),
	attempt("script_help", `{"skill_name":"reader","script_name":"run"}`),
	attempt("script_help", `{"skill_name":"free","script_name":"run"}`),
	attempt("skill", `{"skill_name":"free"}`), attempt("bash", touch), attempt("write_file", `{"file_path":"pwned","content":"x"}`),
	attempt("script_run", `{"skill_name":"free","script_name":"run"}`),
	attempt("skill", `{"skill_name":"shell"}`), attempt("bash", touch), attempt("skill", `{"skill_name":"shell","action":"deactivate"}`),
	attempt("skill", `{"skill_name":"free","action":"deactivate"}`),
	attempt("skill", `{"skill_name":"reader","args":"again"}`), attempt("bash", touch),
	attempt("skill", `{"skill_name":"forked"}`), // its sub-agent tries, too
	attempt("skill", `{"skill_name":"reader","action":"deactivate"}`), attempt("bash", touch), attempt("write_file", `{"file_path":"pwned","content":"x"}`),
	attempt("script_run", `{"skill_name":"reader","script_name":"run"}`),
	attempt("skill", `{"skill_name":"shell"}`), attempt("bash", touch), attempt("skill", `{"skill_name":"forked"}`),
}

// bypassWorld has skills in which everything that is not restricted would happen.
func bypassWorld(t *testing.T, s *fakemodel.Server) *world {
	w := newWorld(t, append(s.Env(), "AGENT_SKILLS=all_untrusted", "AGENT_SANDBOX=off", "AGENT_BASH_SANDBOX=off")...) // the restriction alone must hold
	w.write("work/note.txt", "all is quiet\n")
	script := "#!/bin/sh\n# --help shows this\ncase \"$1\" in --help) ;; esac\ntouch " + w.project + "/pwned\n"
	add := func(name, fields string) {
		w.write("home/.agent/skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: Does "+name+" things.\n"+fields+"---\nDo it. $ARGUMENTS\n")
		w.write("home/.agent/skills/"+name+"/scripts/run.sh", script)
	}
	add("reader", "allowed-tools: Read\n")
	add("free", "")
	add("shell", "allowed-tools: Bash Write\n")
	add("forked", "context: fork\n")
	return w
}

// isSubAgent reports whether a request is that of a sub-agent.
func isSubAgent(q *fakemodel.Request) bool {
	return strings.Contains(q.System, "one task for another agent")
}

// attacker answers with the calls, all in one answer or one in each. Every sub-agent makes the first four.
func attacker(calls []fakemodel.Call, atOnce bool) fakemodel.Step {
	next := 0
	return fakemodel.Step{Forever: true, From: func(q *fakemodel.Request) fakemodel.Step {
		switch {
		case isSubAgent(q) && len(q.Results()) == 0:
			return fakemodel.Step{Calls: slices.Concat(calls[:4], []fakemodel.Call{attempt("skill", `{"skill_name":"forked","action":"deactivate"}`)}, calls[:4])}
		case isSubAgent(q) || next == len(calls):
			return fakemodel.Step{Text: "Done."}
		case atOnce:
			next = len(calls)
			return fakemodel.Step{Calls: calls}
		}
		next++
		return fakemodel.Step{Calls: calls[next-1 : next]}
	}}
}

// changed lists what was done in the workspace.
func (w *world) changed() string {
	var out []string
	if _, err := os.Stat(filepath.Join(w.project, "pwned")); err == nil {
		out = append(out, "pwned was made")
	}
	if note, err := os.ReadFile(filepath.Join(w.project, "note.txt")); err != nil || string(note) != "all is quiet\n" {
		out = append(out, fmt.Sprintf("note.txt is %q, %v", note, err))
	}
	return strings.Join(out, "; ")
}

// C7, C10, R120: a skill with "allowed-tools: Read" that the user called for gets nothing else done, whatever a model
// asks for, in one answer or in many; with the setting lock: all, the same holds for a skill that the model activated.
func TestReadOnlySkillCannotBeLeft(t *testing.T) {
	for _, tt := range []struct {
		name, prompt, lock string
		first              []fakemodel.Call
	}{
		{"called for by the user", "/reader go", "user", nil},
		{"activated by the model", "go", "all", []fakemodel.Call{attempt("skill", `{"skill_name":"reader"}`)}},
	} {
		for _, atOnce := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, at once %v", tt.name, atOnce), func(t *testing.T) {
				s := fakemodel.New(t, attacker(slices.Concat(tt.first, attempts), atOnce))
				w := bypassWorld(t, s)
				w.env = append(w.env, "AGENT_LOCK="+tt.lock)
				out := w.succeeds("", "-p", tt.prompt, "--allow-bash", "--mode", "all", "--without-sandbox", "--max-turns", "200", "--json")
				if what := w.changed(); what != "" {
					t.Error(what)
				}
				var run struct {
					Calls []struct {
						Tool, Error, Message string
						Success              bool
						Args                 json.RawMessage
						Millis               *float64 `json:"duration_ms"`
					}
				}
				if err := json.Unmarshal([]byte(out), &run); err != nil {
					t.Fatal(err)
				}
				denied := 0
				for _, c := range run.Calls {
					if c.Success && c.Tool != "skill" {
						t.Errorf("%s %s succeeded", c.Tool, c.Args)
					}
					if c.Error != "permission_denied" {
						continue
					}
					denied++
					if want := "Tool '" + c.Tool + "' not allowed by skill '"; !strings.HasPrefix(c.Message, want) || !strings.Contains(c.Message, "(not in allowed-tools list)") || *c.Millis != 0 {
						t.Errorf("%s %s: %q, %v ms", c.Tool, c.Args, c.Message, *c.Millis)
					}
				}
				if denied < 30 {
					t.Errorf("%d of %d calls were denied", denied, len(run.Calls))
				}
			})
		}
	}
}

// security 2.11 #168: a name that looks like one that is allowed, or like that of a tool, is neither; a tool in a namespace is that
// tool, and no rule allows it more. A vendor refuses to read such a name again, so each is tried alone.
func TestTwinsOfNames(t *testing.T) {
	for _, name := range []string{"b\u0430sh", "bash ", " bash", "bash\u00a0", "bash\u200b", "ｂａｓｈ", "Re\u0430d", "bash\x00", "Read\nbash", "Read(bash)", "bash(touch:*)", "default_api.bash", "Read,bash"} {
		s := fakemodel.Start(fakemodel.Step{Calls: []fakemodel.Call{attempt(name, touch)}}, fakemodel.Step{Text: "Done."})
		w := bypassWorld(t, s)
		stdout, stderr, _ := w.run("", "-p", "/reader go", "--allow-bash", "--mode", "all", "--without-sandbox")
		s.Close()
		told := "not found"
		if name == "default_api.bash" {
			told = "permission_denied: Tool 'bash' not allowed by skill 'reader'"
		}
		if what := w.changed(); what != "" || !strings.Contains(stderr, told) {
			t.Errorf("%q: %s\n%s%s", name, what, stdout, stderr)
		}
	}
}

// Each of the attempts alone does something where nothing is enforced: the test above can fail.
func TestAttemptsWorkUnrestricted(t *testing.T) {
	works := 0
	for i := range 34 {
		s := fakemodel.New(t, fakemodel.Step{Calls: attempts[i : i+1]}, fakemodel.Step{Text: "Done."})
		w := bypassWorld(t, s)
		w.env = append(w.env, "AGENT_ENFORCE=off")
		w.succeeds("", "-p", "/reader go", "--allow-bash", "--mode", "all", "--without-sandbox")
		if w.changed() != "" {
			works++
		}
	}
	if works < 10 {
		t.Errorf("%d attempts work", works)
	}
}

// C10: a model may leave a skill that it activated itself, and is free then; with enforce: warn nothing is refused.
func TestLeavingLiftsARestriction(t *testing.T) {
	leave := []fakemodel.Call{attempt("skill", `{"skill_name":"reader"}`), attempt("skill", `{"skill_name":"reader","action":"deactivate"}`), attempt("bash", touch)}
	for _, tt := range []struct {
		name, prompt string
		env          []string
		calls        []fakemodel.Call
		free         bool
	}{
		{"left", "go", nil, leave, true},
		{"not left", "go", nil, slices.Delete(slices.Clone(leave), 1, 2), false},
		{"called for by the user", "/reader go", nil, leave[1:], false},
		{"unlocked", "/reader go", []string{"AGENT_LOCK=off"}, leave[1:], true},
		{"warn", "/reader go", []string{"AGENT_ENFORCE=warn"}, leave[2:], true},
		{"top", "/reader go", []string{"AGENT_STACK_POLICY=top"}, []fakemodel.Call{attempt("skill", `{"skill_name":"free"}`), attempt("bash", touch)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := fakemodel.New(t, fakemodel.Step{Calls: tt.calls}, fakemodel.Step{Text: "Done."})
			w := bypassWorld(t, s)
			w.env = append(w.env, tt.env...)
			_, stderr, _ := w.run("", "-p", tt.prompt, "--allow-bash", "--mode", "all", "--without-sandbox", "-v")
			if (w.changed() != "") != tt.free {
				t.Errorf("changed: %q, want %v\n%s", w.changed(), tt.free, stderr)
			}
			if tt.name == "warn" && !strings.Contains(stderr, "Tool 'bash' not allowed by skill 'reader'") {
				t.Errorf("no warning:\n%s", stderr)
			}
		})
	}
}

// security 2.11 #156, #157, #158, #160, #161, #168: patterns of paths and commands hold in whatever way a model spells a path or a command.
func TestPatternsHold(t *testing.T) {
	read := func(paths ...string) (out []fakemodel.Call) {
		for _, p := range paths {
			args, _ := json.Marshal(map[string]string{"file_path": p})
			out = append(out, attempt("read_file", string(args)))
		}
		return out
	}
	run := func(commands ...string) (out []fakemodel.Call) {
		for _, c := range commands {
			args, _ := json.Marshal(map[string]string{"command": c})
			out = append(out, attempt("bash", string(args)))
		}
		return out
	}
	for _, tt := range []struct {
		rules   string
		allowed []fakemodel.Call
		refused []fakemodel.Call
	}{
		{"Read(references/**)", read("skills/bound/references/a.md", "references/open.txt", "./references/open.txt", "references/../references/open.txt"),
			append(read("secret.txt", "./secret.txt", "references/../secret.txt", "references/./../secret.txt", "references//../secret.txt", "references/link.txt",
				"references/up/secret.txt", "REFERENCES/../secret.txt", "skills/bound/../../work/secret.txt", "skills/bound/SKILL.md", "references", "../work/secret.txt", "references/../references/../secret.txt",
				"WORK/secret.txt", "/proc/self/cwd/secret.txt"),
				attempt("read_file", `{"file_path":"references/open.txt","file_path":"secret.txt"}`), attempt("read_file", `{"File_Path":"secret.txt"}`),
				attempt("grep", `{"pattern":"SECRET"}`), attempt("glob", `{"pattern":"**"}`))},
		{"Bash(echo:*)", run("echo hello", "echo 'a > b'", "echo a && echo b"),
			run("echo x > pwned", "echo x >> pwned", "echo x &> pwned", "echo $(touch pwned)", "echo `touch pwned`", "echo a; touch pwned", "echo a\ntouch pwned", "echo a && touch pwned",
				"echo a | tee pwned", "echo a & touch pwned", "echo <(touch pwned)", "echo \"$(touch pwned)\"", "X=1 touch pwned", "env touch pwned", "/bin/touch pwned", "echo${IFS}a;touch pwned",
				"{ echo a; touch pwned; }", "(touch pwned)", "if true; then touch pwned; fi", "echo a || touch pwned", "! touch pwned", "function echo { touch pwned; }; echo a", "eval touch pwned",
				"echo a\r\ntouch pwned", "coproc touch pwned", "echo a <<<$(touch pwned)", "echo ${x:-$(touch pwned)}", "alias echo=touch; echo pwned", "time touch pwned", "sh -c 'touch pwned'")},
	} {
		t.Run(tt.rules, func(t *testing.T) {
			s := fakemodel.New(t, fakemodel.Step{Calls: slices.Concat(tt.allowed, tt.refused)}, fakemodel.Step{Text: "Done."})
			w := bypassWorld(t, s)
			w.write("home/.agent/skills/bound/SKILL.md", "---\nname: bound\ndescription: Does bound things.\nallowed-tools: "+tt.rules+"\n---\nDo it.\n")
			w.write("home/.agent/skills/bound/references/a.md", "Known.\n")
			w.write("work/secret.txt", "SECRET\n")
			w.write("work/references/open.txt", "Open.\n")
			for link, to := range map[string]string{"link.txt": "../secret.txt", "up": ".."} {
				if err := os.Symlink(to, filepath.Join(w.project, "references", link)); err != nil {
					t.Fatal(err)
				}
			}
			out := w.succeeds("", "-p", "/bound go", "--allow-bash", "--mode", "all", "--without-sandbox", "--json")
			if what := w.changed(); what != "" || strings.Contains(string(s.Requests()[1].Body), `SECRET\\n`) {
				t.Errorf("changed: %q, or the secret was read", what)
			}
			var got struct {
				Calls []struct {
					User, Success bool
					Args          json.RawMessage
					Message       string
				}
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			for i, c := range slices.DeleteFunc(got.Calls, func(c struct {
				User, Success bool
				Args          json.RawMessage
				Message       string
			}) bool {
				return c.User
			}) {
				if want := i < len(tt.allowed); c.Success != want {
					t.Errorf("%s: success %v: %s", c.Args, c.Success, c.Message)
				}
			}
		})
	}
}

// C7, C10, security 2.11: the tools of toolsets are no way out either, by whichever name they are called: nothing of a toolset starts, and
// starting one already runs the skill's code. Without the restriction the same call does something.
func TestToolsetsAreNoWayOut(t *testing.T) {
	list, byName := attempt("toolset_list", `{"skill_name":"served"}`), attempt("toolset_call", `{"skill_name":"served","tool_name":"pwn"}`)
	for _, tt := range []struct {
		name, prompt string
		calls        []fakemodel.Call
		free         bool
	}{
		{"restricted", "/reader go", []fakemodel.Call{
			list, byName, attempt("pwn", `{}`), attempt("served__pwn", `{}`), attempt("served.T.pwn", `{}`),
			attempt("skill", `{"skill_name":"served"}`), list, byName, attempt("pwn", `{}`), attempt("served__pwn", `{}`),
			attempt("toolset_call", `{"skill_name":"reader","tool_name":"pwn"}`), attempt("toolset_call", `{"tool_name":"served__pwn"}`),
		}, false},
		{"not restricted", "go", []fakemodel.Call{byName}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			steps := []fakemodel.Step{}
			for i := range tt.calls {
				steps = append(steps, fakemodel.Step{Calls: tt.calls[i : i+1]})
			}
			s := fakemodel.New(t, append(steps, fakemodel.Step{Text: "Done."})...)
			w := bypassWorld(t, s)
			w.write("home/.agent/skills/served/SKILL.md", "---\nname: served\ndescription: Does served things.\ntoolsets: [\"tools:T\"]\n---\nDo it.\n")
			w.write("home/.agent/skills/served/tools.py", `from agent_base import AgentToolset

open("`+w.project+`/pwned", "w").close()


class T(AgentToolset):
    def get_tools(self):
        return [self.pwn]

    def pwn(self) -> str:
        """Does harm."""
        return "done"
`)
			stdout, stderr, _ := w.run("", "-p", tt.prompt, "--allow-bash", "--mode", "all", "--without-sandbox", "--max-turns", "50", "--json")
			if (w.changed() != "") != tt.free {
				t.Errorf("changed: %q, want %v\n%s\n%s", w.changed(), tt.free, stdout, stderr)
			}
		})
	}
}
