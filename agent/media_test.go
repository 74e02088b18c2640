package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// picture returns an image of so many bytes, which costs 1,485 tokens.
func picture(name string, size int) llm.Media {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 1000, 1050))) // nothing can fail
	return llm.Media{Type: "image/png", Name: name, Data: append(b.Bytes(), make([]byte, max(0, size-b.Len()))...)}
}

// shows is a tool that shows n images of so many bytes.
func shows(n, size int) tool.Tool {
	return tool.Tool{Name: "shows", Call: func(context.Context, json.RawMessage) tool.Result {
		r := tool.Success("seen", "")
		for i := range n {
			r.Media = append(r.Media, tool.Media(picture(fmt.Sprintf("p%d.png", i+1), size)))
		}
		return r
	}}
}

// asked asks a prompt with images, and returns the last answer.
func askWith(t *testing.T, c *Conversation, prompt string, with ...llm.Media) (*Answer, []string, error) {
	t.Helper()
	var steps []Step
	for s, err := range c.Ask(t.Context(), prompt, with...) {
		steps = append(steps, s)
		if s.Done != nil {
			return s.Done, notices(steps), err
		}
	}
	return nil, nil, nil
}

// texts returns the texts of messages, with the names of what is shown between them.
func texts(messages []llm.Message) string {
	var out []string
	for _, m := range messages {
		for _, p := range m.Parts {
			out = append(out, p.Text)
			if p.Result != nil {
				out = append(out, p.Result.Text)
			}
			for _, one := range ofParts([]llm.Part{p}) {
				out = append(out, "<"+one.Name+">")
			}
		}
	}
	return strings.Join(out, " ")
}

func TestPromptWithImages(t *testing.T) {
	m := scripted(t, reply{err: overloaded()}, says("a picture"))
	var changes []Change
	c := New(&Options{Model: m, Turn: func(context.Context, string) string { return "the turn" }, Record: func(c Change) { changes = append(changes, c) }})
	if _, _, err := askWith(t, c, "what is this?", picture("a.png", 0), picture("b.png", 0)); err == nil {
		t.Fatal("the first request did not fail")
	}
	if got := texts(c.Messages()); got != "the turn" || len(changes) != 4 {
		t.Errorf("after the failure there is %q, by %d changes", got, len(changes))
	}
	if _, _, err := askWith(t, c, "what is this?", picture("a.png", 0)); err != nil {
		t.Fatal(err)
	}
	if got := texts(m.last.Messages); got != "the turn the turn  <a.png> what is this?" {
		t.Errorf("sent %q", got)
	}
	if got := texts(repair(c.Messages())); got != texts(c.Messages()) {
		t.Errorf("repaired to %q", got)
	}
}

func TestTooManyImages(t *testing.T) {
	m := scripted(t, says("no"))
	c := New(&Options{Model: m})
	for _, with := range [][]llm.Media{make([]llm.Media, 21), {picture("a", 8<<20), picture("b", 7<<20)}} {
		if _, _, err := askWith(t, c, "look", with...); err == nil || !strings.Contains(err.Error(), "a prompt may have 20 images and documents, with 14 MB together") {
			t.Errorf("got %v", err)
		}
	}
	if len(m.asked)+len(c.Messages()) > 0 {
		t.Error("something was sent or kept")
	}
}

// A request counts an image by its size in tokens, not by its bytes.
func TestImagesCount(t *testing.T) {
	m := scripted(t, uncounted("seen"))
	c := New(&Options{Model: m})
	if _, _, err := askWith(t, c, "look", picture("a.png", 4<<20)); err != nil {
		t.Fatal(err)
	}
	if n := c.Size(); n < 1485 || n > 1520 {
		t.Errorf("about %d tokens", n)
	}
}

// The results of an answer show a bounded number of images, and only as many as the window has room for.
func TestResultsWithImages(t *testing.T) {
	for _, tt := range []struct {
		name                string
		n, size, window, in int
	}{
		{"all", 3, 0, 0, 3},
		{"too many", 12, 0, 0, 10},
		{"too many bytes", 4, 3 << 20, 0, 2},
		{"a small window", 4, 0, 7000, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := scripted(t, calls(call("1", "shows", `{}`)), says("seen"))
			c := New(&Options{Model: m, Tools: executor(t, shows(tt.n, tt.size)), Window: tt.window})
			if _, _, err := askWith(t, c, "look"); err != nil {
				t.Fatal(err)
			}
			r := m.last.Messages[2].Parts[0].Result
			if len(r.Media) != tt.in || strings.Count(r.Text, "left out") != tt.n-tt.in {
				t.Errorf("%d of %d images, and %q", len(r.Media), tt.n, r.Text)
			}
		})
	}
}

