package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/internal/test/untidy"
	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// Issue 26, done when: a conversation of 60 turns on an untidy machine, on each wire, in a terminal and driven by the Python client. It has
// edits, test runs and questions about hosts, and is shortened on the way. It is killed in the middle of a call and continued by another
// process, and the last change before that is undone. The model gets the same bytes as in a conversation that was not killed. Without
// AGENT_TEST_SIXTY=1 it has 14 turns, on one wire each.
func TestSixtyTurns(t *testing.T) {
	for _, name := range []string{"curl", "git", "python3"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(name + " is missing")
		}
	}
	if os.Getenv("AGENT_TEST_SIXTY") != "1" {
		t.Run("terminal", func(t *testing.T) { newTrial(t, "anthropic/any", 14).inTerminal(true) })
		t.Run("client", func(t *testing.T) { newTrial(t, "openai/any", 14).byClient() })
		return
	}
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			killed, stopped := newTrial(t, wire, 60), newTrial(t, wire, 60)
			killed.inTerminal(true)
			stopped.inTerminal(false)
			killed.sentAs(stopped)
			newTrial(t, wire, 60).byClient()
		})
	}
}

// trial is a conversation in which the model does what the number of a turn says.
type trial struct {
	*world
	server *fakemodel.Server
	turns  int
	killed int           // the turn in which the process is killed
	over   chan struct{} // closed when no process of the command that ran then is left

	mu    sync.Mutex
	asked map[int]int // requests of each turn
}

// round is what turns do, again and again. The turn that is killed begins as an edit.
var round = []string{"talk", "edit", "test", "look", "net", "write"}

