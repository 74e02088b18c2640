package todo

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/tool"
)

func write(t *testing.T, l *List, args string) tool.Result {
	t.Helper()
	own := l.Tool()
	return own.Call(t.Context(), json.RawMessage(args))
}

func TestWrite(t *testing.T) {
	var l List
	if l.Text() != "" || string(l.JSON()) != "[]" {
		t.Errorf("an empty list reads %q, %s", l.Text(), l.JSON())
	}
	r := write(t, &l, `{"items":[{"text":"Read","state":"completed"},{"text":"Write","state":"in_progress"},{"text":"Test","state":"pending"}]}`)
	if !r.Success || r.Message != "1 of 3 done" {
		t.Fatalf("%+v", r)
	}
	if want := "\n[x] Read\n[>] Write\n[ ] Test"; !strings.HasSuffix(l.Text(), want) {
		t.Errorf("got %q, want it to end in %q", l.Text(), want)
	}
	var other List
	other.Set(Read(l.JSON()))
	if other.Text() != l.Text() {
		t.Errorf("read again: %q", other.Text())
	}
	if r := write(t, &l, `{"items":[]}`); !r.Success || len(l.Items()) != 0 {
		t.Errorf("removed: %+v, %v", r, l.Items())
	}
}

// A list that passes a bound, or is none, is refused whole; the one before it stays.
func TestRefused(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(`{"text":"x","state":"pending"},`, 10_000), ",")
	for args, want := range map[string]string{
		`{"items":[` + many + `]}`: "items has 10000 entries, the limit is 100",
		fmt.Sprintf(`{"items":[{"text":%q,"state":"pending"}]}`, strings.Repeat("é", 501)): "items[0] has 501 characters, the limit is 500",
		`{"items":[{"text":" ","state":"pending"}]}`:                                       "items[0] has no text",
		`{"items":[{"text":"x","state":"started"}]}`:                                       "write pending, in_progress or completed",
		`{"items":"x"}`: "arguments do not fit",
	} {
		var l List
		write(t, &l, `{"items":[{"text":"stays","state":"pending"}]}`)
		r := write(t, &l, args)
		if r.Success || !strings.Contains(r.Message, want) {
			t.Errorf("%.60s: %+v, want %q", args, r, want)
		}
		if items := l.Items(); len(items) != 1 || items[0].Text != "stays" {
			t.Errorf("%.60s: the list is %v", args, items)
		}
		if (r.Error == tool.ArgsTooLarge) != strings.Contains(want, "limit") {
			t.Errorf("%.60s: code %s", args, r.Error)
		}
	}
	for _, src := range []string{"", "null", `{"redacted":true}`, "[" + many + "]", `[{"text":"x","state":"odd"}]`} {
		if items := Read(json.RawMessage(src)); len(items) > 0 {
			t.Errorf("%.60s was read as %d items", src, len(items))
		}
	}
}

func TestBrief(t *testing.T) {
	for args, want := range map[string]string{
		`{"items":[{"text":"a","state":"completed"},{"text":"b","state":"in_progress"}]}`: "1 of 2: b",
		`{"items":[]}`: "0 of 0",
		`{"items":1}`:  "",
	} {
		if got := Brief(json.RawMessage(args)); got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}
