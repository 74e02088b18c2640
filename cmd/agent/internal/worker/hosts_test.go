package worker

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/stream"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/script/runner"
)

// What comes while the user is asked about the same host, or about another one of the registries, needs no second question.
func TestHostsAreAskedAboutOnce(t *testing.T) {
	for _, names := range [][]string{{"example.com", "example.com", "example.com"}, {"pypi.org", "files.pythonhosted.org", "pypi.org"}} {
		synctest.Test(t, func(t *testing.T) { askedOnce(t, names) })
	}
}

func askedOnce(t *testing.T, names []string) {
	var asked []string
	open := make(chan struct{})
	approver := consent.NewChatApprover(func(_ context.Context, q *ui.Question) (string, error) {
		asked = append(asked, q.Text)
		<-open
		return "y", nil
	})
	policy, _ := permit.New(&permit.Options{Mode: permit.Ask})
	a := newHosts(&gate{approver: approver, policy: policy}).begin(asker{who: "this command"})
	var work sync.WaitGroup
	for _, host := range names {
		work.Go(func() {
			if v := a.ask(t.Context(), host); v != runner.Yes {
				t.Errorf("%s: %v", host, v)
			}
		})
	}
	synctest.Wait() // one asks, the others wait
	close(open)
	work.Wait()
	if len(asked) != 1 {
		t.Errorf("%q: asked %q", names, asked)
	}
}

// A program cannot have more prompts wait than mostPrompts, and not more bytes of them than mostPrompt.
func TestDialogueBounds(t *testing.T) {
	d := newDialogue(&printer{})
	for i := range mostPrompts {
		if code, text := d.add(stream.Input{Type: stream.Prompt, Text: "x"}); code != "" {
			t.Fatalf("prompt %d: %s", i, text)
		}
	}
	if code, _ := d.add(stream.Input{Type: stream.Prompt, Text: "x"}); code != tooMany {
		t.Errorf("one more: %q", code)
	}
	d = newDialogue(&printer{})
	for i, code := range []string{"", tooMany} {
		if got, _ := d.add(stream.Input{Type: stream.Prompt, Text: strings.Repeat("x", mostPrompt/2+1)}); got != code {
			t.Errorf("long prompt %d: %q", i, got)
		}
	}
	if !slices.ContainsFunc(d.prompts, func(in stream.Input) bool { return len(in.Text) > 1 }) {
		t.Error("the first long prompt does not wait")
	}
}
