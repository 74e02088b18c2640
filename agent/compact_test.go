package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// long is a result of about 1,000 tokens.
func long() tool.Tool {
	return tool.Tool{Name: "long", Call: func(context.Context, json.RawMessage) tool.Result {
		return tool.Success(strings.Repeat("0123456789abcde ", 250), "")
	}}
}

// uncounted is an answer of a server that counts no tokens: the estimate counts.
func uncounted(text string) reply {
	return reply{events: []llm.Event{{Text: text}, {Stop: llm.StopEnd}}}
}

func uncountedCall(name string) reply {
	return reply{events: []llm.Event{{Call: call("", name, `{}`)}, {Stop: llm.StopCalls}}}
}

func notices(steps []Step) (texts []string) {
	for _, s := range steps {
		if s.Notice != "" {
			texts = append(texts, s.Notice)
		}
	}
	return texts
}

// A conversation that fills its window is shortened: a summary, what is carried, and the last turns word for word.
func TestShortened(t *testing.T) {
	m := scripted(t, uncountedCall("long"), uncounted("first answer"), uncountedCall("long"), uncounted("second answer"),
		uncountedCall("long"), uncounted("SUMMARY"), uncounted("third answer"))
	c := New(&Options{Model: m, Tools: executor(t, long()), System: "sys", Window: 3500,
		Carry: func(context.Context) string { return "ACTIVE SKILL" }})
	for _, prompt := range []string{"one", "two"} {
		if _, _, err := collect(t, c, t.Context(), prompt); err != nil {
			t.Fatal(err)
		}
	}
	steps, a, err := collect(t, c, t.Context(), "three")
	if err != nil || a.Text != "third answer" || a.Turns != 2 {
		t.Fatalf("got %+v, %v", a, err)
	}
	if got := notices(steps); len(got) != 1 || !strings.HasPrefix(got[0], "conversation shortened from about 3") || !strings.HasSuffix(got[0], " tokens: 9 messages became a summary") {
		t.Errorf("notices: %q", got)
	}
	sent := m.asked[6]
	for _, want := range []string{"SUMMARY", "ACTIVE SKILL", `three"`, `"long"`} {
		if !strings.Contains(sent, want) {
			t.Errorf("the shortened conversation lacks %s", want)
		}
	}
	if strings.Contains(sent, "first answer") || len(sent) > 6000 {
		t.Errorf("the shortened conversation has %d bytes: %.2000s", len(sent), sent)
	}
	ask := m.asked[5]
	if !strings.Contains(ask, "Call of long: {}") || !strings.Contains(ask, "User: one") || strings.Contains(ask, `"tools"`) || strings.Contains(ask, "sys\"") {
		t.Errorf("the summary was asked for with %.1000s", ask)
	}
}

