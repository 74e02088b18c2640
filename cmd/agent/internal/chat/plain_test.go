package chat

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted answers each prompt with the steps of its name; "fail" fails after them.
func scripted(steps map[string][]agent.Step) func(context.Context, string) iter.Seq2[agent.Step, error] {
	return func(ctx context.Context, prompt string) iter.Seq2[agent.Step, error] {
		return func(yield func(agent.Step, error) bool) {
			for _, step := range steps[prompt] {
				if !yield(step, nil) {
					return
				}
			}
			if prompt == "fail" {
				yield(agent.Step{}, errors.New("the key is not valid"))
			}
		}
	}
}

func TestPlain(t *testing.T) {
	c := &llm.Call{ID: "1", Name: "script_run", Args: []byte(greeting)}
	o := &Options{
		In:       strings.NewReader("hello\n\n/why x\n/broken\n/nope\nfail\nhello"),
		Greeting: "agent 1.0",
		Commands: testCommands(),
		Ask: scripted(map[string][]agent.Step{"hello": {{Text: "Hi, "}, {Text: "you\x1b[2J!\n\nI"}, {Text: " run it."}, {Call: c},
			{Result: &agent.Result{Call: c, Result: tool.Result{Success: true, Duration: time.Second}}}, {Text: "Done."},
			{Done: &agent.Answer{Stop: agent.End}}}}),
	}
	var out bytes.Buffer
	o.Out = &out
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	answer := `Hi, you\x1b[2J!

I run it.

● script_run hello-extended/advanced_greeting --lang es  1.0 s  ok  #1

Done.
`
	want := "agent 1.0\n\n" + answer + `
got x

error: it is broken

unknown command /nope: /help lists all

error: the key is not valid

` + strings.ReplaceAll(answer, "#1", "#2")
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPlainPrompt(t *testing.T) {
	var out bytes.Buffer
	o := &Options{In: strings.NewReader("hi\n/quit\nhi\n"), Out: &out, Prompt: "> ", Ask: scripted(map[string][]agent.Step{"hi": {{Text: "Hello."}}})}
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "> Hello.\n> "; strings.TrimRight(got, "\n") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The Enter after the key that answered a question prints no second prompt, and a further one does. The word exit leaves.
func TestPlainEnterAfterAnswer(t *testing.T) {
	p := &Prompter{}
	var out bytes.Buffer
	o := &Options{In: strings.NewReader("hi\n\n\nexit\nhi\n"), Out: &out, Prompt: "> ", Prompter: p,
		Question: func(context.Context, *ui.Question) (string, error) { return "y", nil },
		Ask: func(ctx context.Context, _ string) iter.Seq2[agent.Step, error] {
			return func(func(agent.Step, error) bool) { _, _ = confirmed(ctx, p, "Run it?", nil) }
		}}
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "> "); got != 3 {
		t.Errorf("%d prompts in %q, want 3", got, out.String())
	}
}

func TestPlainNeverApproves(t *testing.T) {
	p := &Prompter{}
	var answers []bool
	o := &Options{In: strings.NewReader("hi\ny\n"), Out: io.Discard, Prompter: p,
		Ask: func(ctx context.Context, prompt string) iter.Seq2[agent.Step, error] {
			return func(func(agent.Step, error) bool) {
				yes, err := confirmed(ctx, p, "Run it?", nil)
				if err != nil {
					t.Error(err)
				}
				answers = append(answers, yes)
			}
		}}
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if len(answers) != 2 || answers[0] || answers[1] {
		t.Errorf("answers %v, want two times no", answers)
	}
}

// Issue 9 P15, D1: without a screen, Options.Question asks, after what came before the question.
func TestPlainAsks(t *testing.T) {
	p := &Prompter{}
	var out bytes.Buffer
	o := &Options{In: strings.NewReader("hi\n"), Out: &out, Prompter: p,
		Question: func(_ context.Context, q *ui.Question) (string, error) {
			out.WriteString("[" + q.Text + " " + strings.Join(q.Details, ",") + "]\n")
			return "y", nil
		},
		Ask: func(ctx context.Context, _ string) iter.Seq2[agent.Step, error] {
			return func(yield func(agent.Step, error) bool) {
				yield(agent.Step{Text: "I run"}, nil)
				yes, err := confirmed(ctx, p, "Run it?", []string{"a", "b"})
				if !yes || err != nil {
					t.Errorf("got %v, %v, want yes", yes, err)
				}
				yield(agent.Step{Text: "Done."}, nil)
			}
		}}
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimLeft(out.String(), "\n"), "I run\n[Run it? a,b]\nDone.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if yes, err := confirmed(t.Context(), p, "Run it?", nil); yes || err != nil {
		t.Errorf("after the conversation: got %v, %v, want no", yes, err)
	}
}

