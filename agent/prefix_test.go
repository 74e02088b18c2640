package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/tool"
)

// What was sent once is sent again with the same bytes, so the providers' caches hold: the prefix always, and the
// messages until the conversation is shortened. The text of a turn stands in the message of its turn and stays there.
func TestBytesDoNotChange(t *testing.T) {
	m := scripted(t, calls(call("a", "echo", `{"b":1, "a":"<&>"}`), call("b", "echo", `{}`)), says("one"),
		calls(call("", "echo", `{}`)), says("two"), says("three"), says("SUMMARY"), says("four"))
	bare := echo()
	bare.Name, bare.Input = "bare", nil
	theirs := echo()
	e := executor(t, theirs, bare)
	turns := 0
	c := New(&Options{Model: m, Tools: e, System: "sys <b>", Turn: func(_ context.Context, prompt string) string {
		turns++
		return fmt.Sprintf("news %d for %s", turns, prompt)
	}})
	for i := range 3 {
		if i == 1 { // what comes later is not announced
			if err := e.Tools.Add(tool.Tool{Name: "late", Call: echo().Call}); err != nil {
				t.Fatal(err)
			}
			theirs.Input[0] = ' '
		}
		if _, _, err := collect(t, c, t.Context(), fmt.Sprintf("p%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i < len(m.asked); i++ {
		before := strings.TrimSuffix(m.asked[i-1], `]}`)
		if !strings.HasPrefix(m.asked[i], before) {
			t.Errorf("request %d does not begin with the one before:\n%s\n%s", i, before, m.asked[i])
		}
	}
	if want := `{"name":"bare","description":"gives back","input":{"type":"object"}}]`; !strings.Contains(m.asked[0], want) {
		t.Errorf("got %s, want %s in it", m.asked[0], want)
	}
	last := m.asked[len(m.asked)-1]
	for i := range 3 {
		want := fmt.Sprintf(`{"role":"user","parts":[{"text":"news %d for p%d"},{"text":"p%d"}]}`, i+1, i, i)
		if strings.Count(last, want) != 1 {
			t.Errorf("%s does not stand once in %s", want, last)
		}
	}

	if _, err := c.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := collect(t, c, t.Context(), "p3"); err != nil {
		t.Fatal(err)
	}
	if got, want := prefix(t, m.asked[len(m.asked)-1]), prefix(t, m.asked[0]); got != want {
		t.Errorf("the prefix changed when the conversation was shortened:\n%s\n%s", got, want)
	}
}

// Tools that come later stand after those that were sent before, whose bytes stay; they stay when the conversation is
// shortened, and are counted. A taken name is left out, and a tool is called from the request after which it was offered.
func TestToolsAreAdded(t *testing.T) {
	m := scripted(t, calls(call("a", "echo", `{}`)), calls(call("b", "late", `{"x":1}`)), says("one"), says("two"), says("SUMMARY"), says("three"))
	e := executor(t, echo())
	late, clash, never := echo(), echo(), echo()
	late.Name, never.Name, clash.Description = "late", "never", "another"
	asked := 0
	c := New(&Options{Model: m, Tools: e, System: "sys", More: func(context.Context) []tool.Tool {
		if asked++; asked == 2 {
			return []tool.Tool{clash, late}
		}
		return nil
	}})
	before := c.Size()
	for i := range 2 {
		if _, _, err := collect(t, c, t.Context(), strings.Repeat("long prompt ", 200)+fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := collect(t, c, t.Context(), "last"); err != nil {
		t.Fatal(err)
	}
	first := strings.TrimSuffix(prefix(t, m.asked[0]), "]")
	for i, r := range m.asked {
		if i == 4 { // the summary has no tools
			continue
		}
		got := prefix(t, r)
		if !strings.HasPrefix(got, first) {
			t.Errorf("request %d begins with %s, want %s", i, got, first)
		}
		if n := strings.Count(got, `"name":"late"`); n != min(i, 1) || strings.Count(got, `"name"`) != 1+n {
			t.Errorf("request %d has the tools %s", i, got)
		}
	}
	if !strings.Contains(m.asked[2], `"x":1`) || strings.Contains(m.asked[2], "not found") {
		t.Errorf("the tool was not called: %s", m.asked[2])
	}
	if c.Reset() != nil || c.Size() <= before {
		t.Errorf("the size of the prefix was %d and is %d", before, c.Size())
	}
}

// prefix returns the system text and the tools of a request.
func prefix(t *testing.T, request string) string {
	t.Helper()
	var r struct {
		System, Tools json.RawMessage
	}
	if err := json.Unmarshal([]byte(request), &r); err != nil {
		t.Fatal(err)
	}
	return string(r.System) + string(r.Tools)
}
