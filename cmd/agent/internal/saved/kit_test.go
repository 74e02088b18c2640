package saved

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/llm"
)

// clock is a time that advances by a second whenever it is asked.
func clock() func() time.Time {
	now := time.Date(2026, 11, 26, 5, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

func bench(t testing.TB) *Options {
	t.Helper()
	return &Options{Dir: filepath.Join(t.TempDir(), "conversations"), Project: "/projects/shop", Now: clock()}
}

func says(role llm.Role, text string) llm.Message {
	return llm.Message{Role: role, Parts: []llm.Part{{Text: text}}}
}

func calls(id, args string) llm.Message {
	return llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Call: &llm.Call{ID: id, Name: "bash", Args: json.RawMessage(args)}}}}
}

func answers(id, text string) llm.Message {
	return llm.Message{Role: llm.User, Parts: []llm.Part{{Result: &llm.Result{ID: id, Name: "bash", Text: text}}}}
}

// written makes a conversation with two turns, and returns its name.
func written(t testing.TB, o *Options) string {
	t.Helper()
	l, err := Create(t.Context(), o, &Head{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	talk(l)
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	return l.ID()
}

// talk writes two turns.
func talk(l *Log) {
	l.Begin("fake/model", "fix the\nbug")
	l.Prefix(&Prefix{System: "You are <agent>", Tools: []llm.Tool{{Name: "bash", Description: "runs", Input: json.RawMessage(`{"type": "object"}`)}},
		Sources: map[string]string{"AGENTS.md": "1"}})
	l.Add(says(llm.User, "fix the\nbug"))
	l.Add(calls("1", `{"command": "a < b && c"}`))
	l.Add(answers("1", "odd \xff byte"))
	l.Add(says(llm.Assistant, "done"))
	l.End(&End{Stop: "end", Usage: llm.Usage{Input: 10, Output: 2}, State: json.RawMessage(`{"active":[]}`)})
	l.Begin("fake/model", "thanks")
	l.Add(says(llm.User, "thanks"))
	l.Add(says(llm.Assistant, "welcome"))
	l.End(&End{Stop: "end"})
}

func file(t testing.TB, o *Options, id string) string {
	t.Helper()
	dir, _, err := o.find(id)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, id+suffix)
}

func lines(t testing.TB, path string) []string {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(string(src), "\n"), "\n")
}

func texts(messages []llm.Message) string {
	var all []string
	for _, m := range messages {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				all = append(all, "call "+string(p.Call.Args))
			case p.Result != nil:
				all = append(all, "result "+p.Result.Text)
			case p.State != nil:
				all = append(all, "state")
			default:
				all = append(all, string(m.Role)+" "+p.Text)
			}
		}
	}
	return strings.Join(all, "|")
}

// write makes an empty file.
func write(t testing.TB, path string) string {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
