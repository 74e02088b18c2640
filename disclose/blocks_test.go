package disclose

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/tokentest"
)

// everyTool is what the agent has: the engine's five and its own two that blocks speak of.
var everyTool = []string{"skill", "skill_read", "script_list", "script_help", "script_run", "read_file", "bash"}

func prompt(t testing.TB, o *BlockOptions) Text {
	t.Helper()
	text, err := renderBlocks(o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// R181, R95, R112, C53: the rules that each block states, for each set of tools.
func TestBlocksStateTheirRules(t *testing.T) {
	shell := []string{"skill", "read_file", "bash"}
	rows := []struct {
		name   string
		block  Block
		tools  []string
		want   []string
		absent []string
	}{
		{"what an activation gives", Navigation, nil, []string{"skill_name", "base_path", "content", "skill_read", "script_help", "then script_run", "output only", "Relative paths begin at base_path", "URLs stay"}, []string{"bash", "read_file"}},
		{"with a shell alone", Navigation, shell, []string{`read_file with file_path "{base_path}/x.md"`, `bash with command "cd {base_path} && python scripts/x.py"`}, []string{"script_run", "skill_read"}},
		{"with both, scripts go through script_run", Navigation, everyTool, []string{"script_run"}, []string{"bash"}},
		{"nothing that runs", Navigation, []string{"skill"}, []string{"cannot run one here"}, []string{"bash", "script_run", "read_file"}},
		{"three kinds of paths in order", Paths, everyTool, []string{"1. \"/etc/hosts\" is absolute", "2. \"https://example.org/x\" is a URL", "3. \"docs/a.md\" is relative", `"/skills/demo/docs/a.md"`, `read_file takes file_path "/skills/demo/docs/a.md"`, `skill_read takes path "docs/a.md"`, "absolute paths"}, nil},
		{"paths without read_file", Paths, nil, []string{"skill_read"}, []string{"read_file", "file_path"}},
		{"never read scripts", Execution, everyTool, []string{"NEVER read a script", "Right: script_run", "Wrong: read_file", "scripts/check.py"}, nil},
		{"never read scripts, five tools", Execution, nil, []string{"Right: script_run", "Wrong: skill_read"}, []string{"bash", "read_file"}},
		{"the form with cd where script_run is not", Execution, shell, []string{`Right: bash {"command": "cd /skills/demo && python scripts/check.py /data/in.csv"}`}, []string{"script_run"}},
		{"names of arguments", Calls, everyTool, []string{`skill {"skill_name":`, `read_file {"file_path":`, `bash {"command":`, `script_run {"skill_name": "demo", "script_name":`, "never by writing the call"}, nil},
		{"names of the tools that are there", Calls, nil, []string{"skill_read"}, []string{"bash", "read_file"}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			body := prompt(t, &BlockOptions{Blocks: []Block{r.block}, Tools: r.tools}).Body
			for _, want := range r.want {
				if !strings.Contains(body, want) {
					t.Errorf("no %q in:\n%s", want, body)
				}
			}
			for _, absent := range r.absent {
				if strings.Contains(body, absent) {
					t.Errorf("%q in:\n%s", absent, body)
				}
			}
		})
	}
}

// R181: each block can be switched on alone, stands after an empty line, and is short.
func TestBlocksAreSwitchable(t *testing.T) {
	count := tokentest.Counter(t)
	for _, tools := range [][]string{nil, everyTool} {
		for _, b := range Blocks() {
			text := prompt(t, &BlockOptions{Blocks: []Block{b}, Tools: tools})
			real := count(text.Body)
			t.Logf("%s with %d tools: %d tokens estimated, %d counted", b, len(tools), text.Tokens, real)
			if strings.Count(text.Body, "## ") != 1 || text.Tokens > 135 || real > 120 {
				t.Errorf("%s: %d tokens, want one block of at most 135, 120 counted:\n%s", b, text.Tokens, text.Body)
			}
		}
	}
	all := prompt(t, &BlockOptions{Blocks: []Block{Calls, Execution, Navigation, Paths}, Tools: everyTool})
	golden(t, "blocks.txt", all.Body+"\n") // the bytes are part of a cached prefix
	if got := prompt(t, nil).Body; strings.Contains(got, "## Tool Call Format") || strings.Count(got, "## ") != 2 {
		t.Errorf("by default:\n%s", got)
	}
	if got := prompt(t, &BlockOptions{Blocks: []Block{}}); got.Body != "" || got.Tokens != 0 {
		t.Errorf("none: got %q", got.Body)
	}
	if got, want := Join("You are an agent.", "", all.Body), "You are an agent.\n\n## Skill Navigation"; !strings.HasPrefix(got, want) {
		t.Errorf("appended: got %.60q, want %q", got, want)
	}
	if _, err := renderBlocks(&BlockOptions{Blocks: []Block{"magic"}}); err == nil || !strings.Contains(err.Error(), `"magic"`) {
		t.Errorf("unknown block: got %v", err)
	}
}
