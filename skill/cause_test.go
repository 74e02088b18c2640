package skill

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

type causeTest struct {
	name, skill string
	o           Options
	want        Cause
	state       State
}

// Every state names the rule that caused it (R153).
func TestCause(t *testing.T) {

	files := map[string]string{}
	for name, more := range map[string]string{"plain": "", "hidden": "disable-model-invocation: true\n", "off": "default_enabled: false\n",
		"needy": "metadata:\n  requires: no-such-command\n", "denied": "", "other": ""} {
		files[name+"/SKILL.md"] = "---\nname: " + name + "\ndescription: Does a thing.\n" + more + "---\n"
	}
	files["draft/SKILL.md"] = "---\nname: draft\ndescription: \"TODO: say what it does\"\ndisable-model-invocation: true\n---\n"
	files["broken/SKILL.md"] = "---\nname: broken\n---\n"
	files["twin/SKILL.md"] = files["other/SKILL.md"]
	tests := []causeTest{
		{"nothing", "plain", Options{}, CauseDefault, StateEnabled},
		{"fatal", "broken", Options{}, CauseProblem, StateBroken},
		{"hidden", "hidden", Options{}, CauseManifest, StateHidden},
		{"unwritten", "draft", Options{}, CauseUnwritten, StateHidden},
		{"unwritten and wished", "draft", Options{Want: Selection{Enabled: []string{"draft"}}}, CauseUnwritten, StateHidden},
		{"unwritten and not wanted", "draft", Options{Deny: []string{"draft"}}, CauseDeny, StateDisabled},
		{"off", "off", Options{}, CauseManifest, StateDisabled},
		{"requires", "needy", Options{LookPath: func(string) (string, error) { return "", errIrregular }}, CauseRequirement, StateUnavailable},
		{"deny", "denied", Options{Deny: []string{"den*"}}, CauseDeny, StateDisabled},
		{"allow", "other", Options{Allow: []string{"plain"}}, CauseAllow, StateDisabled},
		{"not admitted", "plain", Options{Admit: func(context.Context, Subject) error { return errIrregular }}, CauseAdmit, StateDisabled},
		{"admitted", "plain", Options{Admit: func(context.Context, Subject) error { return nil }}, CauseDefault, StateEnabled},
		{"none", "plain", Options{Want: Selection{Mode: SelectNone}}, CauseSelection, StateDisabled},
		{"named", "plain", Options{Want: Selection{Mode: SelectNamed, Names: []string{"other"}}}, CauseSelection, StateDisabled},
		{"trust", "plain", Options{Want: Selection{Mode: SelectAll}}, CauseTrust, StateDisabled},
		{"duplicate", "other", Options{Duplicates: DuplicatesRefuse}, CauseDuplicate, StateBroken},
		{"wished off", "plain", Options{Want: Selection{Disabled: []string{"plain"}}}, CauseWish, StateDisabled},
		{"wished plain", "plain", Options{Want: Selection{Enabled: []string{"plain"}}}, CauseWish, StateEnabled},
		{"wished on", "off", Options{Want: Selection{Enabled: []string{"off"}}}, CauseWish, StateEnabled},
	}
	example := []string{"plain"}
	for _, w := range []struct {
		name  string
		want  Selection
		trust Trust
		cause Cause
		state State
	}{
		{"an example", Selection{}, TrustBundled, CauseExample, StateHidden}, // C82
		{"an example that is wished", Selection{Enabled: []string{"plain"}}, TrustBundled, CauseWish, StateEnabled},
		{"an example among few", Selection{OnlyBundled: []string{"plain"}}, TrustBundled, CauseDefault, StateEnabled},
		{"an example that is named", Selection{Mode: SelectNamed, Names: []string{"Plain"}}, TrustBundled, CauseDefault, StateEnabled},
		{"an example among all", Selection{Mode: SelectAll}, TrustBundled, CauseDefault, StateEnabled},
		{"an example that is disabled", Selection{Disabled: []string{"plain"}}, TrustBundled, CauseWish, StateDisabled},
		{"a skill of the user with its name", Selection{}, TrustNone, CauseDefault, StateEnabled},
	} {
		tests = append(tests, causeTest{w.name, "plain", Options{Want: w.want, Examples: example, Layers: []Layer{{Trust: w.trust}}}, w.cause, w.state})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.o.Layers == nil {
				tt.o.Layers = []Layer{{}}
			}
			tt.o.Layers[0].Name, tt.o.Layers[0].Source = "one", Dir(disk(t, t.TempDir(), files), nil)
			c, err := Open(t.Context(), &tt.o)
			if err != nil {
				t.Fatal(err)
			}
			e, err := c.Lookup(tt.skill)
			if err != nil {
				t.Fatal(err)
			}
			if e.Cause() != tt.want || e.State() != tt.state {
				t.Errorf("got %v, %v (%s), want %v, %v", e.Cause(), e.State(), e.Reason(), tt.want, tt.state)
			}
		})
	}
}

// What Options.Admit does not admit is not loaded, also if only the content that is read then is not admitted.
func TestAdmit(t *testing.T) {
	dir, why := t.TempDir(), errors.New("only blue ones")
	if err := os.MkdirAll(filepath.Join(dir, "plain"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain", "SKILL.md"), []byte("---\nname: plain\ndescription: Does a thing.\n---\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	digest := ""
	c, err := Open(t.Context(), &Options{Layers: []Layer{{Name: "user", Source: Dir(dir, nil)}}, Admit: func(ctx context.Context, s Subject) error {
		is, err := s.Digest(ctx)
		if digest == "" {
			digest = is
		}
		if err == nil && (is != digest || s.Name != "plain" || s.Layer != "user" || s.Dir != filepath.Join(dir, "plain")) {
			err = why
		}
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Lookup("plain")
	if err != nil || e.State() != StateEnabled {
		t.Fatal(e.State(), e.Reason(), err)
	}
	s, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := os.WriteFile(filepath.Join(dir, "plain", "more.md"), []byte("More.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = e.Load(t.Context())
	var not *NotAdmittedError
	if !errors.As(err, &not) || !errors.Is(err, why) || err.Error() != `skill "plain" is not used: only blue ones` {
		t.Error(err)
	}
	if c, err = c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e, err = c.Lookup("plain"); err != nil || e.State() != StateDisabled || e.Reason() != "only blue ones" {
		t.Error(e.State(), e.Reason(), err)
	}
}
