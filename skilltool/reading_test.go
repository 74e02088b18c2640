package skilltool

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/tool"
)

// What two readers can see differently reaches neither a check nor a tool, by whichever way a tool of a toolset is called; what
// passes is the same text for both.
func TestGuardAndToolReadTheSame(t *testing.T) {
	f := newFake()
	f.known["twin"] = true
	c := converse(t, f, toolsetFiles(""), session.Options{}, nil)
	c.call("skill", `{"skill_name":"twin"}`)
	c.more()
	checked := ""
	c.exec.Check = func(ctx context.Context, name string, args json.RawMessage) error {
		checked += name + string(args)
		return c.kit.Check(ctx, name, args)
	}
	for _, tt := range []struct{ tool, args, reached string }{
		{"wave", `{"name":"a","name":"b"}`, ""},
		{"wave", `{"to":[{"name":"a","n\u0061me":"b"}]}`, ""},
		{"toolset_call", `{"skill_name":"twin","tool_name":"wave","args":{"name":"a","name":"b"}}`, ""},
		{"toolset_call", `{"skill_name":"twin","tool_name":"wave","args":"{\"name\":\"a\",\"name\":\"b\"}"}`, ""},
		{"toolset_call", `{"skill_name":"twin","tool_name":"wave","args":"{\"name\":\"a\"} {}"}`, ""},
		{"toolset_call", `{"skill_name":"twin","tool_name":"wave","tool_name":"greet"}`, ""},
		{"toolset_call", `{"skill_name":"twin","tool_name":"wave","args":"{\"name\":\"a\"}"}`, `{"name":"a"}`},
		{"toolset_call", `{"skill_name":"twin","tool_name":"wave","args":null}`, `{}`},
		{"wave", `{"name":"a","Name":"b"}`, `{"name":"a","Name":"b"}`},
		{"wave", `null`, `{}`},
	} {
		f.called, checked = nil, ""
		r := c.call(tt.tool, tt.args)
		want, seen := "[]", ""
		if tt.reached != "" {
			want, seen = "[twin.Twin.wave"+tt.reached+"]", "twin.Twin.wave"+tt.reached
		}
		if got := fmt.Sprint(f.called); got != want || checked != seen || r.Success != (tt.reached != "") || !r.Success && r.Reason != tool.ReasonArguments {
			t.Errorf("%s %s: %s; called %s, checked %s", tt.tool, tt.args, r.Encode(), got, checked)
		}
	}
}
