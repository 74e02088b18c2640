package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// talk is a conversation under test: its clock, and what it wanted to have done.
type talk struct {
	*state
	done []effect
}

func newTalk(t *testing.T, width int, o *Options) *talk {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	o.Now = func() time.Time { return time.Unix(0, 0) }
	s := newState(o.withDefaults(), []string{"before"})
	s.width, s.height = width, 24
	s.greet()
	return &talk{state: s}
}

func (k *talk) happen(events ...event) {
	for _, e := range events {
		k.done = append(k.done, k.update(e)...)
	}
}

// press plays keys: words in angle brackets are keys, the rest is text.
func (k *talk) press(script string) {
	for script != "" {
		if key, rest, ok := strings.Cut(strings.TrimPrefix(script, "<"), ">"); script[0] == '<' && ok {
			k.happen(keyEvent{key: key})
			script = rest
			continue
		}
		k.happen(keyEvent{key: script[:1], text: script[:1]})
		script = script[1:]
	}
}

func (k *talk) wait(d time.Duration) { k.now = k.now.Add(d) }

func (k *talk) say(text string) { k.happen(stepsEvent{steps: []agent.Step{{Text: text}}}) }

func (k *talk) call(name, args string) *llm.Call {
	c := &llm.Call{ID: fmt.Sprint("c", k.count), Name: name, Args: json.RawMessage(args)}
	k.happen(stepsEvent{steps: []agent.Step{{Call: c}}})
	return c
}

func (k *talk) result(c *llm.Call, r tool.Result, text string) {
	k.happen(stepsEvent{steps: []agent.Step{{Result: &agent.Result{Call: c, Result: r, Text: text}}}})
}

// screen is what is printed and, below a line, what is live; the cursor is a block.
func (k *talk) screen() string {
	v := k.view()
	rows := append([]string(nil), v.rows...)
	if len(rows) > v.y {
		at := 0
		for x := 0; x < v.x && at < len(rows[v.y]); {
			first, w := ui.Cluster(rows[v.y][at:])
			at, x = at+len(first), x+w
		}
		rows[v.y] = rows[v.y][:at] + "█" + rows[v.y][at:]
	}
	return strings.Join(k.out, "\n") + "\n────\n" + strings.Join(rows, "\n") + "\n"
}

