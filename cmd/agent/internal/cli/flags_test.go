package cli

import (
	"context"
	"reflect"
	"testing"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skilltool"
)

// parse runs a command line up to the options, and not the command.
func parse[O any](t *testing.T, command func(*app.Services, func(context.Context, *O) error) *cobra.Command, args ...string) *O {
	t.Helper()
	streams, _, _, _ := ui.Test()
	var got *O
	c := command(app.New(&setup.System{}, &setup.Flags{}, streams), func(_ context.Context, o *O) error { got = o; return nil })
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return got
}

// A command line becomes options without anything being run.
func TestFlags(t *testing.T) {
	if o := parse(t, newListCommand, "--all", "--json"); !o.all || o.long || !o.json {
		t.Errorf("list: got %+v", o)
	}
	if o := parse(t, newActivateCommand, "a", "b", "c d"); o.name != "a" || o.args != "b c d" {
		t.Errorf("activate: got %+v", o)
	}
	if o := parse(t, newScriptRunCommand, "--script-json", "no", "a", "b", "--", "-x", "y"); !reflect.DeepEqual(o.request, skilltool.RunRequest{Skill: "a", Script: "b", Args: []string{"-x", "y"}, JSON: script.JSONNo}) || o.text {
		t.Errorf("script run: got %+v", o)
	}
	if o := parse(t, newTrustCommand, "--root", "x", "-y"); o.root != "x" || o.name != "" || !o.yes {
		t.Errorf("trust: got %+v", o)
	}
	if o := parse(t, newValidateCommand, "--fix", "a", "b"); !o.fix || len(o.paths) != 2 {
		t.Errorf("validate: got %+v", o)
	}
}
