package worker

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// F17: where nobody chose a model, the server that gets the prompt is named on stderr.
func TestSayLocal(t *testing.T) {
	for _, c := range []struct {
		name  string
		found *models.Found
		quiet bool
		want  string
	}{
		{"a server that was found", &models.Found{Provider: "ollama", Name: "x", Local: true, Origin: "a server at http://127.0.0.1:1/v1"}, false,
			"no model is set: asking ollama/x, a server at http://127.0.0.1:1/v1"},
		{"a model that was named", &models.Found{Provider: "ollama", Name: "x"}, false, ""},
		{"quiet", &models.Found{Provider: "ollama", Name: "x", Local: true}, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			streams, _, out, errs := ui.Test()
			sayLocal(output.NewPrinter(streams, &output.Flags{Quiet: c.quiet}), c.found)
			if got := errs.String(); !strings.Contains(got, c.want) || (c.want == "") != (got == "") || out.Len() > 0 {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