func (k *talk) check(t *testing.T, want string) {
	t.Helper()
	want = strings.TrimPrefix(want, "\n")
	if got := k.screen(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i, r := range append(append([]string(nil), k.out...), k.view().rows...) {
		if n := ui.Columns(r); k.width > 0 && n >= max(k.width, 2) {
			t.Errorf("row %d %q has %d columns, the screen %d", i, r, n, k.width)
		}
	}
}

var greeting = `{"skill_name":"hello-extended","script_name":"advanced_greeting","args":["--lang","es"]}`

// turn plays a whole turn: text, a call that goes well, one that is refused, text.
func turn(k *talk) {
	k.press("greet me<enter>")
	k.say("I look at the skill ")
	k.say("first.\n\n")
	c := k.call("script_run", greeting)
	k.result(c, tool.Result{Success: true, Duration: 400 * time.Millisecond}, `{"success":true}`)
	c = k.call("bash", `{"command":"rm -rf /","timeout":5}`)
	k.result(c, tool.Result{Error: "permission_denied", Reason: "user", Duration: time.Second}, `{}`)
	k.say("\n\n# Done\nThe greeting is **Hola** for 漢字.\n")
	k.happen(stepsEvent{steps: []agent.Step{{Done: &agent.Answer{Stop: agent.End}}}}, doneEvent{})
}

func TestTurn(t *testing.T) {
	k := newTalk(t, 80, &Options{Greeting: "agent 1.0", Status: func() Status { return Status{Model: "fake/one"} }})
	turn(k)
	k.check(t, `
agent 1.0

> greet me

I look at the skill first.

● script_run hello-extended/advanced_greeting --lang es  0.4 s  ok  #1
● bash rm -rf /  1.0 s  permission_denied (user)  #2

# Done
The greeting is **Hola** for 漢字.
────

> █
fake/one
`)
}

func TestTurnOnNarrowScreen(t *testing.T) {
	k := newTalk(t, 20, &Options{Greeting: "agent 1.0", Status: func() Status { return Status{Model: "fake/one"} }})
	turn(k)
	k.check(t, `
agent 1.0

> greet me

I look at the skill
first.

● script_run hello…
  0.4 s  ok  #1
● bash rm -rf /
  1.0 s  permi…  #2

# Done
The greeting is
**Hola** for 漢字.
────

> █
fake/one
`)
}

func TestLiveRows(t *testing.T) {
	k := newTalk(t, 40, &Options{Status: func() Status {
		return Status{Model: "fake/one", Active: []ActiveSkill{{"hello-extended", "script_run"}, {"gh", ""}}}
	}})
	k.press("hi<enter>")
	k.wait(2 * time.Second)
	k.say("a row that is still being written and wra")
	k.check(t, `
> hi

a row that is still being written and
────
wra

> █
2 s, Esc stops  ·  hello-extended +1: …
`)
	k.say("pped\n")
	k.call("script_run", greeting)
	k.wait(1500 * time.Millisecond)
	k.press("next")
	k.out = nil
	k.check(t, `

────

● script_run hello-extended/advanced_g…
  1.5 s  #1

> next█
3 s, Esc stops  ·  hello-extended +1: …
`)
}

// security 2.14 #184
func TestNothingForeignReachesTheTerminal(t *testing.T) {
	evil := "\x1b]52;c;AAAA\x07\x1b[2J\u202e\u200b\r"
	k := newTalk(t, 80, &Options{Colour: true, Greeting: evil, Status: func() Status {
		return Status{Model: evil, Active: []ActiveSkill{{evil, evil}}, Tokens: []SkillTokens{{evil, 1}}}
	}, Commands: []Command{{Name: "x" + evil, Usage: evil, Help: evil}}})
	k.press("/help<enter>/tokens<enter>hi<enter>")
	k.say(evil)
	c := k.call(evil, `{"a":"`+`\u001b[2J\u202e`+`"}`)
	k.happen(askEvent{&question{Question: ui.Question{Text: evil, Details: []string{evil}}, answer: make(chan string, 1)}})
	k.press("y<enter>")
	k.result(c, tool.Result{Error: tool.Code(evil), Reason: evil}, evil)
	k.happen(stepsEvent{steps: []agent.Step{{Notice: evil}}}, doneEvent{errors.New(evil)}, pasteEvent{evil})
	k.press("<ctrl+o>")
	for _, r := range append(k.out, k.view().rows...) {
		for _, sgr := range []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m"} {
			r = strings.ReplaceAll(r, sgr, "")
		}
		if strings.ContainsAny(r, "\x1b\x07\r\n\u202e\u200b") {
			t.Errorf("row %q", r)
		}
	}
}

func TestColours(t *testing.T) {
	k := newTalk(t, 80, &Options{Colour: true})
	turn(k)
	all := strings.Join(k.out, "\n")
	for _, want := range []string{"\x1b[1mDone\x1b[0m", "is \x1b[1mHola\x1b[0m for", "\x1b[32m●\x1b[0m", "\x1b[31m●\x1b[0m"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %q", want, all)
		}
	}
	k = newTalk(t, 80, nil)
	turn(k)
	if all := k.screen(); strings.Contains(all, "\x1b") {
		t.Errorf("without colours: %q", all)
	}
}

func TestStops(t *testing.T) {
	tests := []struct {
		name string
		done *agent.Answer
		err  error
		want string
	}{
		{"end", &agent.Answer{Stop: agent.End}, nil, ""},
		{"empty", &agent.Answer{Stop: agent.Empty}, nil, "the model ended without an answer"},
		{"length", &agent.Answer{Stop: agent.Length}, nil, "the answer ends here because it reached its length limit"},
		{"cut", &agent.Answer{Stop: agent.Length, Cut: 8192}, nil, "the answer ends here: it was cut at 8,192 tokens; write"},
		{"refused", &agent.Answer{Stop: agent.Refused}, nil, "the model declined to answer"},
		{"turns", &agent.Answer{Stop: agent.Turns, Turns: 50}, nil, "stopped at the limit of 50 requests for one prompt; write"},
		{"one turn", &agent.Answer{Stop: agent.Turns, Turns: 1}, nil, "stopped at the limit of 1 request for"}, // issue 9 P16
		{"tokens", &agent.Answer{Stop: agent.Tokens}, nil, "stopped at the limit of tokens for one prompt; write"},
		{"time", &agent.Answer{Stop: agent.Time}, nil, "stopped at the limit of time for one prompt; write"},
		{"error", nil, errors.New("no such model"), "error: no such model"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, 100, nil)
			k.press("hi<enter>")
			k.out = nil
			k.happen(stepsEvent{steps: []agent.Step{{Done: tt.done}}}, doneEvent{tt.err})
			if got := strings.TrimSpace(strings.Join(k.out, "\n")); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if k.busy {
				t.Error("still busy")
			}
		})
	}
}

