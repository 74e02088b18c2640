package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
)

// fetchOptions are those of agent policy fetch.
type fetchOptions struct {
	packages *packages.Packages
	out      *output.Printer
	json     bool
}

func newPolicyFetchCommand(s *app.Services, run func(context.Context, *fetchOptions) error) *cobra.Command {
	o := &fetchOptions{packages: s.Packages, out: s.Out}
	c := &cobra.Command{
		Use:   "fetch",
		Short: "Get the policies that the policy of this machine includes",
		Long: `Get the policies that the policy of this machine includes from their git repositories and OCI artifacts, and keep them for this
user. Until they are here nothing is allowed. Each must have the digest or the signer that the policy names; one that has not is not kept,
and the one that was here before stays. One that is known by its signer can change: fetch it again to get the newest.`,
		Example: `  agent policy fetch`,
		Args:    arguments(0, 0, "no arguments"),
		RunE:    func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runPolicyFetch(ctx context.Context, o *fetchOptions) error {
	list, err := o.packages.FetchPolicies(ctx)
	if err != nil {
		return err
	}
	names := []string{}
	for _, d := range list {
		names = append(names, d.File())
	}
	if o.json {
		return o.out.JSON(map[string][]string{"fetched": names})
	}
	for _, name := range names {
		o.out.Printf("Fetched %s\n", name)
	}
	if len(names) == 0 {
		o.out.Printf("The policy of this machine includes no others\n")
	}
	return nil
}