func newTrial(t *testing.T, wire string, turns int) *trial {
	t.Helper()
	tr := &trial{turns: turns, killed: turns/2/len(round)*len(round) + 1, asked: map[int]int{}, over: make(chan struct{})}
	tr.server = fakemodel.New(t, fakemodel.Step{From: tr.answer, Forever: true})
	proxy := internet(t)
	dir := filepath.Join(scratch.Dir(t), "all")
	tr.world = worldIn(t, dir, append(tr.server.Env(), "HTTPS_PROXY="+proxy, "HTTP_PROXY="+proxy, "AGENT_MODEL="+wire, "SERVICE_TOKEN="+trialSecret)...)
	m, err := untidy.Make(dir)
	if err != nil {
		t.Fatal(err)
	}
	tr.home, tr.project = m.Home, filepath.Join(m.Work, "work")
	tr.env = append(tr.env, "HOME="+tr.home, "PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+m.Bin)
	tr.repository(dir)
	tr.write("home/.agent/config.yaml", "agent:\n  contextWindow: 6000\n")
	tr.skill("tally", "Counts lines. Use to count lines.", "Count the lines of the file.\n")
	if err := unix.Mkfifo(filepath.Join(tr.project, "hold"), 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = os.ReadFile(filepath.Join(tr.project, "hold")) // until the last process that has opened it ends
		close(tr.over)
	}()
	return tr
}

// trialSecret is what the user has in a variable, and what stands in a file of the project.
const trialSecret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"

// repository makes the project: a linked work tree of a repository with a module, texts for agents, rules of another agent and a secret.
func (tr *trial) repository(dir string) {
	tr.t.Helper()
	tr.remove("work")
	for name, text := range map[string]string{
		"main/notes.md":              "# Notes\n- end\n",
		"main/big.txt":               strings.Repeat("a line of a long file that the model reads now and then\n", 100),
		"main/test.sh":               "grep -c '^- ' notes.md && echo passed\n",
		"main/deploy.txt":            "token: " + trialSecret + "\n",
		"main/secret/key":            "hidden words\n",
		"main/AGENTS.md":             "Speak plainly.\n@docs/rules.md\n",
		"main/docs/rules.md":         "Rules come from an import.\n",
		"main/.claude/settings.json": `{"permissions":{"deny":["Read(secret/**)","Glob([)","Bash(rm -rf:*)"]}}`,
		"module/README":              "a module\n",
	} {
		tr.write(name, text)
	}
	tr.shell(dir, `
		git init -q module && git -C module add . && git -C module commit -qm module
		git init -q main && cd main && git -c protocol.file.allow=always submodule --quiet add ../module module
		git add . && git commit -qm first && git worktree add -q ../work
		cd ../work && git -c protocol.file.allow=always submodule --quiet update --init`)
}

// shell runs a script and returns what it prints.
func (tr *trial) shell(dir, script string) string {
	tr.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = dir, tr.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		tr.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// kind is what a turn does.
func (tr *trial) kind(n int) string {
	switch n {
	case tr.killed:
		return "killed"
	case 3:
		return "skill"
	case 6:
		return "secret"
	}
	return round[n%len(round)]
}

// answer is the next answer of the model.
func (tr *trial) answer(q *fakemodel.Request) fakemodel.Step {
	if strings.HasPrefix(q.System, "You shorten a conversation") {
		return fakemodel.Step{Text: "Summary: the user had notes changed and tested."}
	}
	n := turnOf(q)
	tr.mu.Lock()
	done := tr.asked[n]
	tr.asked[n]++
	tr.mu.Unlock()
	calls := tr.calls(n)
	if done >= len(calls) {
		return fakemodel.Step{Thought: "All of it happened.", Text: fmt.Sprintf("Turn %d is done.", n)}
	}
	c := calls[done]
	c.ID = fmt.Sprintf("t%d_%d", n, done)
	return fakemodel.Step{Thought: "A call comes next.", Calls: []fakemodel.Call{c}}
}

var promptNumber = regexp.MustCompile(`turn (\d+): `)

// turnOf returns the number of the last prompt of a request.
func turnOf(q *fakemodel.Request) int {
	n := 0
	for _, m := range q.Messages {
		if m.Role != "user" {
			continue
		}
		for _, found := range promptNumber.FindAllStringSubmatch(m.Text(), -1) {
			n, _ = strconv.Atoi(found[1])
		}
	}
	return n
}

// calls are the calls of a turn.
func (tr *trial) calls(n int) []fakemodel.Call {
	bash := func(command string, write bool) fakemodel.Call {
		args, _ := json.Marshal(map[string]any{"command": command, "write": write})
		return fakemodel.Call{Name: "bash", Args: string(args)}
	}
	edit := []fakemodel.Call{{Name: "read_file", Args: `{"file_path":"notes.md"}`},
		{Name: "edit_file", Args: fmt.Sprintf(`{"file_path":"notes.md","old_string":"- end\n","new_string":"- turn %d\n- end\n"}`, n)}}
	switch tr.kind(n) {
	case "edit":
		return edit
	case "killed":
		return append(edit, bash("exec 3>hold; printf 'be%s\\n' gun; sleep 600", true))
	case "test":
		return []fakemodel.Call{bash("sh test.sh; git status --short; "+untidy.Tool, false)}
	case "look":
		return []fakemodel.Call{{Name: "read_file", Args: `{"file_path":"big.txt"}`}, {Name: "grep", Args: `{"pattern":"- turn","path":"notes.md"}`}}
	case "net":
		return []fakemodel.Call{bash(fmt.Sprintf("curl -ksS https://docs.example.com/%d", n), false)}
	case "write":
		return []fakemodel.Call{{Name: "write_file", Args: fmt.Sprintf(`{"file_path":"new/%d.txt","content":"of turn %d\n"}`, n, n)}}
	case "skill":
		return []fakemodel.Call{{Name: "skill", Args: `{"skill_name":"tally"}`}}
	case "secret":
		return []fakemodel.Call{{Name: "read_file", Args: `{"file_path":"secret/key"}`}, bash("cat deploy.txt", false)}
	}
	return nil
}

// planned is a turn as the user sees it.
type planned struct {
	Prompt string      `json:"prompt"`
	Asked  [][2]string `json:"asked"` // the beginnings of questions, with their answers
	Kill   bool        `json:"kill"`  // while its last call runs
	Undo   bool        `json:"undo"`  // after it, agent undo
}

// plan is what happens in each turn. What the user allows at the first edit holds until the process is killed.
func (tr *trial) plan(kill bool) []planned {
	var out []planned
	for n := 1; n <= tr.turns; n++ {
		p := planned{Prompt: fmt.Sprintf("turn %d: %s", n, tr.kind(n)), Asked: [][2]string{}, Kill: n == tr.killed, Undo: n == tr.killed+1}
		switch kind := tr.kind(n); {
		case n == 1:
			p.Asked = [][2]string{{`Change "notes.md"?`, "c"}}
		case kind == "edit" && kill && n > tr.killed:
			p.Asked = [][2]string{{`Change "notes.md"?`, "y"}}
		case kind == "write" && kill && n > tr.killed:
			p.Asked = [][2]string{{fmt.Sprintf(`Create "new/%d.txt"?`, n), "y"}}
		case kind == "net":
			p.Asked = [][2]string{{"Let this command reach docs.example.com?", "y"}}
		}
		out = append(out, p)
	}
	return out
}

// inTerminal holds the conversation in terminals. Without kill the user stops the call instead.
func (tr *trial) inTerminal(kill bool) {
	k, p := tr.sitApart("xterm-256color")
	k.until("the input", func() bool { return strings.Contains(k.seen, pasteMode) })
	for n, turn := range tr.plan(kill) {
		k.press(turn.Prompt + "\r")
		if kill && n == tr.killed { // the first prompt of the second process
			turn.Asked = append([][2]string{{"Allow again what you had allowed for this conversation?", "n"}}, turn.Asked...)
		}
		for _, q := range turn.Asked {
			k.sees(q[0])
			k.until("a question", func() bool { return strings.Contains(k.screen.String(), "waiting for an answer") })
			k.answers(q[1])
		}
		switch {
		case turn.Kill && kill:
			k.sees("begun")
			_ = p.Process.Kill() // and nothing that it started
			<-k.code
			tr.leftovers()
			k, p = tr.sitApart("xterm-256color", "-c")
			k.sees("its last turn did not end: what was done in it stays")
			k.sees("you had allowed, and are asked about with the first prompt: the mode")
			k.until("the input", func() bool { return strings.Contains(k.seen, pasteMode) })
		case turn.Kill:
			k.sees("begun")
			k.press("\x03")
			k.sees("stopped")
		default:
			k.sees(fmt.Sprintf("Turn %d is done.", n+1))
		}
		if turn.Undo {
			tr.shell(tr.project, "agent undo --yes --json")
		}
	}
	k.press("/context\r")
	k.sees("6,000")
	k.leaves()
	tr.check()
}

// byClient has the Python client of the examples hold the conversation.
func (tr *trial) byClient() {
	plan, err := json.Marshal(tr.plan(true))
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.write("plan.json", string(plan))
	examples, err := filepath.Abs("../../../../examples/client")
	if err != nil {
		tr.t.Fatal(err)
	}
	driver, err := filepath.Abs("testdata/sixty.py")
	if err != nil {
		tr.t.Fatal(err)
	}
	cmd := exec.Command("python3", driver, examples, filepath.Join(filepath.Dir(tr.project), "plan.json"))
	cmd.Dir, cmd.Env = tr.project, append(tr.env, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "you had allowed, and are asked again: the mode accept-edits") {
		tr.t.Fatalf("%v\n%s", err, out)
	}
	tr.check()
}

// leftovers puts two files beside the conversation: an older conversation that is torn, and the lock of one that was removed.
func (tr *trial) leftovers() {
	tr.t.Helper()
	dir := filepath.Dir(tr.file())
	torn := filepath.Join(dir, "agent-0000000000000000.jsonl")
	old := time.Now().Add(-24 * time.Hour)
	for name, text := range map[string]string{torn: `{"kind":"head","format":1,"ti`, filepath.Join(dir, "agent-0000000000000001.lock"): ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			tr.t.Fatal(err)
		}
	}
	if err := os.Chtimes(torn, old, old); err != nil {
		tr.t.Fatal(err)
	}
}
