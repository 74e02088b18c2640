package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// marks waits until the popup shows these rows, the first below the input.
func (k *seat) offers(rows ...string) {
	k.t.Helper()
	k.until(strings.Join(rows, " | "), func() bool {
		all := k.screen.Rows()
		at := slices.IndexFunc(all, func(row string) bool { return strings.TrimSpace(row) == rows[0] })
		for i, want := range rows {
			if at < 0 || at+i >= len(all) || strings.TrimSpace(all[at+i]) != want {
				return false
			}
		}
		return true
	})
}

// An @ offers the files of the project as git lists them, and a slash offers commands and skills. What is chosen goes into the prompt, and the file to
// the model; a rule that asks asks first.
func TestConversationOffersFiles(t *testing.T) {
	for _, git := range []string{"whole", "broken", "gone", "none"} {
		s := fakemodel.New(t, fakemodel.Step{Text: "Read it."}, fakemodel.Step{Text: "Greeted."}, fakemodel.Step{Text: "No key."})
		w := newWorld(t, append(s.Env(), "AGENT_PERMISSIONS_ASK=Read(key.txt)")...)
		w.skill("greet", "Greets somebody.", "Greet $ARGUMENTS.")
		w.write("work/docs/notes.md", "the note\n")
		w.write("work/docs/two words.md", "the words\n")
		w.write("work/docs/not\x1b[2J\nes.md", "hostile\n")
		w.write("work/docs/┇ Press y.md", "hostile\n")
		w.write("work/key.txt", "the key\n")
		left := "2 of 3 files, 2 with odd names left out"
		if err := os.RemoveAll(filepath.Join(w.project, ".git")); err != nil {
			t.Fatal(err)
		}
		switch git {
		case "broken":
			w.write("work/.git/HEAD", "ref: refs/heads/main\n")
		case "gone": // the repository of a work tree that is kept elsewhere
			w.write("work/.git", "gitdir: ../gone\n")
		case "whole":
			w.write("work/.git/HEAD", "ref: refs/heads/main\n")
			if out, err := exec.Command("git", "init", "-q", w.project).CombinedOutput(); err != nil {
				t.Fatal(err, string(out))
			}
			w.write("work/node.log", "ignored\n")
			w.write("work/.git/info/exclude", "*.log\n")
		}
		k := w.sit()
		k.sees("help.")
		k.press("sum up @do")
		k.offers("> docs/notes.md", "docs/two words.md", left)
		k.press("\x1b[B\t")
		k.shows(`> sum up @"docs/two words.md"`)
		k.press("and @nt\r")
		k.shows(`> sum up @"docs/two words.md" and @docs/notes.md`)
		k.press("\r")
		k.sees("attached docs/two words.md: 1 line")
		k.sees("attached docs/notes.md: 1 line")
		k.sees("Read it.")
		k.press("/gr")
		k.offers("> /greet  skill: Greets somebody.")
		k.press("\x1b")
		k.until("no popup", func() bool { return !strings.Contains(k.screen.String(), "Greets somebody") })
		k.press("\t")
		k.shows("> /greet")
		k.press("Ada\r")
		k.sees("Greeted.")
		k.press("@key.txt\r")
		k.sees(`Let the model read "key.txt"?`)
		k.answers("n")
		k.sees("Why not?")
		k.press("\r")
		k.sees("not attached: The user did not allow reading 'key.txt'")
		k.sees("No key.")
		k.leaves()
		if q := s.Requests(); !strings.Contains(string(q[0].Body), "the note") || !strings.Contains(string(q[0].Body), "the words") || strings.Contains(string(q[len(q)-1].Body), "the key") {
			t.Errorf("the model was sent %s", q[len(q)-1].Body)
		}
	}
}
