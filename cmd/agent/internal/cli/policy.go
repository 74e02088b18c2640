package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/policy"
)

// policyOptions are those of the commands of agent policy.
type policyOptions struct {
	sys      *setup.System
	settings *setup.Settings
	out      *output.Printer

	args   []string
	policy string // the file that is asked in place of the machine's
	json   bool
}

func newPolicyCommand(s *app.Services) *cobra.Command {
	c := group(&cobra.Command{
		Use:        "policy",
		Short:      "Show and test what your organisation allows",
		SuggestFor: []string{"policies", "organisation", "organization", "managed"},
		Long: `Show what the policy of your organisation allows, say which layer decides about a call and why, and test a policy.

The policy is one file, /etc/agent/policy.yaml on Linux, which only root can change. Nothing below it is looser: no setting, flag,
variable, profile or skill. Layers only make it stricter: the organisation, then you, the project, and a skill.`,
		Example: `  agent policy show
  agent policy explain 'Bash(git push origin)' model:anthropic/x host:api.example.com
  agent policy check policy.yaml
  agent policy test examples.yaml --policy policy.yaml`,
	})
	c.AddCommand(newPolicyShowCommand(s, runPolicyShow), newPolicyExplainCommand(s, runPolicyExplain), newPolicyTestCommand(s, runPolicyTest), newPolicyCheckCommand(s, runPolicyCheck), newPolicyFetchCommand(s, runPolicyFetch))
	return c
}

func (o *policyOptions) flags(c *cobra.Command, other bool) {
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	if other {
		c.Flags().StringVar(&o.policy, "policy", "", "ask the policy in `FILE` in place of this machine's")
	}
}

func newPolicyShowCommand(s *app.Services, run func(context.Context, *policyOptions) error) *cobra.Command {
	o := &policyOptions{sys: s.Sys, settings: s.Settings, out: s.Out}
	c := &cobra.Command{
		Use:     "show",
		Short:   "Show the policy of this machine, with the lines that say it",
		Long:    `Show what the policy of this machine says, with the line of each key. The exit code is 4 if it cannot be used: then nothing is allowed.`,
		Example: `  agent policy show --json`,
		Args:    arguments(0, 0, "no arguments"),
		RunE:    func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	o.flags(c, false)
	return c
}

func newPolicyCheckCommand(s *app.Services, run func(context.Context, *policyOptions) error) *cobra.Command {
	o := &policyOptions{sys: s.Sys, settings: s.Settings, out: s.Out}
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check that a policy can be used",
		Long: `Check a policy: FILE, or that of this machine, with who may change it. Whatever is wrong with a policy closes it, so check it
before it is put into place. The exit code is 4 for one that cannot be used.`,
		Example: `  agent policy check policy.yaml && sudo install -m 644 policy.yaml /etc/agent/policy.yaml`,
		Args:    arguments(0, 1, "at most one FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.policy = args[0]
			}
			return run(c.Context(), o)
		},
	}
	o.flags(c, false)
	return c
}

// organisation returns the policy that the command is about.
func (o *policyOptions) organisation() (*policy.Policy, error) {
	p := *o.settings.Policy()
	if o.policy == "" {
		return &p, p.Err()
	}
	src, err := lockfile.Read(o.sys.Abs(o.policy), policy.MaxFile+1)
	if err != nil {
		return nil, err
	}
	d, err := policy.Parse(src, o.policy)
	if err != nil {
		return nil, &failure.Error{Exit: failure.ExitInvalid, Code: "policy", Err: fmt.Errorf("%s: %w", o.policy, err), Hint: "until it is mended such a policy allows nothing"}
	}
	p.Organisation = []*policy.Document{d}
	return &p, nil
}

// policyJSON is a document in JSON.
type policyJSON struct {
	File    string    `json:"file"`
	Found   bool      `json:"found"`
	Error   string    `json:"error,omitempty"` // why it allows nothing
	Contact string    `json:"contact,omitempty"`
	Keys    []keyJSON `json:"keys"`

	Included []policyJSON `json:"included,omitempty"`
}

type keyJSON struct {
	Key    string   `json:"key"`
	Line   int      `json:"line"`
	Values []string `json:"values"`
}

// policyOf returns what a policy says, with those that it includes.
func policyOf(p *policy.Policy) policyJSON {
	if len(p.Organisation) == 0 {
		return policyJSON{File: policy.File(), Keys: []keyJSON{}}
	}
	out := documentOf(p.Organisation[0])
	for _, d := range p.Organisation[1:] {
		out.Included = append(out.Included, documentOf(d))
	}
	return out
}

func documentOf(d *policy.Document) policyJSON {
	out := policyJSON{File: d.File(), Found: true, Contact: d.Contact(), Keys: []keyJSON{}}
	if err := d.Err(); err != nil {
		out.Error = errors.Unwrap(err).Error()
	}
	for _, key := range policy.Keys() {
		if items, set := d.Items(key); set {
			one := keyJSON{Key: key, Line: d.At(key).Line, Values: []string{}}
			if key == policy.KeyInclude {
				for _, in := range d.Includes() {
					one.Values = append(one.Values, in.String())
				}
			}
			for _, item := range items {
				one.Values = append(one.Values, item.Text)
			}
			out.Keys = append(out.Keys, one)
		}
	}
	return out
}

// broken reports whether the policy or one that it includes cannot be used.
func (p policyJSON) broken() bool {
	return p.Error != "" || slices.ContainsFunc(p.Included, policyJSON.broken)
}

func runPolicyShow(_ context.Context, o *policyOptions) error {
	said := policyOf(o.settings.Policy())
	if o.json {
		if err := o.out.JSON(map[string]policyJSON{"policy": said}); err != nil {
			return err
		}
	} else {
		o.print(said)
	}
	if said.broken() {
		return failure.Silent(failure.ExitInvalid)
	}
	return nil
}

func (o *policyOptions) print(said policyJSON) {
	switch {
	case !said.Found:
		o.out.Printf("There is no policy: %s does not exist, so your organisation limits nothing.\n", said.File)
		return
	case said.Error != "":
		o.out.Printf("%s cannot be used, so nothing is allowed: %s\n", said.File, said.Error)
		return
	}
	o.out.Printf("%s\n", said.File)
	for _, k := range said.Keys {
		value := strings.Join(k.Values, ", ")
		if value == "" {
			value = "none"
		}
		o.out.Printf("%5d  %s: %s\n", k.Line, k.Key, value)
	}
	for _, other := range said.Included {
		o.print(other)
	}
}

func runPolicyCheck(_ context.Context, o *policyOptions) error {
	p, err := o.organisation()
	if err != nil {
		var closed *policy.ClosedError
		if errors.As(err, &closed) {
			err = &failure.Error{Exit: failure.ExitInvalid, Code: "policy", Err: err}
		}
		return err
	}
	said := policyOf(p)
	if o.json {
		return o.out.JSON(map[string]policyJSON{"policy": said})
	}
	if !said.Found {
		o.out.Printf("%s does not exist\n", said.File)
		return nil
	}
	o.out.Printf("%s can be used: %s\n", said.File, output.Count(len(said.Keys), "key"))
	return nil
}
