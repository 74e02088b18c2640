package disclose

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/agent-base/agent-base/skill"
)

// Mode is how a conversation tells its model of the skills (C13).
type Mode string

// The modes.
const (
	SystemXML       Mode = "system-xml"       // a list in the system prompt
	ToolDescription Mode = "tool-description" // a list in the description of the tool skill
	ByTriggers      Mode = "triggers"         // what a message calls for, in its turn
	Minimal         Mode = "minimal"          // nothing but the tools: a person names the skill
)

// Modes returns the names of all modes.
func Modes() []Mode { return []Mode{SystemXML, ToolDescription, ByTriggers, Minimal} }

// PlanOptions says what a conversation tells. The zero value is useful.
type PlanOptions struct {
	Mode   Mode          // default SystemXML
	List   Options       // of the list; its Style is for SystemXML, its Budget and MaxSkills are for every mode; Search: default SearchTool
	Blocks *BlockOptions // nil means no block
}

// Plan is what one conversation tells its model of the skills: a prefix that is fixed when the conversation begins, so
// that prompt caches hold, and a text for each turn. It is safe for concurrent use.
type Plan struct {
	o      PlanOptions // fixed at creation
	prefix Text

	mu    sync.Mutex
	of    *skill.Catalog
	index *Index // of it
}

// NewPlan returns the plan of a conversation that begins with the skills of c. The error is about an unknown mode,
// style or block.
func NewPlan(c *skill.Catalog, o *PlanOptions) (*Plan, error) {
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
		if list, err = Catalog(c, &p.o.List); err != nil {
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

// visible reports whether there is a skill that a model may see.
func visible(c *skill.Catalog) bool {
	for range c.Visible() {
		return true
	}
	return false
}

// Prefix returns what belongs into the system prompt, appended after an empty line (see Join): the list of skills with
// SystemXML, and the blocks. It is the same for every turn. Without a skill there is no block.
func (p *Plan) Prefix() Text { return p.prefix }

// TurnOptions says what a turn needs to know. The zero value is useful.
type TurnOptions struct {
	Recent []string // names of skills used lately, the latest first
	// Render gives the text of a skill that the prompt calls for; nil means its framed instructions.
	Render func(context.Context, skill.Entry) (Text, error)
}

// Turn returns what stands beside the user's prompt: with ByTriggers what Index.Choose finds for it among the skills as
// c has them now, else nothing. The error is ctx's.
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

// indexOf returns an index of c, the last one where c is the same.
func (p *Plan) indexOf(c *skill.Catalog) *Index {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of != c {
		p.of, p.index = c, NewIndex(c)
	}
	return p.index
}
