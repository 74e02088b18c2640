package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/policy"
)

func newPolicyExplainCommand(s *app.Services, run func(context.Context, *policyOptions) error) *cobra.Command {
	o := &policyOptions{sys: s.Sys, settings: s.Settings, out: s.Out}
	c := &cobra.Command{
		Use:   "explain CALL...",
		Short: "Say which layer decides about a call, a model or a host, and why",
		Long: `Say what happens to each CALL, which layer decides it, and why. A call is written as a rule: 'Bash(git push)', Read(FILE),
WebFetch(URL), 'Skill(NAME)', 'script_run(NAME SCRIPT)', mcp__LABEL__TOOL. Others are KIND:WHAT: model:PROVIDER/NAME, host:HOST, mode:all,
sandbox:off, server:URL, 'server:LABEL=COMMAND', and what is given to skills, as read:DIR, write:DIR, env:NAME, socket:ssh.

The exit code is 5 if something is denied.`,
		Example: `  agent policy explain 'Bash(git push origin)' 'Read(.env)'
  agent policy explain model:openai/x host:api.example.com --json`,
		Args: arguments(1, -1, "a call"),
		RunE: func(c *cobra.Command, args []string) error {
			o.args = args
			return run(c.Context(), o)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			out := []cobra.Completion{"'Bash(", "'Read(", "'WebFetch("}
			for _, kind := range policy.Questions() {
				out = append(out, kind+":")
			}
			return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		},
	}
	o.flags(c, true)
	return c
}

func newPolicyTestCommand(s *app.Services, run func(context.Context, *policyOptions) error) *cobra.Command {
	o := &policyOptions{sys: s.Sys, settings: s.Settings, out: s.Out}
	c := &cobra.Command{
		Use:   "test FILE",
		Short: "Test a policy with examples of what it has to allow and to deny",
		Long: `Ask a policy all that the examples in FILE name, and compare the answers. FILE is YAML with the lists allow, ask and deny, whose items
are written as for "agent policy explain":

  deny: ['Bash(git push origin)', 'model:openai/x']
  ask: ['WebFetch(https://example.com/)']
  allow: ['Bash(go test ./...)']

Only the policy is asked, not your own settings. The exit code is 1 if an answer is another one.`,
		Example: `  agent policy test examples.yaml --policy policy.yaml`,
		Args:    arguments(1, 1, "a FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			o.args = args
			return run(c.Context(), o)
		},
	}
	o.flags(c, true)
	return c
}

// answerJSON is the answer to a question in JSON.
type answerJSON struct {
	Question string `json:"question"`
	Decision string `json:"decision"` // allow, ask or deny
	Layer    string `json:"layer,omitempty"`
	Why      string `json:"why,omitempty"`
	Contact  string `json:"contact,omitempty"`
	Expected string `json:"expected,omitempty"` // by an example
	OK       *bool  `json:"ok,omitempty"`       // it is as expected
	Line     int    `json:"line,omitempty"`     // of the example
}

// yours is the layer below the organisation.
const yours = "your settings and the project's"

// explain answers a question. alone means that only the organisation is asked.
func (o *policyOptions) explain(p *policy.Policy, text string, alone bool) (answerJSON, error) {
	q, err := policy.ParseQuestion(text, o.sys.Dir)
	if err != nil {
		return answerJSON{}, failure.Usage(err, "agent policy explain --help shows the forms")
	}
	d := p.Answer(q, o.settings.Patterns())
	a := answerJSON{Question: text, Decision: d.Level.Word(), Layer: d.Layer, Why: d.Why, Contact: d.Contact}
	if d.Why != "" && d.Layer == "" {
		a.Layer = "the program"
	}
	if q.Call == nil || alone || d.Level == policy.Never {
		return a, nil
	}
	rules, _ := o.settings.Permissions()
	made := rules.Decide(q.Call)
	if word := string(made.Verdict); d.Level == policy.Free || made.Verdict == permit.Denied {
		a.Decision, a.Layer, a.Why = word, yours, made.Reason
		if made.Rule.Origin != "" {
			a.Layer = made.Rule.Origin
		}
	}
	return a, nil
}

func runPolicyExplain(_ context.Context, o *policyOptions) error {
	p, err := o.organisation()
	if err != nil {
		return err
	}
	all, denied := []answerJSON{}, false
	for _, text := range o.args {
		a, err := o.explain(p, text, false)
		if err != nil {
			return err
		}
		all, denied = append(all, a), denied || a.Decision == policy.Never.Word()
	}
	if o.json {
		err = o.out.JSON(map[string][]answerJSON{"answers": all})
	} else {
		for _, a := range all {
			o.out.Printf("%-5s  %s%s\n", a.Decision, a.Question, because(a))
		}
	}
	if err == nil && denied {
		err = failure.Silent(failure.ExitDenied)
	}
	return err
}

// because says why, and who decided unless that is a part of it.
func because(a answerJSON) string {
	switch {
	case a.Why == "":
		return ": no layer limits it"
	case a.Layer == "" || a.Layer == yours || a.Contact != "" || len(a.Layer) > len(policy.Layer) && a.Layer[:len(policy.Layer)] == policy.Layer:
		return ": " + a.Why
	}
	return fmt.Sprintf(": %s (%s)", a.Why, a.Layer)
}

func runPolicyTest(_ context.Context, o *policyOptions) error {
	p, err := o.organisation()
	if err != nil {
		return err
	}
	src, err := lockfile.Read(o.sys.Abs(o.args[0]), policy.MaxFile+1)
	if err != nil {
		return err
	}
	examples, err := policy.ParseExamples(src, o.args[0])
	if err != nil {
		return &failure.Error{Exit: failure.ExitInvalid, Code: "policy", Err: fmt.Errorf("%s: %w", o.args[0], err), Hint: "agent policy test --help shows the form"}
	}
	all, failed := []answerJSON{}, 0
	for _, e := range examples {
		a, err := o.explain(p, e.Text, true)
		if err != nil {
			return err
		}
		ok := a.Decision == e.Expect.Word()
		a.Expected, a.OK, a.Line = e.Expect.Word(), &ok, e.At.Line
		if all = append(all, a); !ok {
			failed++
		}
	}
	if o.json {
		err = o.out.JSON(map[string]any{"examples": all, "failed": failed})
	} else {
		for _, a := range all {
			if !*a.OK {
				o.out.Printf("%s:%d: %s: expected %s, got %s%s\n", o.args[0], a.Line, a.Question, a.Expected, a.Decision, because(a))
			}
		}
		o.out.Printf("%s, %d failed\n", output.Count(len(all), "example"), failed)
	}
	if err == nil && failed > 0 {
		err = failure.Silent(failure.ExitFailure)
	}
	return err
}