// A model that cannot summarise is no reason to stop: a digest does.
func TestDigest(t *testing.T) {
	for name, r := range map[string]reply{
		"fails":   {err: overloaded()},
		"refuses": {events: []llm.Event{{Text: "no"}, {Stop: llm.StopRefused}}},
		"silent":  {events: []llm.Event{{Stop: llm.StopEnd}}},
	} {
		t.Run(name, func(t *testing.T) {
			more := "\n" + strings.Repeat("and so on ", 200)
			m := scripted(t, uncounted("first answer\nwith more"), uncounted("second"), uncounted("third"), r, uncounted("fourth"),
				uncounted("fifth"), r, uncounted("sixth"))
			c := New(&Options{Model: m})
			for _, prompt := range []string{"one" + more, "two" + more, "three"} {
				if _, _, err := collect(t, c, t.Context(), prompt); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := c.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			text := c.Messages()[0].Parts[0].Text
			if !strings.Contains(text, "User: one\nAssistant: first answer\nUser: two\n") {
				t.Errorf("digest: %s", text)
			}
			for _, prompt := range []string{"four" + more, "five"} {
				if _, _, err := collect(t, c, t.Context(), prompt); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := c.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			text = c.Messages()[0].Parts[0].Text
			if !strings.Contains(text, "User: one\n") || strings.Count(text, "No summary could") != 1 || !strings.Contains(text, "User: three") || strings.Count(text, "left out to save room") != 1 {
				t.Errorf("digest of a digest: %s", text)
			}
		})
	}
}

// A provider that finds the conversation too long is asked once more with a shorter one.
// What a user writes is kept, also if it begins as a summary does.
func TestOwnWordsAreNotASummary(t *testing.T) {
	said := func(texts ...string) llm.Message {
		m := llm.Message{Role: llm.User}
		for _, text := range texts {
			m.Parts = append(m.Parts, llm.Part{Text: text})
		}
		return m
	}
	for name, write := range map[string]func([]llm.Message) string{"transcript": transcript, "digest": digest} {
		text := write([]llm.Message{said(summaryLead+"FACTS", carryLead+"RULES", promptLead+"first"), said(carryLead + "mine")})
		if !strings.Contains(text, "FACTS") || strings.Contains(text, "RULES") || !strings.Contains(text, "What stays in force:") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestTooLong(t *testing.T) {
	tooLong := reply{err: &llm.Error{Kind: llm.TooLong, Message: "prompt is too long"}}
	m := scripted(t, uncountedCall("long"), uncounted("first"), tooLong, uncounted("SUMMARY"), uncounted("second"))
	c := New(&Options{Model: m, Tools: executor(t, long())})
	if _, _, err := collect(t, c, t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	steps, a, err := collect(t, c, t.Context(), "two")
	if err != nil || a.Text != "second" || len(notices(steps)) != 1 {
		t.Fatalf("got %+v, %v, %q", a, err, notices(steps))
	}
	if c.o.Window > 1500 {
		t.Errorf("the window is still %d", c.o.Window)
	}

	// twice too long is an error
	m = scripted(t, uncountedCall("long"), uncountedCall("long"), uncountedCall("long"), tooLong, uncounted("SUMMARY"), tooLong)
	c = New(&Options{Model: m, Tools: executor(t, long())})
	if _, a, err = collect(t, c, t.Context(), "one"); err == nil || a.Stop != Failed || len(m.asked) != 6 {
		t.Errorf("got %+v, %v after %d requests", a, err, len(m.asked))
	}

	// a prompt that is itself too long does not stay
	m = scripted(t, uncounted("first"), tooLong)
	c = New(&Options{Model: m})
	if _, _, err := collect(t, c, t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if _, a, err = collect(t, c, t.Context(), strings.Repeat("x", 100_000)); err == nil || a.Stop != Failed {
		t.Fatalf("got %+v, %v", a, err)
	}
	if c.Size() > 100 {
		t.Errorf("the prompt stayed: %d tokens", c.Size())
	}
}

// Results that alone fill the window are cut, or the conversation would be stuck.
func TestTooLongByOneResult(t *testing.T) {
	tooLong := reply{err: &llm.Error{Kind: llm.TooLong, Message: "prompt is too long"}}
	m := scripted(t, uncountedCall("long"), tooLong, uncounted("done"))
	c := New(&Options{Model: m, Tools: executor(t, long())})
	_, a, err := collect(t, c, t.Context(), "one")
	if err != nil || a.Text != "done" {
		t.Fatalf("got %+v, %v", a, err)
	}
	if n := len(m.asked[2]); n > len(m.asked[1])*2/3 {
		t.Errorf("sent again with %d bytes, after %d", n, len(m.asked[1]))
	}
}

// In the middle of one long turn the request stays, word for word.
func TestShortenedWithinATurn(t *testing.T) {
	var replies []reply
	for range 3 {
		replies = append(replies, uncountedCall("long"))
	}
	replies = append(replies, uncounted("SUMMARY"), uncountedCall("long"), uncountedCall("long"), uncounted("SUMMARY 2"), uncounted("done"))
	m := scripted(t, replies...)
	c := New(&Options{Model: m, Tools: executor(t, long()), Window: 3500, Carry: func(context.Context) string { return "CARRIED" }})
	_, a, err := collect(t, c, t.Context(), "the request itself")
	if err != nil || a.Text != "done" || a.Turns != 6 {
		t.Fatalf("got %+v, %v", a, err)
	}
	for _, n := range []int{4, 7} {
		for _, want := range []string{"the request itself", "word for word:", "CARRIED", "SUMMARY"} {
			if strings.Count(m.asked[n], want) != 1 {
				t.Errorf("request %d does not have %q once: %.3000s", n, want, m.asked[n])
			}
		}
	}
	if strings.Contains(m.asked[6], "CARRIED") || !strings.Contains(m.asked[6], "SUMMARY") {
		t.Errorf("the second summary was asked for with %.3000s", m.asked[6])
	}
}

func TestCompact(t *testing.T) {
	m := scripted(t, says("a1"), says("a2"), says("a3"), says("SUMMARY"), says("a4"))
	c := New(&Options{Model: m})
	if _, err := c.Compact(t.Context()); !errors.Is(err, ErrShort) {
		t.Errorf("an empty conversation: %v", err)
	}
	for i := range 3 {
		if _, _, err := collect(t, c, t.Context(), strings.Repeat(fmt.Sprint("q", i), 200)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := c.Usage().Input; got != 40 {
		t.Errorf("got %d tokens of input, want 40", got)
	}
	if _, a, err := collect(t, c, t.Context(), "q4"); err != nil || a.Text != "a4" {
		t.Errorf("got %+v, %v", a, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := len(c.Messages())
	if _, err := c.Compact(ctx); !errors.Is(err, context.Canceled) || len(c.Messages()) != before {
		t.Errorf("cancelled: %v", err)
	}
}

// Compact shortens a conversation whatever the sizes of the window and of the system text, if there is something to leave out. It does not
// shorten a summary again.
func TestCompactByHand(t *testing.T) {
	for name, tt := range map[string]struct {
		system  string
		prompts []string
		wrong   error
	}{
		"a long system text":   {strings.Repeat("system ", 5000), []string{strings.Repeat("one ", 100), strings.Repeat("two ", 100), "three"}, nil},
		"one long prompt":      {"", []string{strings.Repeat("word ", 5000)}, nil},
		"one prompt":           {"", []string{strings.Repeat("word ", 1000)}, ErrShort},
		"nothing to leave out": {"", []string{"one", "two"}, ErrShort},
	} {
		t.Run(name, func(t *testing.T) {
			replies := []reply{}
			for range tt.prompts {
				replies = append(replies, says("a"))
			}
			m := scripted(t, append(replies, says("SUMMARY"), says("ANOTHER"))...)
			c := New(&Options{Model: m, Window: 1_000_000, System: tt.system})
			for _, prompt := range tt.prompts {
				if _, _, err := collect(t, c, t.Context(), prompt); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := c.Compact(t.Context()); !errors.Is(err, tt.wrong) {
				t.Errorf("got %v", err)
			}
			asked := len(m.asked)
			if _, err := c.Compact(t.Context()); !errors.Is(err, ErrShort) || tt.wrong == nil && len(m.asked) > asked {
				t.Errorf("again: %v, after %d requests", err, len(m.asked)-asked)
			}
		})
	}
}

// Issue 9 P15: a conversation that a summary would make longer stays unchanged.
func TestCompactNeverGrows(t *testing.T) {
	m := scripted(t, says("a1"), says("a2"), says("a3"), says(strings.Repeat("SUMMARY ", 100)))
	c := New(&Options{Model: m})
	for i := range 3 {
		if _, _, err := collect(t, c, t.Context(), fmt.Sprint("q", i)); err != nil {
			t.Fatal(err)
		}
	}
	before, size := len(c.Messages()), c.Size()
	if _, err := c.Compact(t.Context()); !errors.Is(err, ErrShort) || len(c.Messages()) != before || c.Size() != size {
		t.Errorf("got %v, %d messages, %d tokens; want ErrShort, %d, %d", err, len(c.Messages()), c.Size(), before, size)
	}
}

// A context that ends while what is carried is gathered shortens nothing: half of it would stay for good.
func TestContextEndsDuringCarry(t *testing.T) {
	m := scripted(t, says("a1"), says("a2"), says("a3"), says("SUMMARY"))
	ctx, cancel := context.WithCancel(t.Context())
	c := New(&Options{Model: m, Carry: func(context.Context) string { cancel(); return "one skill of two" }})
	for i := range 3 {
		if _, _, err := collect(t, c, t.Context(), strings.Repeat(fmt.Sprint("q", i), 200)); err != nil {
			t.Fatal(err)
		}
	}
	before := len(c.Messages())
	if _, err := c.Compact(ctx); !errors.Is(err, context.Canceled) || len(c.Messages()) != before {
		t.Errorf("%v, %d messages, want %d", err, len(c.Messages()), before)
	}
}

// Shortening costs tokens too: where the bound does not allow a summary, a digest does.
func TestSummaryWithinTokens(t *testing.T) {
	m := scripted(t, uncountedCall("long"), uncountedCall("long"), uncountedCall("long"), uncounted("done"))
	c := New(&Options{Model: m, Tools: executor(t, long()), Window: 3500, MaxTokens: 8000})
	_, a, err := collect(t, c, t.Context(), "one")
	if err != nil || a.Stop != End || a.Turns != 4 {
		t.Fatalf("got %+v, %v", a, err)
	}
	if !strings.Contains(m.asked[3], "No summary could be made") {
		t.Errorf("sent %.2000s", m.asked[3])
	}
}

// The answer before the present prompt stays, even where the turn that it belongs to does not.
func TestLastAnswerStays(t *testing.T) {
	m := scripted(t, uncountedCall("long"), uncounted("first"), uncountedCall("long"), uncounted("THE LAST WORD"),
		uncounted("SUMMARY"), uncounted("third"))
	c := New(&Options{Model: m, Tools: executor(t, long()), Window: 2500})
	for _, prompt := range []string{"one", "two", "three"} {
		if _, _, err := collect(t, c, t.Context(), prompt); err != nil {
			t.Fatal(err)
		}
	}
	if sent := m.asked[5]; !strings.Contains(sent, "SUMMARY") || !strings.Contains(sent, "THE LAST WORD") {
		t.Errorf("sent %.3000s", sent)
	}
}

// What a summary cannot make smaller is not summarised again and again.
func TestNotWorthASummary(t *testing.T) {
	m := scripted(t, uncounted("a"), uncounted("b"), uncounted("c"))
	c := New(&Options{Model: m, System: strings.Repeat("x", 16_000), Window: 4000})
	for range 3 {
		steps, _, err := collect(t, c, t.Context(), "go")
		if err != nil || len(notices(steps)) > 0 {
			t.Errorf("got %v, %q", err, notices(steps))
		}
	}
}

// A reader that breaks off at the notice is asked for no more requests.
func TestBreakAtShortening(t *testing.T) {
	m := scripted(t, uncountedCall("long"), uncountedCall("long"), uncountedCall("long"), uncounted("SUMMARY"))
	c := New(&Options{Model: m, Tools: executor(t, long()), Window: 3500})
	for s := range c.Ask(t.Context(), "go") {
		if s.Notice != "" {
			break
		}
	}
	if got := len(m.asked); got != 4 {
		t.Errorf("got %d requests, want 4", got)
	}
}

// A text from Options.Continue is not a request of the user: the request that the turn works on stays as it is.
func TestRequestStays(t *testing.T) {
	m := scripted(t, uncounted("done?"), uncountedCall("long"), uncountedCall("long"), uncountedCall("long"), uncounted("SUMMARY"), uncounted("done"))
	c := New(&Options{Model: m, Tools: executor(t, long()), Window: 3500, Continue: func(_ context.Context, before int) string {
		return []string{"RUN THE TESTS FIRST", ""}[before]
	}})
	if _, _, err := collect(t, c, t.Context(), "the request itself"); err != nil {
		t.Fatal(err)
	}
	if sent := m.asked[5]; !strings.Contains(sent, `word for word:\n\nthe request itself"`) {
		t.Errorf("sent %.3000s", sent)
	}
}

// The line for the user says when no summary was made, and that results were cut.
func TestLost(t *testing.T) {
	m := scripted(t, uncountedCall("long"), uncountedCall("long"), uncountedCall("long"), reply{err: overloaded()}, uncounted("done"))
	steps, _, err := collect(t, New(&Options{Model: m, Tools: executor(t, long()), Window: 3500}), t.Context(), "go")
	if got := notices(steps); err != nil || len(got) != 1 || !strings.HasSuffix(got[0], ": 5 messages became their first lines, because the model made no summary") {
		t.Errorf("%q, %v", got, err)
	}
	m = scripted(t, uncountedCall("long"), reply{err: &llm.Error{Kind: llm.TooLong, Message: "prompt is too long"}}, uncounted("done"))
	steps, _, err = collect(t, New(&Options{Model: m, Tools: executor(t, long())}), t.Context(), "one")
	if got := notices(steps); err != nil || len(got) != 1 || !strings.HasSuffix(got[0], " tokens: results of calls that were cut: 1") {
		t.Errorf("%q, %v", got, err)
	}
}
