package disclose

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
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
	lacks  map[string]bool // canonical names of skills that the list leaves out or only names

	own Indexes

	mu   sync.Mutex
	said map[string]bool // canonical names of skills that a turn described
}

// NewPlan returns the plan of a conversation that begins with the skills of c. It returns an error for an unknown mode,
// style or block, or when ctx is done.
func NewPlan(ctx context.Context, c *skill.Catalog, o *PlanOptions) (*Plan, error) {
	p := &Plan{lacks: map[string]bool{}, said: map[string]bool{}}
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
		p.note(list)
	}
	if p.o.Mode == ToolDescription {
		tool, err := ToolList(c, &p.o.List)
		if err != nil {
			return nil, err
		}
		p.note(tool)
	}
	if p.o.Blocks != nil && visible(c) {
		if blocks, err = renderBlocks(p.o.Blocks); err != nil {
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

// note records which skills a list lacks.
func (p *Plan) note(list Text) {
	for _, c := range list.Cut {
		if c.What == LeftOut || c.What == NameOnly {
			p.lacks[manifest.Canonical(c.Name)] = true
		}
	}
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
	Recent  []string // names of recently used skills, the latest first
	Indexes *Indexes // has the index of the catalogue; nil means that the plan makes one of its own
	// Render returns the text of a skill that the prompt triggers; nil means its framed instructions.
	Render func(context.Context, skill.Entry) (Text, error)
}

// Turn returns the text that goes with the user's prompt. With ByTriggers it is the choice of Index.Choose among the skills
// that c has now. With a list in the prefix that lacks skills or their descriptions, it has those of the skills that the
// prompt is about, if they were not in the text of an earlier turn. Otherwise there is none. The error is that of ctx.
func (p *Plan) Turn(ctx context.Context, c *skill.Catalog, prompt string, o *TurnOptions) (Choice, error) {
	if o == nil {
		o = &TurnOptions{}
	}
	if err := ctx.Err(); err != nil {
		return Choice{}, err
	}
	indexes := cmp.Or(o.Indexes, &p.own)
	if p.o.Mode == ByTriggers {
		return indexes.Of(c).Choose(ctx, prompt, &ChooseOptions{Recent: o.Recent, Render: o.Render,
			MaxSkills: p.o.List.MaxSkills, Budget: p.o.List.Budget, Search: p.o.List.Search})
	}
	if len(p.lacks) == 0 {
		return Choice{Tier: TierNothing}, nil
	}
	return p.offer(ctx, indexes.Of(c), prompt)
}

// The limits of what a turn offers.
const (
	offered      = 5   // skills
	offeredRoom  = 500 // tokens of their descriptions
	offeredIntro = "These skills may fit this message. The list of skills lacks them or their descriptions:\n"
)

// offer describes skills that the prompt is about and the prefix lacks.
func (p *Plan) offer(ctx context.Context, x *Index, prompt string) (Choice, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fits := x.About(prompt, offered)
	fits = slices.DeleteFunc(fits, func(e skill.Entry) bool { return !p.lacks[e.Canonical()] || p.said[e.Canonical()] })
	if len(fits) == 0 {
		return Choice{Tier: TierNothing}, nil
	}
	text, err := Catalog(ctx, x.catalog, &Options{Style: Markdown, Entries: fits, Ranked: true, Budget: offeredRoom, Search: p.o.List.Search})
	if err != nil {
		return Choice{}, err
	}
	for _, e := range fits {
		p.said[e.Canonical()] = true
	}
	text.Body = offeredIntro + text.Body
	text.Tokens = Tokens(text.Body)
	return Choice{Tier: TierRegistry, Text: text}, nil
}

// Forget lets later turns repeat what earlier ones said. Call it when the conversation was shortened.
func (p *Plan) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.said)
}
