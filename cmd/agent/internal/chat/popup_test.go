package chat

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// withFiles returns a conversation that lists files.
func withFiles(t *testing.T, width int, names ...string) *talk {
	t.Helper()
	k := newTalk(t, width, &Options{Commands: testCommands(), Files: func(context.Context) (Files, error) { return Files{}, nil },
		Skills: func() []Skill {
			return []Skill{{Name: "moon", About: "Looks at the moon. Use when it is dark, and \x1b[31mno\x1b[0m clouds are there."}}
		}})
	k.happen(filesEvent{newFileList(Files{Names: names}, nil)})
	return k
}

func TestPopupOfFiles(t *testing.T) {
	names := []string{"README.md", "docs/a guide.md", "docs/keys.md", "src/keys.go", "src/说明.md", `odd"name`, "odd\nname", "odd\x1b[2Jname", "┇ Press y"}
	tests := []struct{ name, script, input string }{
		{"the marked one, with a space", "see @keys<enter>", "see @src/keys.go "},
		{"another", "see @keys<down><tab>", "see @docs/keys.md "},
		{"and on from there", "@keys<tab>b", "@src/keys.go b"},
		{"in the middle", "@readme<left><left><left><left><left><left><left>x @k<enter>", "x @src/keys.go @readme"},
		{"before a space", "a b<left><left>@<backspace> @readme<tab>", "a @README.md b"},
		{"with spaces", "@guide<tab>", `@"docs/a guide.md" `},
		{"quoted", `@"a gui<tab>`, `@"docs/a guide.md" `},
		{"an address", "me@keys<tab>", "me@keys"},
		{"nothing fits", "@zzz<tab>", "@zzz"},
		{"Esc", "@keys<esc><tab><tab>", "@src/keys.go "},
		{"what Up finds opens none", "x<up><up>", "before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := withFiles(t, 60, names...)
			k.press(tt.script)
			if k.input.text != tt.input {
				t.Errorf("input %q, want %q", k.input.text, tt.input)
			}
		})
	}
	k := withFiles(t, 60, names...)
	k.press("@o")
	k.check(t, `

────
> @o█
  > odd"name
    src/keys.go
    docs/keys.md
    docs/a guide.md
    4 of 6 files, 3 with odd names left out

`)
}

// What is there already is sent by Enter, and so is a word that no name fits or whose list is not there yet.
func TestPopupSends(t *testing.T) {
	for _, tt := range []struct{ script, sent string }{
		{"@README.md<enter>", "@README.md"}, {"@zzz<enter>", "@zzz"}, {"@read<tab><enter>", "@README.md "}, {"@read<esc><enter>", "@read"}, {"@rea<esc>d<enter>", "@read"},
	} {
		k := withFiles(t, 60, "README.md", "x/README.md")
		k.press(tt.script)
		if want := []effect{remember{tt.sent}, startTurn{tt.sent}}; !reflect.DeepEqual(k.done, want) {
			t.Errorf("%s: %+v, want %+v", tt.script, k.done, want)
		}
	}
}

func TestPopupLists(t *testing.T) {
	k := newTalk(t, 60, &Options{Files: func(context.Context) (Files, error) { return Files{}, nil }})
	k.press("@a")
	if !reflect.DeepEqual(k.done, []effect{listFiles{}}) {
		t.Fatalf("effects %+v, want one list", k.done)
	}
	k.check(t, `

────
> @a█
    listing the files

`)
	k.happen(filesEvent{newFileList(Files{Names: []string{"b.go", "a.go"}}, nil)})
	k.check(t, `

────
> @a█
  > a.go
    1 of 2 files

`)
	k.press("<backspace>")
	k.press("x")
	k.wait(time.Minute)
	k.press("<backspace>")
	if !reflect.DeepEqual(k.done, []effect{listFiles{}, listFiles{}}) {
		t.Errorf("effects %+v, want a second list after a minute", k.done)
	}
	k.happen(filesEvent{newFileList(Files{}, errors.New("no\x1b[2J way"))})
	if rows := strings.Join(k.view().rows, "\n"); !strings.Contains(rows, "the files cannot be listed: no") || strings.Contains(rows, "\x1b") {
		t.Error(rows)
	}
}

func TestPopupOfCommands(t *testing.T) {
	k := withFiles(t, 60)
	k.press("/mo")
	k.check(t, `

────
> /mo█
  > /model
    /more
    /moon   skill: Looks at the moon. Use when it is dark,…

`)
	k.press("o")
	k.check(t, `

────
> /moo█
  > /moon  skill: Looks at the moon. Use when it is dark, …



`)
	k.press("x")
	k.check(t, `

────
> /moox█

`)
}

// A popup leaves room for the input and the question of a small screen, and shows what is marked.
func TestPopupFits(t *testing.T) {
	long := strings.Repeat("very/long/", 20)
	names := []string{long + "a.go", long + "b.go", "目录/" + strings.Repeat("文", 60) + ".md"}
	for c := 'c'; c <= 'z'; c++ {
		names = append(names, long+string(c)+".go")
	}
	for _, size := range []sizeEvent{{60, 20}, {20, 8}, {10, 5}, {200, 60}, {4, 3}} {
		k := withFiles(t, 60, names...)
		k.happen(size)
		k.press("@")
		for range 40 {
			k.press("<down>")
			sc := k.view()
			if len(sc.rows) > size.height {
				t.Fatalf("%v: %d rows", size, len(sc.rows))
			}
			marked := false
			for _, r := range sc.rows {
				if ui.Columns(r) > size.width {
					t.Fatalf("%v: a row of %d columns: %q", size, ui.Columns(r), r)
				}
				marked = marked || strings.HasPrefix(r, "  >")
			}
			if !marked && size.height > 5 {
				t.Fatalf("%v: nothing is marked: %q", size, sc.rows)
			}
		}
	}
}

// A popup that is open does not follow an input that something else changed.
func TestPopupCloses(t *testing.T) {
	k := withFiles(t, 60, "README.md")
	k.press("hi<enter>next<enter>@read")
	k.happen(doneEvent{errors.New("it failed")})
	k.press("<enter>")
	if want := "next\n\n@read"; k.input.text != "" || k.past.entries[len(k.past.entries)-1] != want {
		t.Errorf("input %q, last %q, want %q", k.input.text, k.past.entries, want)
	}
	k = withFiles(t, 60, "README.md")
	k.press("@read")
	k.happen(pasteEvent{" pasted"})
	k.press("<tab>")
	if k.input.text != "@read pasted" {
		t.Errorf("input %q", k.input.text)
	}
}
