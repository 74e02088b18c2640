package chat

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// Issue 4.5: a call is one line, whatever the order of its arguments and whatever is in them.
func TestCallText(t *testing.T) {
	for _, tt := range []struct{ name, args, want string }{
		{"script_run", `{"skill_name":"a","script_name":"b","args":["--n",3]}`, "script_run a/b --n 3"},
		{"script_run", `{"args":["x"],"script":"b","skill":"a"}`, "script_run a/b x"},
		{"toolset_call", `{"skill_name":"a","tool_name":"greet","args":{"n":3,"name":"Ada"}}`, `toolset_call a/greet {"n":3,"name":"Ada"}`},
		{"toolset_list", `{"skill_name":"a","tool_name":"greet"}`, "toolset_list a/greet"},
		{"skill", `{"action":"activate","skill_name":"a","args":"one two"}`, "skill a one two"},
		{"skill_read", `{"skill_name":"a","path":"references/x.md"}`, "skill_read a/references/x.md"},
		{"write_file", `{"content":"text","path":"x.md"}`, "write_file x.md"},
		{"grep", `{"path":"src","pattern":"TODO"}`, "grep TODO"},
		{"bash", `{"command":"echo \u001b[2J\nrm -rf /"}`, `bash echo \x1b[2J rm -rf /`},
		{"bash", `{"command":"./run\u00a0tests\tnow"}`, `bash ./run\u{a0}tests\tnow`},
		{"hello", `{"whom":"Ada"}`, "hello Ada"},
		{"odd", `{"args":["a"]}`, "odd a"},
		{"none", `{}`, "none"},
		{"broken", `["a"`, "broken"},
		{"write_file", `{"path":"shown","path":"written"}`, "write_file"}, // no tool gets it, so neither is the subject
		{"bash", `{"command":"ls","command":"rm"`, "bash"},
		{"bash", `null`, "bash"},
	} {
		if got := CallText(&llm.Call{Name: tt.name, Args: json.RawMessage(tt.args)}); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.name, tt.args, got, tt.want)
		}
	}
}

// A call does not last longer because its user takes time to answer a question.
func TestAnswerTakesNoTime(t *testing.T) {
	k := newTalk(t, 60, nil)
	k.press("hi<enter>")
	c := k.call("bash", `{"command":"make"}`)
	k.now = k.now.Add(time.Second)
	first, second := &question{Question: ui.Question{Text: "First?"}, answer: make(chan string, 1)}, &question{Question: ui.Question{Text: "Second?"}, answer: make(chan string, 1)}
	k.happen(askEvent{first}, askEvent{second})
	k.now = k.now.Add(time.Minute)
	k.press("y<enter>")
	k.now = k.now.Add(time.Minute)
	if rows := strings.Join(k.calls[0].rows(k.paint, k.clock(), 60), "\n"); !strings.Contains(rows, "1.0 s") {
		t.Errorf("while a question waits: %s", rows)
	}
	k.press("y<enter>")
	k.now = k.now.Add(2 * time.Second)
	k.result(c, tool.Result{Success: true, Duration: 2*time.Minute + 3*time.Second}, `{"success":true}`)
	if got := k.calls[0].took; got != 3*time.Second {
		t.Errorf("the call took %s, want 3s", got)
	}
}

// A tool that asks while it works reports its duration without the wait.
func TestAnswerWhileItWorks(t *testing.T) {
	k := newTalk(t, 60, nil)
	k.press("hi<enter>")
	c := k.call("bash", `{"command":"curl example.com"}`)
	k.now = k.now.Add(6 * time.Second)
	k.happen(askEvent{&question{Question: ui.Question{Text: "Let it?"}, answer: make(chan string, 1)}})
	k.now = k.now.Add(2 * time.Second)
	k.press("y<enter>")
	k.result(c, tool.Result{Success: true, Duration: 6 * time.Second, Waited: 2 * time.Second}, `{"success":true}`)
	if got := k.calls[0].took; got != 6*time.Second {
		t.Errorf("the call took %s, want 6s", got)
	}
}
