package manifest

import (
	"encoding/json"
	"testing"
)

// The wire form of a problem: snake case, severities by name, nothing empty.
func TestProblemJSON(t *testing.T) {
	_, problems := Parse([]byte(withFront("name: my-skill")), &Options{Dir: "my-skill"})
	got, err := json.Marshal(problems)
	want := `[{"code":"fields-missing","severity":"error","file":"SKILL.md","line":1,"column":1,"field":"description",` +
		`"message":"missing 'description'","cure":"add them to the front matter","fatal":true}]`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

// A problem without a place begins with its severity.
func TestProblemWithoutPlace(t *testing.T) {
	p := &Problem{Code: "source-unreadable", Severity: SeverityError, Message: "the folder has no name"}
	if got, want := p.Error(), "error[source-unreadable] the folder has no name"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
