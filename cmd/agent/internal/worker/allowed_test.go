package worker

import (
	"slices"
	"testing"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
)

// Of several modes the last one counts, once; rules and hosts all do, as they were allowed.
func TestAllowedBefore(t *testing.T) {
	mode := func(m string) saved.Approval { return saved.Approval{Kind: allowedMode, Text: m} }
	rule := saved.Approval{Kind: allowedRule, Text: "Bash(go test:*)", Confined: true}
	host := saved.Approval{Kind: allowedHost, Text: "example.com"}
	for _, tt := range []struct {
		list, want []saved.Approval
	}{
		{nil, nil},
		{[]saved.Approval{rule, host}, []saved.Approval{rule, host}},
		{[]saved.Approval{mode("read-only"), rule, mode("accept-edits")}, []saved.Approval{rule, mode("accept-edits")}},
		{[]saved.Approval{mode("accept-edits"), mode("ask")}, nil},
		{[]saved.Approval{mode("all"), host, mode("all")}, []saved.Approval{mode("all"), host}},
	} {
		if got := lastMode(tt.list, permit.Ask); !slices.Equal(got, tt.want) {
			t.Errorf("%v: got %v, want %v", tt.list, got, tt.want)
		}
	}
	for a, want := range map[saved.Approval]string{mode("all"): "the mode all", rule: "Bash(go test:*), in the sandbox", host: "commands and pages reach example.com",
		{Kind: scriptsHost, Text: "net example.com"}: "scripts of net reach example.com",
		{Kind: allowedRule, Text: "Edit(x)"}:         "Edit(x)", {Kind: "newer", Text: "x"}: "x"} {
		if got := describe(a); got != want {
			t.Errorf("%v is described as %q, want %q", a, got, want)
		}
	}
}
