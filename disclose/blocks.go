package disclose

import (
	"fmt"
	"slices"
	"strings"
)

// Block names a paragraph of a system prompt about working with skills. Many models need none, because the tools describe
// themselves.
type Block string

// The blocks, in their order in a prompt.
const (
	Navigation Block = "navigation" // what an activation returns, and how to use it
	Paths      Block = "paths"      // what a path in the instructions means, by example
	Execution  Block = "execution"  // scripts are run, never read, with a right and a wrong call
	Calls      Block = "calls"      // the arguments of each tool, for models that get them wrong
)

// BlockOptions selects blocks and the tools that they mention. The zero value suits most models, for an agent with the
// engine's own five tools.
type BlockOptions struct {
	Blocks []Block  // nil means Navigation and Execution; empty means none; the order is the constants'
	Tools  []string // names of the model's tools; nil means the engine's five; no other tool is mentioned
}

// Blocks returns the names of all blocks.
func Blocks() []Block { return []Block{Navigation, Paths, Execution, Calls} }

// renderBlocks renders the blocks with an empty line between them. The same options give the same bytes: no block mentions a
// skill, a vendor or a machine. It returns an error for an unknown block.
func renderBlocks(o *BlockOptions) (Text, error) {
	if o == nil {
		o = &BlockOptions{}
	}
	wanted := o.Blocks
	if wanted == nil {
		wanted = []Block{Navigation, Execution}
	}
	for _, b := range wanted {
		if !slices.Contains(Blocks(), b) {
			return Text{}, fmt.Errorf("unknown block %q, use one of %v", b, Blocks())
		}
	}
	has := toolsOf(o.Tools)
	var parts []string
	for _, b := range Blocks() {
		if slices.Contains(wanted, b) {
			parts = append(parts, has.block(b))
		}
	}
	body := Join(parts...)
	return Text{Body: body, Tokens: Tokens(body)}, nil
}

// Join joins the parts of a prompt with an empty line between them. Empty parts are left out.
func Join(parts ...string) string {
	parts = slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" })
	return strings.Join(parts, "\n\n")
}

// toolbox holds which tools a model has.
type toolbox struct{ skillRead, scriptRun, readFile, bash bool }

func toolsOf(names []string) toolbox {
	if names == nil {
		return toolbox{skillRead: true, scriptRun: true}
	}
	has := func(name string) bool { return slices.Contains(names, name) }
	return toolbox{skillRead: has("skill_read"), scriptRun: has("script_run"), readFile: has("read_file"), bash: has("bash")}
}

// lines is a block under construction.
type lines []string

// when adds a line if it holds.
func (l *lines) when(holds bool, line string) {
	if holds {
		*l = append(*l, line)
	}
}

func (t toolbox) block(b Block) string {
	switch b {
	case Navigation:
		return t.navigation()
	case Paths:
		return t.paths()
	case Execution:
		return t.execution()
	}
	return t.calls()
}

func (t toolbox) navigation() string {
	l := lines{
		"## Skill Navigation Instructions",
		"The tool skill gives you skill_name, base_path (the skill's folder) and content (its instructions). Follow content step by step.",
	}
	l.when(t.skillRead, "- A file it refers to: skill_read with its path, when you need it and not before.")
	l.when(!t.skillRead && t.readFile, `- A file it refers to: read_file with file_path "{base_path}/x.md", when you need it and not before.`)
	l.when(t.scriptRun, "- A script: script_help for its options, then script_run. You see its output only.")
	l.when(!t.scriptRun && t.bash, `- A script: bash with command "cd {base_path} && python scripts/x.py". You see its output only.`)
	l.when(!t.scriptRun && !t.bash, "- A script: you cannot run one here. Tell the user the command.")
	l = append(l, "- Relative paths begin at base_path. Absolute paths and URLs stay as they are.")
	return strings.Join(l, "\n")
}

func (t toolbox) paths() string {
	l := lines{
		"## Path Resolution for Skills",
		`Say base_path is "/skills/demo". Then read paths in the instructions like this:`,
		`1. "/etc/hosts" is absolute: use it unchanged.`,
		`2. "https://example.org/x" is a URL: use it unchanged.`,
		`3. "docs/a.md" is relative: it is "/skills/demo/docs/a.md".`,
	}
	l.when(t.skillRead, `   skill_read takes path "docs/a.md".`)
	l.when(t.readFile, `   read_file takes file_path "/skills/demo/docs/a.md".`)
	l.when(t.scriptRun || t.bash, "Give a script the user's files as absolute paths.")
	return strings.Join(l, "\n")
}

func (t toolbox) execution() string {
	l := lines{
		"## Script Execution",
		"NEVER read a script, run it: its text would cost thousands of tokens, its output costs few.",
	}
	l.when(t.scriptRun, `Right: script_run {"skill_name": "demo", "script_name": "check", "args": ["/data/in.csv"]}`)
	l.when(!t.scriptRun && t.bash, `Right: bash {"command": "cd /skills/demo && python scripts/check.py /data/in.csv"}`)
	l.when(t.readFile, `Wrong: read_file {"file_path": "/skills/demo/scripts/check.py"}`)
	l.when(!t.readFile && t.skillRead, `Wrong: skill_read {"skill_name": "demo", "path": "scripts/check.py"}`)
	l.when(t.scriptRun, "A command in the instructions, such as `python scripts/check.py`, means such a call.")
	return strings.Join(l, "\n")
}

func (t toolbox) calls() string {
	l := lines{
		"## Tool Call Format",
		"Call a tool through the tool interface, never by writing the call into your answer. Arguments are one JSON object with exactly these names:",
		`- skill {"skill_name": "demo", "args": "what for"}`,
	}
	l.when(t.skillRead, `- skill_read {"skill_name": "demo", "path": "docs/a.md"}`)
	l.when(t.scriptRun, `- script_run {"skill_name": "demo", "script_name": "check", "args": ["--limit", "5"]}`)
	l.when(t.readFile, `- read_file {"file_path": "/absolute/path.md"}`)
	l.when(t.bash, `- bash {"command": "cd /skills/demo && ls"}`)
	return strings.Join(l, "\n")
}
