package chat

import (
	"reflect"
	"strings"
	"testing"
)

func dropping(known ...string) *Options {
	return &Options{Dropped: func(path string) (Drop, bool) {
		for _, k := range known {
			if k == path {
				kind := "image"
				if strings.HasSuffix(path, ".pdf") {
					kind = "document"
				}
				return Drop{Kind: kind, Path: path, Size: "120 KB"}, true
			}
		}
		return Drop{Kind: "image", Path: path}, false
	}}
}

// What terminals paste for dropped files becomes a mark for each, and what is sent mentions them.
func TestDropped(t *testing.T) {
	const shot, paper = "/home/u/my shot.png", "/tmp/paper.pdf"
	for _, tt := range []struct{ name, pasted, input, sent string }{
		{"as it is", shot, "[image #1 my shot.png 120 KB] ", `@"/home/u/my shot.png" `},
		{"with a line end", paper + "\r\n", "[document #1 paper.pdf 120 KB] ", `@"/tmp/paper.pdf" `},
		{"single quotes", `'/home/u/my shot.png' `, "[image #1 my shot.png 120 KB] ", `@"/home/u/my shot.png" `},
		{"double quotes", `"/home/u/my shot.png"`, "[image #1 my shot.png 120 KB] ", `@"/home/u/my shot.png" `},
		{"backslashes", `/home/u/my\ shot.png`, "[image #1 my shot.png 120 KB] ", `@"/home/u/my shot.png" `},
		{"a URL", "file:///home/u/my%20shot.png", "[image #1 my shot.png 120 KB] ", `@"/home/u/my shot.png" `},
		{"a URL of this machine", "file://localhost/tmp/paper.pdf", "[document #1 paper.pdf 120 KB] ", `@"/tmp/paper.pdf" `},
		{"a URL of another", "file://other/tmp/paper.pdf", "file://other/tmp/paper.pdf", "file://other/tmp/paper.pdf"},
		{"several", `'/home/u/my shot.png' ` + paper + "\nfile:///tmp/paper.pdf", "[image #1 my shot.png 120 KB] [document #1 paper.pdf 120 KB] [document #2 paper.pdf 120 KB] ", `@"/home/u/my shot.png" @"/tmp/paper.pdf" @"/tmp/paper.pdf" `},
		{"one that is nothing", paper + " /tmp/gone.png", paper + " /tmp/gone.png", paper + " /tmp/gone.png"},
		{"a text", "look at " + paper, "look at " + paper, "look at " + paper},
		{"an open quote", "'" + paper, "'" + paper, "'" + paper},
		{"control codes", paper + "\x1b[2J", paper + "\x1b[2J", paper + "\x1b[2J"},
		{"a name that would end the mention", `/tmp/a" b.png`, `/tmp/a" b.png`, `/tmp/a" b.png`},
		{"nothing", " \n", " \n", " \n"},
		{"too long", paper + strings.Repeat(" ", mostPasted), "[paste 1: 8,206 bytes]", paper + strings.Repeat(" ", mostPasted)},
		{"too many", strings.Repeat(paper+" ", mostDrops+1), strings.Repeat(paper+" ", mostDrops+1), strings.Repeat(paper+" ", mostDrops+1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, 80, dropping(shot, paper, `/tmp/a" b.png`))
			k.happen(pasteEvent{tt.pasted})
			if k.input.text != tt.input || k.unfold(k.input.text) != tt.sent {
				t.Errorf("the input is %q, sent is %q", k.input.text, k.unfold(k.input.text))
			}
		})
	}
}

// A mark stands apart from what is before it, goes with one key, and Up brings it back as it was.
func TestDroppedMark(t *testing.T) {
	k := newTalk(t, 80, dropping("/tmp/a.png"))
	k.press("see")
	k.happen(pasteEvent{"/tmp/a.png"})
	k.press("well")
	if k.input.text != "see [image #1 a.png 120 KB] well" {
		t.Fatalf("the input is %q", k.input.text)
	}
	k.press("<backspace><backspace><backspace><backspace><backspace>")
	if k.input.text != "see " {
		t.Errorf("the input is %q", k.input.text)
	}
	k.happen(pasteEvent{"/tmp/a.png"})
	k.press("<left><backspace>now<enter>")
	if want := (startTurn{"see now "}); !reflect.DeepEqual(k.done[len(k.done)-1], want) {
		t.Errorf("done %v, want %v", k.done, want)
	}
	k = newTalk(t, 80, dropping("/tmp/a.png"))
	k.press("one<enter>")
	k.happen(pasteEvent{"/tmp/a.png"})
	k.press("two<enter><up>")
	if k.input.text != "[image #1 a.png 120 KB] two" {
		t.Errorf("the input is %q", k.input.text)
	}
}

func FuzzPathsIn(f *testing.F) {
	for _, seed := range []string{`'a b' "c" d\ e`, "file:///a%20b", `\`, "'", "a\x00b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, paths := range pathsIn(text) {
			if len(paths) > mostDrops {
				t.Errorf("%d paths", len(paths))
			}
		}
	})
}