// Issue 9 P15: an answer that is cut and begins again is announced once.
func TestAnewIsAnnouncedOnce(t *testing.T) {
	for _, tt := range []struct{ notice, want string }{
		{"the answer broke off (EOF) and begins anew", "the answer broke off (EOF) and begins anew"},
		{"", "the answer was cut off and begins again"},
	} {
		k := newTalk(t, 60, nil)
		k.press("hi<enter>")
		k.say("half")
		k.out = nil
		k.happen(stepsEvent{steps: []agent.Step{{Anew: true, Notice: tt.notice}}})
		if got := strings.Join(k.out, "|"); got != "|half||"+tt.want {
			t.Errorf("got %q, want %q", got, "|half||"+tt.want)
		}
	}
}

func TestOpen(t *testing.T) {
	k := newTalk(t, 64, nil)
	k.press("<ctrl+o>")
	turn(k)
	k.out = nil
	k.press("/open 1<enter>/open 7<enter><ctrl+o>")
	k.check(t, `

> /open 1

● script_run hello-extended/advanced_greeting -…  0.4 s  ok  #1
  arguments
    {
      "skill_name": "hello-extended",
      "script_name": "advanced_greeting",
      "args": [
        "--lang",
        "es"
      ]
    }
  result
    {
      "success": true
    }

> /open 7

no call "7": use #1 to #2

● bash rm -rf /  1.0 s  permission_denied (user)  #2
  arguments
    {
      "command": "rm -rf /",
      "timeout": 5
    }
  result
    {}
────

> █

`)
}

func TestOpenIsBounded(t *testing.T) {
	k := newTalk(t, 60, nil)
	k.press("hi<enter>")
	for range maxCalls + 5 {
		c := k.call("read", "{}")
		k.result(c, tool.Result{Success: true}, strings.Repeat("line\n", 1000))
	}
	if len(k.calls) != maxCalls {
		t.Errorf("%d calls are kept, want %d", len(k.calls), maxCalls)
	}
	k.out = nil
	k.press("<ctrl+o>")
	if last := k.out[len(k.out)-1]; len(k.out) > maxDetails+10 || last != "    … 800 more lines" {
		t.Errorf("%d rows, the last one %q", len(k.out), last)
	}
}

func TestHelp(t *testing.T) {
	k := newTalk(t, 60, &Options{Commands: []Command{{Name: "why", Usage: "NAME", Help: "Explain why a skill is there, or is not, in all detail.",
		Run: func(context.Context, string) (string, error) { return "", nil }}}})
	k.press("/help<enter>")
	k.check(t, `
> /help

/copy [N|all]  Put block of code number N, or the last one,
               or the whole last answer on the clipboard.
/exit          Leave, like /quit.
/help          Show the commands and keys.
/open [N]      Show arguments and result of call number N,
               or of the last one.
/quit          Leave.
/tokens        Show how many tokens each skill has used.
/why NAME      Explain why a skill is there, or is not, in
               all detail.

Enter      Send; what is sent while it works is queued.
!COMMAND   Run a command yourself, in the sandbox;
           !!COMMAND runs it outside.
Alt-Enter  Start a new line, like Ctrl-J.
Tab        Complete a command, a skill or a file.
Up, Down   Take back what is queued; show earlier input.
Esc        Stop the turn; twice, with nothing typed: go
           back to an earlier prompt.
Ctrl-R     Look for earlier input.
Ctrl-G     Edit the prompt in $VISUAL or $EDITOR.
Ctrl-O     Open the last call.
Ctrl-L     Clear the screen.
Ctrl-C     Stop the turn, or empty the input.
Ctrl-D     Leave.
────

> █

`)
}

