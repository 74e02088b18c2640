package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/screentest"
	"github.com/agent-base/agent-base/internal/test/untidy"
	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// file returns the file of the conversation: the largest.
func (tr *trial) file() string {
	tr.t.Helper()
	list, _ := filepath.Glob(filepath.Join(tr.home, ".agent", "conversations", "*", "*.jsonl"))
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			tr.t.Fatal(err)
		}
		return info.Size()
	}
	if len(list) == 0 {
		tr.t.Fatal("no conversation was saved")
	}
	return slices.MaxFunc(list, func(a, b string) int { return int(size(a) - size(b)) })
}

// check looks at all that a conversation leaves.
func (tr *trial) check() {
	tr.t.Helper()
	if _, err := screentest.Next(screentest.NewPatience(), tr.over); errors.Is(err, screentest.ErrLate) {
		tr.t.Error("the command outlived the process that was killed")
	}
	tr.checkRequests()
	tr.checkFile()
	want := "# Notes\n"
	var created []string
	for n := 1; n <= tr.turns; n++ {
		switch tr.kind(n) {
		case "edit":
			want += fmt.Sprintf("- turn %d\n", n)
		case "write":
			created = append(created, fmt.Sprintf("%d.txt", n))
		}
	}
	if b, _ := os.ReadFile(filepath.Join(tr.project, "notes.md")); string(b) != want+"- end\n" {
		tr.t.Errorf("notes.md is\n%s\nwant\n%s", b, want)
	}
	list, _ := os.ReadDir(filepath.Join(tr.project, "new"))
	slices.Sort(created)
	if !slices.EqualFunc(list, created, func(d fs.DirEntry, name string) bool { return d.Name() == name }) {
		tr.t.Errorf("made were %v, want %v", list, created)
	}
	if got := tr.shell(tr.project, "git status --short --untracked-files=all | grep -v new/ | sort"); got != " M notes.md\n" {
		tr.t.Errorf("git status has %q", got)
	}
}

// checkRequests compares what the model was sent: each request begins with the one before, but for where the conversation was shortened.
func (tr *trial) checkRequests() {
	tr.t.Helper()
	var now []*fakemodel.Request
	shortened, all := 0, map[string]bool{}
	for _, q := range tr.server.Requests() {
		if strings.HasPrefix(q.System, "You shorten a conversation") {
			sameBytes(tr.t, now)
			now, shortened = nil, shortened+1
			continue
		}
		if !bytes.Equal(q.Prefix, tr.server.Requests()[0].Prefix) {
			tr.t.Errorf("request %d begins with\n%s\nthe first with\n%s", q.Number, q.Prefix, tr.server.Requests()[0].Prefix)
		}
		if turnOf(q) > tr.killed && bytes.Contains(q.Body, []byte(trialSecret)) {
			tr.t.Errorf("request %d has a secret that cannot come from the file", q.Number)
		}
		told := *q // what the file does not have is taken out
		told.Turns = nil
		for _, turn := range q.Turns {
			told.Turns = append(told.Turns, bytes.ReplaceAll(turn, []byte(trialSecret), []byte("[redacted SERVICE_TOKEN]")))
		}
		now = append(now, &told)
		for _, r := range q.Results() {
			all[r.Text] = true
		}
		if strings.Contains(string(q.Body), "hidden words") {
			tr.t.Errorf("request %d has what a rule denies", q.Number)
		}
	}
	sameBytes(tr.t, now)
	if shortened == 0 {
		tr.t.Error("the conversation was never shortened")
	}
	for _, want := range []string{"passed", "served docs.example.com/", untidy.ToolText, "Count the lines of the file.", "permission_denied"} {
		found := false
		for text := range all {
			found = found || strings.Contains(text, want)
		}
		if !found {
			tr.t.Errorf("no result has %q", want)
		}
	}
	if p := string(tr.server.Requests()[0].Prefix); !strings.Contains(p, "Rules come from an import.") {
		tr.t.Errorf("the text for agents lacks its import:\n%s", p)
	}
}

// checkFile reads the file of the conversation.
func (tr *trial) checkFile() {
	tr.t.Helper()
	name := tr.file()
	src, err := os.ReadFile(name)
	if err != nil {
		tr.t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(src), "\n"), "\n") {
		if !json.Valid([]byte(line)) {
			tr.t.Errorf("line %d is no JSON: %s", i+1, line)
		}
	}
	for _, secret := range []string{trialSecret, "hidden words"} {
		if bytes.Contains(src, []byte(secret)) {
			tr.t.Errorf("the file has %q", secret)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		tr.t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
	var out struct {
		Conversation struct {
			Said []struct {
				Prompt string
				End    struct{ Stop string }
			}
		}
	}
	text := tr.shell(tr.project, "agent conversations export --json "+strings.TrimSuffix(filepath.Base(name), ".jsonl"))
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		tr.t.Fatal(err)
	}
	if n := len(out.Conversation.Said); n != tr.turns {
		tr.t.Fatalf("%d turns are saved, want %d", n, tr.turns)
	}
	for i, said := range out.Conversation.Said {
		if want := fmt.Sprintf("turn %d: %s", i+1, tr.kind(i+1)); said.Prompt != want || (said.End.Stop == "end") == (i+1 == tr.killed) {
			tr.t.Errorf("turn %d has the prompt %q and ended with %q, want %q", i+1, said.Prompt, said.End.Stop, want)
		}
	}
}

// sentAs checks that the model was sent the same in two conversations. One was killed during a call; in the other that call was stopped. From
// that call to the next prompt they may differ.
func (tr *trial) sentAs(other *trial) {
	tr.t.Helper()
	a, b := tr.server.Requests(), other.server.Requests()
	if len(a) != len(b) {
		tr.t.Fatalf("%d requests, and %d where nothing was killed", len(a), len(b))
	}
	for i := range a {
		if x, y := tr.usually(a[i]), other.usually(b[i]); x != y {
			tr.t.Fatalf("request %d is\n%s\nwithout a kill\n%s", i, x, y)
		}
	}
}

// usually returns a request with a folder of a usual name, and without what depends on how a call ended in the turn that is killed.
func (tr *trial) usually(q *fakemodel.Request) string {
	call, next := fmt.Sprintf("t%d_2", tr.killed), fmt.Sprintf("turn %d: ", tr.killed+1)
	lines := []string{string(q.Prefix)}
	first, last := 0, -1
	for i, turn := range q.Turns {
		text := unmarked(turn)
		lines = append(lines, text)
		if strings.Contains(text, call) || strings.Contains(text, next) {
			if last < 0 {
				first = i + 1
			}
			last = i + 2
		}
	}
	if last > 0 {
		lines = slices.Delete(lines, first, last)
	}
	work := filepath.Dir(tr.project) // a link
	return strings.NewReplacer(work, "DIR", strings.TrimSuffix(work, ".link"), "DIR").Replace(strings.Join(lines, "\n"))
}
