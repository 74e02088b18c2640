package chat

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/llm"
)

// Options is what a conversation consists of. In, Out and Ask are needed.
type Options struct {
	In       io.Reader
	Out      io.Writer
	Terminal bool   // In and Out are *os.File of a terminal that understands cursor movement (not TERM=dumb)
	Colour   bool   // false: no colours and no bold, not one SGR sequence
	Term     string // the value of TERM; used in a terminal only
	Prompt   string // printed before each line is read where there is no terminal; "" for none
	Greeting string // the first lines, shown once; may be empty

	// Ask answers a prompt. Its loop is run by one goroutine at a time; breaking it off or cancelling ctx must leave
	// the conversation usable.
	Ask func(ctx context.Context, prompt string) iter.Seq2[agent.Step, error]

	Commands []Command      // besides help, open, tokens and quit, which one of the same name replaces
	Skills   func() []Skill // what a prompt may begin with after a slash, besides commands; must return at once; nil: nothing
	Status   func() Status  // asked often and from Run's own goroutine, also while Ask works; nil: there is none
	History  History        // nil: what was typed is forgotten at the end
	Prompter *Prompter      // questions of tools; nil: there are none

	// Suggest returns the one of names that word was meant to be, or ""; nil: no suggestions.
	Suggest func(word string, names []string) string
	Now     func() time.Time // nil means time.Now
}

// Command is something that the user can have done with a slash: /model NAME.
type Command struct {
	Name  string // without the slash
	Usage string // its arguments, such as "[NAME]"; may be empty
	Help  string // one sentence

	// Run does it and returns what is shown. It runs like a prompt: alone, and Ctrl-C cancels ctx.
	Run func(ctx context.Context, args string) (string, error)

	// Complete returns the whole arguments that begin with prefix. It must return at once; nil: there are none.
	Complete func(prefix string) []string
}

// Skill is one that the user may name: a prompt "/NAME ARGUMENTS" goes to Ask as it was typed, unless a command has that
// name.
type Skill struct {
	Name    string // in lower case, with hyphens: names are compared like that
	Refused bool   // Ask will say why it cannot be used now; neither Tab nor a suggestion names it
}

// Status is what the status line tells.
type Status struct {
	Model  string
	Active []ActiveSkill // the one that decides first
	Tokens []SkillTokens
	Usage  llm.Usage // of the whole conversation
}

// ActiveSkill is a skill that is active, and what it allows: "all tools" or a list of them.
type ActiveSkill struct{ Name, Allows string }

// SkillTokens is how many tokens of the conversation came from one skill.
type SkillTokens struct {
	Name   string
	Tokens int
}

func (o *Options) withDefaults() *Options {
	c := *o
	if c.Skills == nil {
		c.Skills = func() []Skill { return nil }
	}
	if c.Status == nil {
		c.Status = func() Status { return Status{} }
	}
	if c.Suggest == nil {
		c.Suggest = func(string, []string) string { return "" }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &c
}
