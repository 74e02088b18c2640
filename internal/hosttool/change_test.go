package hosttool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/internal/undo"
	rules "github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// F9, P5: the user is shown how the file changes, and a yes holds for that change only.
func TestChangesAreApproved(t *testing.T) {
	var asked []string
	answer, during := Answer{Allowed: true}, func() {}
	k := newKit(t, func(o *Options) {
		o.Decide = nil
		o.Approve = func(_ context.Context, r *Request) (Answer, error) {
			asked = append(asked, fmt.Sprintf("%s %s %t %q -> %q, %s", r.Call.Tool, r.Path, r.Existed, r.Before, r.After, r.Decision.Reason))
			during()
			return answer, nil
		}
	})
	k.want("write_file", `{"file_path":"AGENTS.md","content":"one\ntwo\n"}`, `{"success":true`)
	k.want("edit_file", `{"file_path":"AGENTS.md","old_string":"two\n","new_string":"2\n3\n"}`, `{"success":true`)
	k.want("write_file", `{"file_path":"main.go","content":""}`, `{"success":true`)
	want := []string{
		`write_file AGENTS.md false "" -> "one\ntwo\n", agents follow AGENTS.md without asking`,
		`edit_file AGENTS.md true "one\ntwo\n" -> "one\n2\n3\n", agents follow AGENTS.md without asking`,
		`write_file main.go false "" -> "", it changes a file`,
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked %q", asked)
	}
	k.want("edit_file", `{"file_path":"AGENTS.md","old_string":"nothing","new_string":"x"}`, `{"success":false,"error":"execution_failed","reason":"no_match"`)
	k.want("write_file", `{"file_path":".x","content":"`+strings.Repeat("x", maxApproved+1)+`"}`, `{"success":false,"error":"args_too_large"`)
	k.want("write_file", `{"file_path":"src","content":"x"}`, `{"success":false,"error":"execution_failed","reason":"folder"`)
	if len(asked) != 3 {
		t.Errorf("asked about a call that cannot work: %q", asked[3:])
	}
	k.want("write_file", `{"file_path":"long.txt","content":"`+strings.Repeat("x", maxApproved+1)+`"}`, `{"success":true`)
	answer = Answer{Why: "not now"}
	k.want("write_file", `{"file_path":"x","content":"x"}`,
		`{"success":false,"error":"permission_denied","reason":"not_approved","message":"The user did not allow writing 'x', and says: not now"`)
	k.disk("AGENTS.md", "one\n2\n3\n")
	answer, during = Answer{Allowed: true}, func() { files(t, k.ws, map[string]string{"AGENTS.md": "the user's\n3\n"}) }
	k.want("edit_file", `{"file_path":"AGENTS.md","old_string":"3","new_string":"4"}`, `{"success":false,"error":"execution_failed","reason":"changed"`)
	k.disk("AGENTS.md", "the user's\n3\n")
	during = func() { files(t, k.ws, map[string]string{"new.txt": "the user's\n"}) }
	k.want("write_file", `{"file_path":"new.txt","content":"4"}`, `{"success":false,"error":"execution_failed","reason":"changed"`)
	k.disk("new.txt", "the user's\n")
}

