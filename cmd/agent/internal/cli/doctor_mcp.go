package cli

import (
	"context"

	"github.com/agent-base/agent-base/mcpserve"
	"github.com/agent-base/agent-base/skill"
)

// keptBack is a skill that agent serve does not publish as the extension of MCP for skills has it.
type keptBack struct {
	Skill string `json:"skill"`
	Why   string `json:"why"`
}

// mostRead is how many skills are read to find those: all of their files are.
const mostRead = 200

// keptBacks returns the skills that are not published, among the first of the catalogue.
func keptBacks(ctx context.Context, cat *skill.Catalog) ([]keptBack, error) {
	out, left := []keptBack{}, mostRead
	for e := range cat.Visible() {
		if left--; left < 0 {
			break
		}
		s, err := e.Load(ctx)
		if err != nil {
			continue // it is among the problems
		}
		why, err := mcpserve.Unpublished(ctx, s)
		_ = s.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && why != "" {
			out = append(out, keptBack{e.Canonical(), why})
		}
	}
	return out, nil
}

func (o *doctorOptions) printKept(list []keptBack) error {
	var rows [][]string
	for _, k := range list[:min(len(list), mostAlike)] {
		rows = append(rows, []string{"  " + k.Skill, k.Why})
	}
	if len(rows) == 0 {
		return nil
	}
	if err := o.titled("Not published over MCP: agent serve has them as tools alone", rows); err != nil {
		return err
	}
	if more := len(list) - len(rows); more > 0 {
		o.out.Printf("  and %d more: agent doctor --json shows all\n", more)
	}
	return nil
}

// printServers shows the servers of tools.
func (o *doctorOptions) printServers(list []*serverJSON) error {
	var rows [][]string
	for _, v := range list {
		rows = append(rows, []string{"  " + v.Label, string(v.State), v.what()})
	}
	if len(rows) == 0 {
		return nil
	}
	return o.titled("Servers of tools", rows)
}
