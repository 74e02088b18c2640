package cli

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/disclose"
)

type searchOptions struct {
	max  int
	json bool
}

// found is one hit of search --json.
type found struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Source      string  `json:"source"`
	Score       float64 `json:"score"` // higher is better; only the order means something
}

func searchCommand(a *app) *cobra.Command {
	o := &searchOptions{}
	c := &cobra.Command{
		Use:   "search WORDS",
		Short: "Find skills by words of their names, tags and descriptions",
		Example: `  agent skill search pdf tables
  agent skill search weather --max 3 --json`,
		Args: arguments(1, -1, "words to search for"),
		RunE: func(c *cobra.Command, args []string) error { return a.search(c.Context(), strings.Join(args, " "), o) },
	}
	c.Flags().IntVar(&o.max, "max", 10, "most skills (`N`) to print")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func (a *app) search(ctx context.Context, query string, o *searchOptions) error {
	if o.max < 1 {
		return usage(fmt.Errorf("--max %d", o.max), "at least 1")
	}
	cat, err := a.catalog(ctx)
	if err != nil {
		return err
	}
	hits := disclose.NewIndex(cat).Search(query, o.max)
	if o.json {
		out := make([]found, len(hits))
		for i, h := range hits {
			out[i] = found{h.Entry.Name(), h.Entry.Description(), h.Entry.Layer(), math.Round(float64(h.Score)*1000) / 1000}
		}
		return a.printJSON(map[string][]found{"skills": out})
	}
	if len(hits) == 0 {
		if !a.flags.quiet {
			a.ui.Hint(fmt.Sprintf("no skill has these words: %q lists all", "agent skill list"))
		}
		return nil
	}
	rows := make([][]string, len(hits))
	for i, h := range hits {
		rows[i] = []string{h.Entry.Name(), h.Entry.Layer(), h.Entry.Description()}
	}
	return a.ui.Table([]string{"NAME", "SOURCE", "DESCRIPTION"}, rows)
}
