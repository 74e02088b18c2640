package cure_test

import (
	"fmt"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/internal/nodeenv"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/toolset"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// What to type after packages could not be prepared: nothing if preparing needs a program that is not installed.
func TestPackages(t *testing.T) {
	cures := &cure.Cures{Policy: &policy.Policy{}}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("no network"), "agent skill prepare report"},
		{pyenv.ErrNoUV, ""},
		{fmt.Errorf("package.json has no lock, and %w", &nodeenv.MissingError{Manager: "npm"}), ""},
		{fmt.Errorf("x: %w", &program.DroppedError{Path: "/work/uv", Reason: "is in the project"}), ""},
		{pyenv.ErrLargeDownload, "agent skill prepare report --large"},
		{pyenv.ErrTooLarge, ""},
		{&pyenv.NoWheelError{Package: "old"}, "agent skill prepare report --build old"},
	} {
		err := &script.Error{Code: script.ExecutionFailed, Reason: script.ReasonDependencies, Err: tt.err}
		if got := cures.Of(err, "Report").Command; got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.err, got, tt.want)
		}
	}
}

// A tool that is not what it was stays refused in its conversation: the command only shows it.
func TestChangedTool(t *testing.T) {
	cures := &cure.Cures{Policy: &policy.Policy{}}
	got := cures.Of(&toolset.Error{Skill: "clock", Kind: toolset.KindChanged}, "Clock").Advice()
	if want := "A new conversation has the tools as they are now. A person can look at them with: agent skill tools clock"; got != want {
		t.Errorf("got %q", got)
	}
}

// A command names what is given freely alone. Why says what is not named.
func TestGiveFreely(t *testing.T) {
	cures := &cure.Cures{Policy: &policy.Policy{}}
	for _, tt := range []struct{ wants, command, why string }{
		{"refused host:a.example, refused host:169.254.169.254", "agent skill grant x --net a.example", `nothing is suggested that opens "169.254.169.254": it is an address of this machine's own network, such as that of a cloud's credentials`},
		{"refused read:/", "", `nothing is suggested that opens "/": every file of this machine is in it`},
		{"refused write:/etc", "", `nothing is suggested that opens "/etc": programs and settings of the machine are in it`},
	} {
		if got := cures.Give("x", wants(t, tt.wants)); got.Command != tt.command || got.Why != tt.why {
			t.Errorf("%s: got %q, %q", tt.wants, got.Command, got.Why)
		}
	}
}

// C65: the command repeats the grant, whatever it holds, and a shell reads it back. A host of one label stays a host.
func TestRepeatGrant(t *testing.T) {
	for _, tt := range []struct{ given, withheld, want string }{
		{"user env:A, user env:B, user home", "", "agent skill grant x --env A,B --home"},
		{"user read:/a b, user write:., user write:/c, seen host:h.example:1", "", "agent skill grant x --net h.example:1 --write . --write /c --read '/a b'"},
		{"user package:requests>=2, user package:yaml", "", "agent skill prepare x --with 'requests>=2' --with yaml"},
		{"user env:A, user package:yaml", "declared env:KALSHI_*", "agent skill grant x --env A && agent skill prepare x --with yaml"},
		{"user read:/h/n m", "declared host:buildhost", "agent skill grant x --read '/h/n m'"},
	} {
		if got := cure.Repeat(&trust.Grant{Name: "x", Given: wants(t, tt.given), Withheld: wants(t, tt.withheld)}); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func wants(t *testing.T, text string) want.Set {
	t.Helper()
	s, err := want.ParseSet(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