// R179: rules and modes decide about reading, searching, changing and running.
func TestPolicy(t *testing.T) {
	k := newKit(t, nil)
	files(t, k.ws, map[string]string{".env": "KEY=needle\n", "docs/a.md": "needle\n", "docs/plan.md": "needle\n", "link": "-> .env"})
	list := func(texts ...string) (out []permit.Rule) {
		for _, text := range texts {
			out = append(out, permit.Rule{Text: text})
		}
		return out
	}
	var asked []string
	k.o.Decide = policy(t, permit.Options{Deny: list("Read(.env)", "Edit(docs/law.md)", "Bash(curl:*)"), Ask: list("Read(docs/plan.md)"),
		Allow: list("Edit(docs/**)", "Bash(echo:*)"), Patterns: rules.Options{Roots: []string{k.ws}}})
	k.o.Approve = func(_ context.Context, r *Request) (Answer, error) {
		asked = append(asked, r.Call.Tool+" "+r.Path+r.Command)
		return Answer{}, nil
	}
	k.exec = executor(t, k.o)
	for _, path := range []string{".env", "link", "docs/../.env", "$WS/.env"} {
		k.denied("read_file", `{"file_path":"`+path+`"}`, "not_allowed")
		k.denied("edit_file", `{"file_path":"`+path+`","old_string":"needle","new_string":"x"}`, "not_allowed")
	}
	k.want("read_file", `{"file_path":"docs/a.md"}`, `{"success":true`)
	k.denied("read_file", `{"file_path":"docs/plan.md"}`, "not_approved")
	k.want("grep", `{"pattern":"needle"}`, `{"success":true,"result":{"text":"docs/a.md:1:needle\n","lines":1,"files":1}`)
	k.want("write_file", `{"file_path":"docs/b.md","content":"x"}`, `{"success":true`)
	k.denied("write_file", `{"file_path":"docs/law.md","content":"x"}`, "not_allowed")
	k.denied("write_file", `{"file_path":"b.md","content":"x"}`, "not_approved")
	k.want("bash", `{"command":"echo hi"}`, `{"success":true`)
	k.denied("bash", `{"command":"echo hi; curl x"}`, "not_allowed")
	k.denied("bash", `{"command":"echo hi > x"}`, "not_approved")
	if want := []string{"edit_file .env", "edit_file .env", "edit_file .env", "edit_file .env", "read_file docs/plan.md", "write_file b.md", "bash echo hi > x"}; !slices.Equal(asked, want[4:]) {
		t.Errorf("asked about %q", asked)
	}
	k.o.Decide = policy(t, permit.Options{Mode: permit.ReadOnly})
	k.exec = executor(t, k.o)
	k.denied("write_file", `{"file_path":"b.md","content":"x"}`, "not_allowed")
	k.denied("bash", `{"command":"echo hi"}`, "not_allowed")
	k.want("read_file", `{"file_path":".env"}`, `{"success":true`)
}

// Confined commands run without a question. One that asks to run outside is asked about, and does not reach the runner.
func TestConfinedCommands(t *testing.T) {
	var asked, ran []string
	k := newKit(t, func(o *Options) {
		o.Decide = nil
		o.Confined = true
		o.Runner = func(_ context.Context, c *Command) (*Output, error) {
			ran = append(ran, fmt.Sprint(c.Args[len(c.Args)-1], " ", c.ReadOnly))
			if c.ReadOnly && strings.Contains(c.Args[len(c.Args)-1], "made") {
				return &Output{Stdout: []byte("sh: made: Read-only file system\n"), ExitCode: 2}, nil
			}
			if strings.Contains(c.Args[len(c.Args)-1], "cat .env") {
				return &Output{Stdout: []byte("cat: .env: Permission denied\n"), ExitCode: 1, Hidden: []string{"/else/b", "/else/.env"}}, nil
			}
			return &Output{}, nil
		}
		o.Approve = func(_ context.Context, r *Request) (Answer, error) {
			asked = append(asked, r.Command)
			return Answer{Allowed: r.Command != "echo no"}, nil
		}
		o.Env = []string{"PATH=/usr/bin:/bin"}
	})
	k.want("bash", `{"command":"echo inside"}`, `{"success":true`)
	k.want("bash", `{"command":"touch made"}`, `{"success":false,"error":"execution_failed","message":"The command ended with exit code 2; it could not change files of the workspace: set write for a command that has to"`)
	k.o.Decide = policy(t, permit.Options{Mode: permit.Plan})
	k.exec = executor(t, k.o)
	k.want("bash", `{"command":"touch made"}`, `{"success":false,"error":"execution_failed","message":"The command ended with exit code 2; it could not change files of the workspace: the mode is plan: nothing is changed before the user approves a plan"`)
	k.o.Decide = nil
	k.exec = executor(t, k.o)
	k.want("bash", `{"command":"cat .env"}`, `{"success":false,"error":"execution_failed","message":"The command ended with exit code 1; rules hide /else/.env from commands"`)
	k.want("bash", `{"command":"echo outside","outside":true}`, `{"success":true,"result":{"output":"outside\n"`)
	k.want("bash", `{"command":"echo writes","write":true}`, `{"success":true`)
	k.denied("bash", `{"command":"echo no","outside":true}`, "not_approved")
	if !slices.Equal(asked, []string{"echo outside", "echo writes", "echo no"}) || !slices.Equal(ran, []string{"echo inside true", "touch made true", "touch made true", "cat .env true", "echo writes false"}) {
		t.Errorf("asked about %q, ran %q", asked, ran)
	}
}

