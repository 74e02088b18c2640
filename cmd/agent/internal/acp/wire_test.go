package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/agent-base/agent-base/cmd/agent/internal/stream"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// stuck is an editor that reads nothing until it is let go.
type stuck struct{ free chan error }

func (s *stuck) Write(p []byte) (int, error) {
	if err := <-s.free; err != nil {
		return 0, err
	}
	return len(p), nil
}

// An editor that reads nothing is waited for: nothing more is read from it, and what need not be sent is left out.
func TestEditorReadsNothing(t *testing.T) {
	to := &stuck{make(chan error)}
	o := newOutlet(to)
	line := bytes.Repeat([]byte("x"), 1<<20)
	for range fullAt>>20 + 1 {
		if _, err := o.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if !o.busy() {
		t.Error("nothing waits")
	}
	wrote := make(chan error)
	go func() {
		_, err := o.Write(line)
		wrote <- err
	}()
	in := newInlet(strings.NewReader("{\"id\":1}\n"), o)
	in.open()
	read := make(chan error)
	go func() {
		_, err := in.Read(make([]byte, 10))
		read <- err
	}()
	select {
	case err := <-wrote:
		t.Fatalf("it was written: %v", err)
	case err := <-read:
		t.Fatalf("it was read: %v", err)
	case to.free <- os.ErrClosed: // it leaves
	}
	<-o.Gone()
	if err := <-wrote; !errors.Is(err, os.ErrClosed) {
		t.Errorf("the write ended with %v", err)
	}
	if err := <-read; err != nil {
		t.Errorf("the read ended with %v", err)
	}
	_ = o.Close()
}

// Lines that are no messages are answered, up to a bound; the others come through whole, in their order.
func TestInlet(t *testing.T) {
	var said bytes.Buffer
	o := newOutlet(&said)
	long := `{"id":1,"method":"x","params":"` + strings.Repeat("y", mostLine) + `"}`
	deep := strings.Repeat(`{"params":`, 20_000)
	in := newInlet(strings.NewReader("\n{\"id\":1,\"method\":\"a\"}\r\ngarbage\n[1]\n"+long+"\n"+deep+"\n{\"method\":5}\n{\"id\":2,\"result\":{}}"), o)
	in.open()
	got, err := io.ReadAll(in)
	if want := "{\"id\":1,\"method\":\"a\"}\r\n\n{\"id\":2,\"result\":{}}\n"; string(got) != want || err != nil || in.failed() != nil {
		t.Errorf("got %.300q, %v, %v", got, err, in.failed())
	}
	_ = o.Close()
	answers := strings.Split(strings.TrimSpace(said.String()), "\n")
	if len(answers) != 5 {
		t.Fatalf("%d answers: %.2000s", len(answers), said.String())
	}
	for i, line := range []int{3, 4, 5, 6, 7} {
		id := `"id":null`
		if line == 5 {
			id = `"id":1`
		}
		if want := fmt.Sprintf("line %d: it ", line); !strings.Contains(answers[i], want) || !strings.Contains(answers[i], id) {
			t.Errorf("answer %d is %.300s", i, answers[i])
		}
	}
}

// A text cannot end its own block.
func TestFenced(t *testing.T) {
	for _, text := range []string{"a", "```", "x\n````\ny", strings.Repeat("z", 3*mostResult)} {
		lines := strings.Split(fenced(text), "\n")
		fence := lines[0]
		for _, line := range lines[1 : len(lines)-1] {
			if strings.Contains(line, fence) {
				t.Errorf("%.20q ends its block: %.200s", text, line)
			}
		}
		if len(fenced(text)) > mostResult+100 || lines[len(lines)-1] != fence {
			t.Errorf("%.20q: %d bytes", text, len(fenced(text)))
		}
	}
}

// Only an answer that was offered is one. One that a text would follow is offered by an editor that shows forms.
func TestAnswers(t *testing.T) {
	q := &ui.Question{Choices: []ui.Choice{{Key: "y", Label: "yes"}, {Key: "p", Label: "always\x1b[31m here", Lasts: true}, {Key: "e", Label: "change it", Writes: true}, {Key: "n", Label: "no"}}}
	if all := options(q, true); len(all) != 4 {
		t.Errorf("with forms: %v", all)
	}
	list := options(q, false)
	var names []string
	for _, o := range list {
		names = append(names, fmt.Sprintf("%s %s %s", o.OptionId, o.Kind, o.Name))
	}
	if want := "[y allow_once yes p allow_always always\\x1b[31m here n reject_once no]"; fmt.Sprint(names) != want {
		t.Errorf("got %s, want %s", names, want)
	}
	for answer, want := range map[protocol.PermissionOptionId]string{"y": "y", "p": "p", "e": "", "d": "", "": "", "yp": ""} {
		out := protocol.NewRequestPermissionOutcomeSelected(answer)
		if got := picked(list, &out); got != want {
			t.Errorf("%q: got %q", answer, got)
		}
	}
	out := protocol.NewRequestPermissionOutcomeCancelled()
	if got := picked(list, &out); got != "" {
		t.Errorf("cancelled: got %q", got)
	}
}

// A prompt with what it attaches is bounded.
func TestPromptIsBounded(t *testing.T) {
	long := strings.Repeat("x", stream.MaxPrompt)
	for _, blocks := range [][]protocol.ContentBlock{
		{protocol.TextBlock(long + "x")},
		{protocol.TextBlock("look"), protocol.ResourceBlock(protocol.EmbeddedResourceResource{TextResourceContents: &protocol.TextResourceContents{Uri: "file:///a", Text: long}})},
	} {
		if _, err := content(blocks); err == nil || !strings.Contains(err.Error(), "bytes, at most") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := content([]protocol.ContentBlock{protocol.TextBlock(long)}); err != nil {
		t.Error(err)
	}
}

// The answer to a message that is too long has its id: without it the editor would wait forever. A list of messages is refused in plain words.
func TestMessagesThatAreNotTaken(t *testing.T) {
	long := strings.Repeat("x", mostLine)
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":"` + long + `"}`: `"id":7,`,
		`{"method":"session/prompt","id":"a","params":"` + long + `"}`:               `"id":"a",`,
		`{"method":"session/prompt","params":"` + long + `","id":8}`:                 `"id":null,`,
		`{"id":` + long + `}`: `"id":null,`,
		`["` + long + `"]`:    `"id":null,`,
		`[{"id":1}]`:          `it must be an object with a method or an id`,
		`"x"`:                 `it must be an object with a method or an id`,
	} {
		var out bytes.Buffer
		o := newOutlet(&out)
		in := newInlet(strings.NewReader(line+"\n"), o)
		in.open()
		if _, err := in.Read(make([]byte, 10)); !errors.Is(err, io.EOF) {
			t.Errorf("%.40s: %v", line, err)
		}
		_ = o.Close()
		if !strings.Contains(out.String(), want) {
			t.Errorf("%.40s: got %.200s, want %s", line, out.String(), want)
		}
	}
}

// The longest message that is let through does not end the connection of the library.
func TestLongestMessage(t *testing.T) {
	const begins, ends = `{"jsonrpc":"2.0","method":"x","params":"`, `"}`
	from, to := io.Pipe()
	defer to.Close()
	o := newOutlet(io.Discard)
	in := newInlet(from, o)
	in.open()
	got := make(chan int, 1)
	c := protocol.NewConnection(func(_ context.Context, _ string, params json.RawMessage) (any, *protocol.RequestError) {
		got <- len(params)
		return nil, nil
	}, o, in)
	go io.WriteString(to, begins+strings.Repeat("x", mostLine-len(begins)-len(ends)-1)+ends+"\n")
	select {
	case n := <-got:
		if n < mostLine-len(begins)-len(ends) {
			t.Errorf("%d bytes came through", n)
		}
	case <-c.Done():
		t.Error("the connection has ended")
	}
}

// The model and its effort do not change while a prompt is answered.
func TestOptionsWait(t *testing.T) {
	s := &session{}
	if err := s.claim(func() {}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []protocol.SessionConfigId{modelOption, effortOption} {
		if err := s.choose(t.Context(), id, "x"); err == nil || !strings.Contains(err.Error(), "is being answered") {
			t.Errorf("%s: %v", id, err)
		}
	}
}