// What a tool that failed returned is not shown.
func TestFailedShowsNothing(t *testing.T) {
	m := scripted(t, calls(call("1", "shows", `{}`)), says("no"))
	fails := shows(1, 0)
	of := fails.Call
	fails.Call = func(ctx context.Context, args json.RawMessage) tool.Result {
		r := tool.CauseArguments.Failure("it failed")
		r.Media = of(ctx, args).Media
		return r
	}
	if _, _, err := askWith(t, New(&Options{Model: m, Tools: executor(t, fails)}), "look"); err != nil {
		t.Fatal(err)
	}
	if r := m.last.Messages[2].Parts[0].Result; !r.Failed || len(r.Media) != 0 {
		t.Errorf("the model gets %+v", r)
	}
}

// The oldest images give way when a request would have too many, the user learns it, and it happens once for many requests.
func TestOldImagesGiveWay(t *testing.T) {
	m := scripted(t)
	c := New(&Options{Model: m})
	var said []string
	for i := range 30 {
		m.replies = append(m.replies, says("seen"))
		_, notices, err := askWith(t, c, fmt.Sprintf("look %d", i), picture(fmt.Sprintf("%d.png", i), 0))
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, notices...)
		if n := strings.Count(texts(m.last.Messages), ">"); n > 20 {
			t.Fatalf("a request has %d images", n)
		}
	}
	if len(said) != 1 || said[0] != "older images and documents are no longer sent: 11; a request may have 20, with 14 MB" {
		t.Errorf("said %q", said)
	}
	if got := texts(m.last.Messages); !strings.Contains(got, "[10.png (PNG image, 1000 x 1050, 2 KB): no longer shown] look 10") || !strings.Contains(got, "<11.png> look 11") {
		t.Errorf("sent %s", got)
	}
}

// A prompt with as many bytes as a request may have pushes all older images out, and stays whole.
func TestPromptPushesOut(t *testing.T) {
	m := scripted(t, says("seen"), says("seen"))
	c := New(&Options{Model: m})
	for _, with := range [][]llm.Media{{picture("old.png", 2<<20)}, {picture("a.png", 5<<20), picture("b.pdf", 8<<20)}} {
		if _, _, err := askWith(t, c, "look", with...); err != nil {
			t.Fatal(err)
		}
	}
	if got := texts(m.last.Messages); strings.Contains(got, "<old.png>") || !strings.Contains(got, "<a.png>  <b.pdf> look") {
		t.Errorf("sent %s", got)
	}
}

// A summary says what was shown, and the kept part of a conversation keeps it.
func TestShortenedWithImages(t *testing.T) {
	m := scripted(t, uncounted("first "+strings.Repeat("long ", 6000)), uncounted("second"), uncounted("SUMMARY"))
	c := New(&Options{Model: m})
	for i, prompt := range []string{"one", "two"} {
		if _, _, err := askWith(t, c, prompt, picture(fmt.Sprintf("%d.png", i+1), 0)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(m.asked[2], "User: [1.png (PNG image, 1000 x 1050, 2 KB): left out]") || strings.Contains(m.asked[2], `"media"`) {
		t.Errorf("the summary was asked for with %.500s", m.asked[2])
	}
	if got := texts(c.Messages()); !strings.HasSuffix(got, "SUMMARY  <2.png> two second") {
		t.Errorf("there is %q", got)
	}
}

// Results that fill the window lose their images, too.
func TestSqueezedImages(t *testing.T) {
	r := &llm.Result{ID: "1", Text: "seen", Media: []llm.Media{picture("a.png", 0)}}
	out, n := squeeze([]llm.Message{{Role: llm.User, Parts: []llm.Part{{Result: r}}}}, 1000)
	if n != 1 || texts(out) != " seen\n[a.png (PNG image, 1000 x 1050, 2 KB): left out]" || len(r.Media) != 1 {
		t.Errorf("%d were cut: %q, %d", n, texts(out), len(r.Media))
	}
}