func TestTokens(t *testing.T) {
	k := newTalk(t, 60, &Options{Status: func() Status {
		return Status{Model: "fake/one", Tokens: []SkillTokens{{"hello-extended", 1234}, {"gh", 90}},
			Usage: llm.Usage{Input: 1234567, CacheRead: 1000, Output: 999}}
	}})
	k.press("/tokens<enter>")
	k.check(t, `
> /tokens

hello-extended  1,234
gh              90
input, total    1,234,567 (1,000 cached)
output, total   999
────

> █
fake/one  ·  1.2M in, 999 out
`)
}

func TestStatusLine(t *testing.T) {
	long := Status{Model: "anthropic/claude-opus-4-5", Active: []ActiveSkill{{"hello-extended", "script_run, script_help, Read, Bash(git:*)"}},
		Usage: llm.Usage{Input: 12345, Output: 850}}
	full := Status{Model: "fake/one", Branch: "feature/x", Context: 37, Cost: "$0.12", Usage: llm.Usage{Input: 1000, Output: 2}}
	busy := Status{Mode: "plan", Model: "anthropic/claude-sonnet-5-5", Active: []ActiveSkill{{"gh", ""}}, Branch: "main", Context: 7, Cost: "$0.34",
		Usage: llm.Usage{Input: 1000, Output: 2}}
	tests := []struct {
		name   string
		status Status
		width  int
		want   string
	}{
		{"nothing", Status{}, 80, ""},
		{"all", long, 130, "hello-extended: script_run, script_help, Read, Bash(git:*)  ·  anthropic/claude-opus-4-5  ·  12.3k in, 850 out"},
		{"80 columns", long, 80, "hello-extended: script_run, script_help, Read, B…  ·  anthropic/claude-opus-4-5"},
		{"60 columns", long, 60, "hello-extended: script_run, script_help, Read, Bash(git:*)"},
		{"20 columns", long, 20, "hello-extended: sc…"},
		{"no skill", Status{Model: "fake/one", Usage: llm.Usage{Output: 5}}, 40, "fake/one  ·  0 in, 5 out"},
		{"one column", long, 2, ""},
		{"all facts", full, 90, "fake/one  ·  context 37%  ·  feature/x  ·  $0.12  ·  1.0k in, 2 out"},
		{"fewer facts", full, 55, "fake/one  ·  context 37%  ·  feature/x  ·  $0.12"},
		{"the fewest facts", full, 10, "one"},
		{"a skill that restricts nothing", busy, 86, "plan  ·  gh: all tools  ·  claude-sonnet-5-5  ·  context 7%  ·  main  ·  $0.34"},
		{"without what it allows", busy, 73, "plan  ·  gh  ·  claude-sonnet-5-5  ·  context 7%  ·  main  ·  $0.34"},
		{"without the branch", busy, 64, "plan  ·  gh  ·  claude-sonnet-5-5  ·  context 7%  ·  $0.34"},
		{"without the model", busy, 50, "plan  ·  gh  ·  context 7%  ·  $0.34"},
		{"without the cost", busy, 30, "plan  ·  gh  ·  context 7%"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, tt.width, &Options{Status: func() Status { return tt.status }})
			if got := k.statusLine(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The status line says that a model sends nothing, but not while a call runs.
func TestSilence(t *testing.T) {
	const silent = "nothing comes from the model"
	k := newTalk(t, 80, nil)
	k.press("go<enter>")
	at := func(d time.Duration, want bool) {
		t.Helper()
		k.wait(d)
		if got := k.screen(); strings.Contains(got, silent) != want {
			t.Errorf("after %s more:\n%s", d, got)
		}
	}
	at(29*time.Second, false)
	at(time.Second, true)
	k.say("So ")
	at(0, false)
	c := k.call("bash", `{"command":"make"}`)
	at(time.Hour, false)
	k.result(c, tool.Result{Success: true}, `{"success":true}`)
	at(29*time.Second, false)
	at(2*time.Second, true)
	k.happen(askEvent{&question{Question: ui.Question{Text: "Let it?"}, answer: make(chan string, 1)}})
	k.wait(time.Minute)
	k.press("y")
	at(time.Second, false)
}

// The word alone leaves, as in a shell.
func TestLeaveByWord(t *testing.T) {
	for text, want := range map[string]bool{"exit": true, " quit ": true, "exit the loop": false} {
		k := newTalk(t, 80, nil)
		k.press(text + "<enter>")
		if leaves := slices.Contains(k.done, effect(leave{})); leaves != want {
			t.Errorf("%q leaves: %v, want %v", text, leaves, want)
		}
	}
}
