package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
)

// found is one hit of search --json.
type found struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Source      string  `json:"source"`
	Score       float64 `json:"score"` // higher is better; only the order means something
}

type searchOptions struct {
	out    *output.Printer
	skills *library.Library

	query string
	max   int
	json  bool
}

func newSearchCommand(s *app.Services, run func(context.Context, *searchOptions) error) *cobra.Command {
	o := &searchOptions{out: s.Out, skills: s.Skills}
	c := &cobra.Command{
		Use:   "search WORDS",
		Short: "Find skills by words of their names, tags and descriptions",
		Long: `Find skills by a few words or by a whole request, the best first. Endings of English words do not matter, and
Chinese, Japanese and Korean need no spaces. What a description says that a skill is not for does not count. A word that
no skill has counts as the beginning of one, or as a mistyped one.

In a text of several sentences, the first and the questions count most. With --json, a score is higher for a better
skill; only the order means something.`,
		Example: `  agent skill search pdf tables
  agent skill search weather --max 3 --json`,
		Args: arguments(1, -1, "words to search for"),
		RunE: func(c *cobra.Command, args []string) error {
			o.query = strings.Join(args, " ")
			return run(c.Context(), o)
		},
	}
	c.Flags().IntVar(&o.max, "max", 10, "print at most `N` skills")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// nothing returns what to say when no skill was found.
func (o *searchOptions) nothing(cat *skill.Catalog) string {
	var missing *skill.NotFoundError
	_, err := cat.Lookup(strings.Join(strings.Fields(o.query), "-"))
	if errors.As(err, &missing) && len(missing.Suggest) > 0 {
		return fmt.Sprintf("no skill has these words: did you mean %q?", missing.Suggest[0])
	}
	return fmt.Sprintf("no skill has these words: %q lists all", "agent skill list")
}

func runSearch(ctx context.Context, o *searchOptions) error {
	if o.max < 1 {
		return failure.Usage(fmt.Errorf("invalid --max %d", o.max), "use 1 or more")
	}
	cat, err := o.skills.Open(ctx)
	if err != nil {
		return err
	}
	hits := disclose.NewIndex(cat).Search(o.query, o.max)
	if o.json {
		out := make([]found, len(hits))
		for i, h := range hits {
			out[i] = found{h.Entry.Name(), h.Entry.Description(), h.Entry.Layer(), math.Round(float64(h.Score)*1000) / 1000}
		}
		return o.out.JSON(map[string][]found{"skills": out})
	}
	if len(hits) == 0 {
		if !o.out.Quiet() {
			o.out.Hint(o.nothing(cat))
		}
		return nil
	}
	rows := make([][]string, len(hits))
	for i, h := range hits {
		rows[i] = []string{h.Entry.Name(), h.Entry.Layer(), h.Entry.Description()}
	}
	return o.out.Table([]string{"NAME", "SOURCE", "DESCRIPTION"}, rows)
}
