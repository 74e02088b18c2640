package cli

import (
	"context"
	"iter"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/skill"
)

type listOptions struct {
	all, long, json bool
}

func listCommand(a *app) *cobra.Command {
	o := &listOptions{}
	c := &cobra.Command{
		Use:   "list",
		Short: "List the skills there are",
		Example: `  agent skill list
  agent skill list --all --json`,
		Args: arguments(0, 0, "no argument"),
		RunE: func(c *cobra.Command, _ []string) error { return a.list(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.all, "all", false, "also disabled, unavailable, hidden and broken skills")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func (a *app) list(ctx context.Context, o *listOptions) error {
	cat, err := a.catalog(ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for e := range chosen(cat, o.all) {
		rows = append(rows, []string{e.Name(), orDash(e.Version()), active(e), "-", e.Layer()})
	}
	return a.ui.Table([]string{"NAME", "VERSION", "ACTIVE", "SHA", "SOURCE"}, rows)
}

func chosen(c *skill.Catalog, all bool) iter.Seq[skill.Entry] {
	if all {
		return c.Every()
	}
	return c.All()
}

// active is the cell of R152's column: yes, or why not.
func active(e skill.Entry) string {
	if e.State() == skill.Enabled {
		return "yes"
	}
	return e.State().String()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
