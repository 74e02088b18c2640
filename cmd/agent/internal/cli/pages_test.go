package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notRun is how many blocks of commands of each page are not run. A comment before each says why. It may only become less.
var notRun = map[string]int{"README.md": 2, "docs/fleet.md": 4, "docs/mcp.md": 1, "docs/others.md": 1, "docs/performance.md": 1, "docs/serving.md": 3}

// notTyped are the commands of docs/cli.md that are not run, with the reason. They may only become fewer.
var notTyped = map[string]string{
	"agent audit tail --follow":                   "goes on until it is ended",
	"agent audit tail --follow --denied":          "goes on until it is ended",
	"agent audit tail -f -n 0 --json | jq .event": "goes on until it is ended",
	"source <(agent completion bash)":             "is for bash",
	"agent policy check policy.yaml && sudo install -m 644 policy.yaml /etc/agent/policy.yaml": "needs root",
	"agent serve":                                   "serves until it is ended",
	"agent serve --project ~/src/site":              "serves until it is ended",
	"agent serve --http 127.0.0.1:8080":             "serves until it is ended",
	"agent serve --http 127.0.0.1:8080 --workers 4": "serves until it is ended",
	"agent worker --server tls://10.0.0.1:4222 --ca ca.crt --creds w1.creds --signers signer.pub": "needs a cluster",
	"agent worker":                     "works until it is ended",
	"agent worker --at-once 2":         "works until it is ended",
	"agent worker --dir ~/.agent/node": "works until it is ended",
	"agent acp":                        "speaks with an editor",
	"agent acp --model anthropic/claude-sonnet-5-5 --mode accept-edits":             "speaks with an editor",
	"agent acp --project ~/src/site             # sessions about this project only": "speaks with an editor",
	"agent mcp login linear --no-browser":                                           "waits for a browser elsewhere",
	"claude mcp add skills -- agent serve":                                          "is a program of others",
	"codex mcp add skills -- agent serve":                                           "is a program of others",
}

// tags are the languages of blocks. Those of commands are sh and console, which has the output too.
var tags = strings.Fields("sh console text json yaml go python typescript markdown ini dockerfile")

// TestPageBlocks says that no block of commands is left out without a reason.
func TestPageBlocks(t *testing.T) {
	run := ""
	scripts, err := filepath.Glob("testdata/pages/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		run += string(readFile(t, name))
	}
	for command := range notTyped {
		if !strings.Contains(string(readFile(t, root+"/docs/cli.md")), "\n"+command) {
			t.Errorf("docs/cli.md has no %q: remove it from notTyped", command)
		}
	}
	for _, page := range pages(t) {
		left, commands := 0, 0
		for _, b := range blocksOf(string(readFile(t, filepath.Join(root, page)))) {
			switch {
			case !slices.Contains(tags, b.tag):
				t.Errorf("%s:%d: a block has the language %q, want one of %q", page, b.line, b.tag, tags)
			case !b.hasCommands():
			case b.runs():
				commands++
			default:
				left++
			}
		}
		if left != notRun[page] {
			t.Errorf("%s: %d blocks of commands are not run, notRun has %d", page, left, notRun[page])
		}
		if commands > 0 && !strings.Contains(run, " "+page) {
			t.Errorf("%s: no script of testdata/pages runs its %d blocks", page, commands)
		}
	}
}

// root is the module's, seen from this package.
const root = "../../../.."

// pages returns the paths of README and of the pages of docs.
func pages(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(root + "/docs/*.md")
	if err != nil || len(list) == 0 {
		t.Fatalf("%d pages, %v", len(list), err)
	}
	out := []string{"README.md"}
	for _, name := range list {
		out = append(out, "docs/"+filepath.Base(name))
	}
	return out
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// block is a block of a page: what stands between two fences.
type block struct {
	tag    string
	line   int // of its first line in the page
	text   string
	reason string // why it is not run
}

// A reason stands in a comment before the block.
var reason = regexp.MustCompile(`^<!-- not run: (.+) -->$`)

func blocksOf(page string) (out []block) {
	var b *block
	before := ""
	for i, line := range strings.Split(page, "\n") {
		tag, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && b == nil:
			b = &block{tag: tag, line: i + 2}
			if m := reason.FindStringSubmatch(before); m != nil {
				b.reason = m[1]
			}
		case fence:
			out = append(out, *b)
			b = nil
		case b != nil:
			b.text += line + "\n"
		}
		before = line
	}
	return out
}

// commandLine matches a line that somebody would type.
var commandLine = regexp.MustCompile(`(?m)^(\$ |agent( |$)|sudo |sh |go (run|test|build|install) )`)

func (b block) hasCommands() bool {
	return b.tag == "sh" || b.tag == "console" || b.tag == "text" && commandLine.MatchString(b.text)
}

func (b block) runs() bool { return b.reason == "" && (b.tag == "sh" || b.tag == "console") }
