package disclose

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/agent-base/agent-base/skill"
)

// Mode is how a conversation shows skills to its model.
type Mode string

// The modes.
const (
	SystemXML       Mode = "system-xml"       // a list in the system prompt
	ToolDescription Mode = "tool-description" // a list in the description of the tool skill
	ByTriggers      Mode = "triggers"         // the skills that a message triggers, in its turn
	Minimal         Mode = "minimal"          // only the tools: the user names the skill
)

// Modes returns the names of all modes.
func Modes() []Mode { return []Mode{SystemXML, ToolDescription, ByTriggers, Minimal} }

// PlanOptions configures a Plan. The zero value is useful.
type PlanOptions struct {
	Mode   Mode          // default SystemXML
	List   Options       // Style applies to SystemXML only, Budget, MaxSkills and Search to every mode
	Blocks *BlockOptions // nil means none
}

// Plan is what one conversation shows its model of the skills: a prefix that is fixed when the conversation begins, which
// keeps prompt caches valid, and a text for each turn. It is safe for concurrent use.
type Plan struct {
	o      PlanOptions // fixed at creation
	prefix Text

	mu    sync.Mutex
	of    *skill.Catalog
	index *Index // of it
}

// NewPlan returns the plan of a conversation that begins with the skills of c. It returns an error for an unknown mode,
// style or block, or when ctx is done.
func NewPlan(ctx context.Context, c *skill.Catalog, o *PlanOptions) (*Plan, error) {
	p := &Plan{}
	if o != nil {
		p.o = *o
	}
	if p.o.Mode == "" {
		p.o.Mode = SystemXML
	}
	if !slices.Contains(Modes(), p.o.Mode) {
		return nil, fmt.Errorf("unknown disclosure %q, use one of %v", p.o.Mode, Modes())
	}
	if p.o.List.Search == "" {
		p.o.List.Search = SearchTool
	}
	var list, blocks Text
	var err error
	if p.o.Mode == SystemXML {
		if list, err = Catalog(ctx, c, &p.o.List); err != nil {
			return nil, err
		}
	}
	if p.o.Blocks != nil && visible(c) {
		if blocks, err = Prompt(p.o.Blocks); err != nil {
			return nil, err
		}
	}
	p.prefix = list
	if list.Body != "" {
		p.prefix.Body = "## " + SectionTitle + "\n" + list.Body
	}
	p.prefix.Body = Join(p.prefix.Body, blocks.Body)
	p.prefix.Tokens = Tokens(p.prefix.Body)
	return p, nil
}

// visible reports whether a model may see any skill of c.
func visible(c *skill.Catalog) bool {
	for range c.Visible() {
		return true
	}
	return false
}

// Prefix returns the text for the system prompt, appended after an empty line (see Join): with SystemXML the list of
// skills, and the blocks. It is the same for every turn. Without visible skills it is empty or an empty list, without
// blocks.
func (p *Plan) Prefix() Text { return p.prefix }

// TurnOptions configures a turn. The zero value is useful.
type TurnOptions struct {
	Recent []string // names of recently used skills, the latest first
	// Render returns the text of a skill that the prompt triggers; nil means its framed instructions.
	Render func(context.Context, skill.Entry) (Text, error)
}

// Turn returns the text that goes with the user's prompt: with ByTriggers the choice of Index.Choose among the skills that
// c has now, otherwise none. The error is that of ctx.
func (p *Plan) Turn(ctx context.Context, c *skill.Catalog, prompt string, o *TurnOptions) (Choice, error) {
	if p.o.Mode != ByTriggers {
		return Choice{Tier: TierNothing}, nil
	}
	if o == nil {
		o = &TurnOptions{}
	}
	return p.indexOf(c).Choose(ctx, prompt, &ChooseOptions{Recent: o.Recent, Render: o.Render,
		MaxSkills: p.o.List.MaxSkills, Budget: p.o.List.Budget, Search: p.o.List.Search})
}

// indexOf returns an index of c, and keeps it until c changes.
func (p *Plan) indexOf(c *skill.Catalog) *Index {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of != c {
		p.of, p.index = c, NewIndex(c)
	}
	return p.index
}