// Each decision and each answer is an event, with the rule that decided.
func TestDecisionsAreTraced(t *testing.T) {
	var got []string
	k := newKit(t, func(o *Options) {
		o.Decide = policy(t, permit.Options{Allow: []permit.Rule{{Text: "Bash(true)", Origin: "here:1"}}})
		o.Approve = func(context.Context, *Request) (Answer, error) { return Answer{Allowed: true, For: "always"}, nil }
		o.Trace = trace.TracerFunc(func(_ context.Context, e trace.Event) {
			got = append(got, fmt.Sprint(e.Kind, " ", e.Tool, " ", e.Message, " ", e.Attrs))
		})
	})
	k.want("bash", `{"command":"true"}`, `{"success":true`)
	k.want("write_file", `{"file_path":"x","content":""}`, `{"success":true`)
	path := "[path=" + k.ws + "/x]"
	want := []string{"call_decided bash allow: the rule Bash(true) allows it [rule=Bash(true) (here:1)]",
		"call_decided write_file ask: it changes a file " + path,
		"tool_asked write_file the user allowed the call [answer=allowed for always path=" + k.ws + "/x]",
		"file_edited write_file Changed 'x' " + path}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// P5: a change that was not asked about comes with its diff, for people and not for the model.
func TestDiffOfAChange(t *testing.T) {
	k := newKit(t, nil)
	r := k.call("edit_file", `{"file_path":"a.txt","old_string":"two","new_string":"2"}`)
	if want := []string{"@@ -1,3 +1,3 @@", " one", "-two", "+2", " three"}; !slices.Equal(r.Result.(Edited).Diff, want) {
		t.Errorf("got %q", r.Result.(Edited).Diff)
	}
	w := k.call("write_file", `{"file_path":"long","content":"`+strings.Repeat(`x\n`, 100)+`"}`)
	if d := w.Result.(Written).Diff; len(d) != MaxDiff+1 || d[MaxDiff] != "… 61 lines more" {
		t.Errorf("got %q", d)
	}
	for _, r := range []tool.Result{r, w} {
		if strings.Contains(text(r), "@@") {
			t.Errorf("the model gets the diff: %s", text(r))
		}
	}
}

// P5: what the tools changed can be taken back: content, permissions, new files and the folders made for them.
func TestUndo(t *testing.T) {
	base := t.TempDir()
	k := newKit(t, nil)
	o := &undo.Options{Dir: filepath.Join(base, "undo"), Workspace: k.ws, Conversation: "c", Now: time.Now}
	k.o.Undo = undo.New(o)
	k.o.Undo.Begin("a prompt", 1)
	k.exec = executor(t, k.o)
	files(t, k.ws, map[string]string{"run.sh": "#!/bin/sh\n", "link": "-> a.txt", "dir/old": "x"})
	k.want("write_file", `{"file_path":"run.sh","content":"y"}`, `{"success":true`)
	k.want("edit_file", `{"file_path":"link","old_string":"two","new_string":"2"}`, `{"success":true`)
	k.want("edit_file", `{"file_path":"a.txt","old_string":"2","new_string":"zwei"}`, `{"success":true`)
	k.want("write_file", `{"file_path":"dir/new/deep/f.txt","content":"x"}`, `{"success":true`)
	turn, err := undo.Last(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := turn.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.disk("run.sh", "#!/bin/sh\n")
	k.disk("a.txt", "one\ntwo\nthree\n")
	k.disk("dir/old", "x")
	if info, err := os.Stat(filepath.Join(k.ws, "run.sh")); err != nil || info.Mode() != 0o755 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	if _, err := os.Lstat(filepath.Join(k.ws, "dir/new")); err == nil {
		t.Error("a folder that was made stays")
	}
}

// Without a place for the journal nothing is written: it could not be taken back.
func TestUndoMustBeRecorded(t *testing.T) {
	k := newKit(t, nil)
	k.o.Undo = undo.New(&undo.Options{Dir: "/dev/null/undo", Workspace: k.ws, Now: time.Now})
	k.exec = executor(t, k.o)
	k.want("write_file", `{"file_path":"a.txt","content":"x"}`, `{"success":false,"error":"execution_failed","reason":"undo","message":"'a.txt' was not written: `)
	k.disk("a.txt", "one\ntwo\nthree\n")
}
