package chat

import (
	"encoding/json"
	"testing"

	"github.com/agent-base/agent-base/llm"
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