// A pipe gets tabs as the model wrote them (issue 9 P15).
// Where no screen shows it, a call that takes long is said, with the last that it wrote, again after twice as long. The time in which a
// question waits does not count.
func TestPlainSaysWhatRuns(t *testing.T) {
	k := newTalk(t, 0, nil)
	k.press("hi<enter>")
	c := k.call("bash", `{"command":"make"}`)
	k.out = nil
	k.happen(pauseEvent{})
	k.wait(time.Minute)
	k.happen(goOnEvent{}, stepsEvent{})
	for range 13 {
		k.wait(time.Second)
		k.happen(stepsEvent{live: []LiveText{{Call: c.ID, Text: "one\x1b[2J\ntwo\n"}}})
	}
	k.result(c, tool.Result{Success: true, Duration: 13 * time.Second}, `{"success":true}`)
	want := ""
	for _, row := range []string{"3.0 s  running", "6.0 s  running", "12 s  running"} {
		want += "● bash make  " + row + "  #1\n  two\n  one\\x1b[2J\n  two\n"
	}
	if got := strings.TrimLeft(strings.Join(k.out, "\n"), "\n"); got != want+"● bash make  13 s  ok  #1" {
		t.Errorf("got\n%s", got)
	}
}

func TestPlainKeepsTabs(t *testing.T) {
	var out bytes.Buffer
	o := &Options{In: strings.NewReader("hi\n"), Out: &out, Ask: scripted(map[string][]agent.Step{"hi": {{Text: "all:\n\tgo "}, {Text: "build\t# x"}}})}
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimLeft(out.String(), "\n"), "all:\n\tgo build\t# x\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlainTooLong(t *testing.T) {
	o := &Options{In: strings.NewReader(strings.Repeat("x", maxInput+1)), Out: io.Discard, Ask: scripted(nil)}
	if err := Run(t.Context(), o); err == nil || err.Error() != "a prompt exceeds 1048576 bytes" {
		t.Errorf("got %v, want that the prompt is too long", err)
	}
}

// A pipe that stays silent is left when the context ends, and nothing reads it any more.
func TestPlainCancelled(t *testing.T) {
	in, silent, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	o := &Options{In: in, Out: writeFunc(func() { cancel() }), Greeting: "hello", Ask: scripted(nil)}
	if err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestPlainBrokenOutput(t *testing.T) {
	o := &Options{In: strings.NewReader("hi\nhi\n"), Out: brokenWriter{}, Greeting: "hello", Ask: scripted(nil)}
	if err := Run(t.Context(), o); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want %v", err, io.ErrClosedPipe)
	}
}

// writeFunc is called for each write.
type writeFunc func()

func (f writeFunc) Write(b []byte) (int, error) {
	f()
	return len(b), nil
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A file or the null device cannot be waited for as a pipe is, and is read all the same.
func TestPlainFromFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prompts")
	if err := os.WriteFile(path, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{path: "Hi\n", os.DevNull: ""} {
		in, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var out bytes.Buffer
		o := &Options{In: in, Out: &out, Ask: scripted(map[string][]agent.Step{"hello": {{Text: "Hi"}}})}
		if err := Run(t.Context(), o); err != nil || strings.TrimLeft(out.String(), "\n") != want {
			t.Errorf("%s: got %q, %v; want %q", name, out.String(), err, want)
		}
	}
}
