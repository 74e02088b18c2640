package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
)

func newCredentialsCommand(s *app.Services) *cobra.Command {
	var out string
	days := 30
	c := &cobra.Command{
		Use:   "credentials NAME",
		Short: "Make credentials for a worker on another machine",
		Long: `Make the file by which the worker NAME comes in at a server with the setting serve.listen, or at another node of its cluster. With
the file one can be that worker, and nothing else: get its runs, and reach no other run and nothing that is stored.
Credentials cannot be revoked one by one. To revoke all, remove the file issuer in the folder node of AGENT_HOME, which the nodes of a
cluster share: a server that starts makes another one.`,
		Example: `  agent worker credentials w1
  agent worker credentials w1 --out ~/w1.creds --days 1`,
		Args: arguments(1, 1, "the NAME of a worker"),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				out = args[0] + ".creds"
			}
			if err := s.Settings.NeedHome(); err != nil {
				return err
			}
			issuer, err := s.Settings.Issuer(c.Context())
			if err != nil {
				return err
			}
			text, err := issuer.Credential(args[0], time.Now().AddDate(0, 0, days))
			if err != nil {
				return failure.Usage(err, "see agent worker credentials --help")
			}
			if err := create(s.Sys.Abs(out), text); err != nil {
				return err
			}
			s.Out.Remark("made " + out)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "make `FILE`, which only you may read (default: NAME.creds)")
	c.Flags().IntVar(&days, "days", days, "for how many `DAYS` they are good, 1 to 366")
	return c
}
