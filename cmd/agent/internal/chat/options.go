package chat

import (
	"context"
	"errors"
	"io"
	"iter"
	"os/exec"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/todo"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/llm"
)

// Options configures a conversation. In, Out and Ask are required.
type Options struct {
	In        io.Reader
	Out       io.Writer
	Terminal  bool   // In and Out are *os.File of a terminal that understands cursor movement (not TERM=dumb)
	Colour    bool   // false: no colours and no bold, so no SGR sequences at all
	Term      string // the value of TERM; used in a terminal only
	Crops     bool   // when the window becomes narrower, the terminal cuts rows that are too long, and does not break them
	Clipboard bool   // Out is a terminal that takes a text for the clipboard, or passes over it
	Prompt    string // printed before each line is read, without Terminal, where a person types it; else empty
	Greeting  string // the first lines; may be empty
	First     string // the first input, as if it were typed; may be empty

	// Said has the last prompt and answer of a conversation that continues, which a person sees below the greeting. Both may be empty.
	Said struct{ Prompt, Answer string }

	// Ask answers a prompt. One goroutine at a time iterates over it. Leaving the loop or cancelling ctx must keep the
	// conversation usable.
	Ask func(ctx context.Context, prompt string) iter.Seq2[agent.Step, error]

	Commands []Command                            // added to help, open, tokens, quit and exit, or replacing the one of the same name
	Skills   func() []Skill                       // what a prompt may begin with after a slash, except commands; must return at once; may be nil
	Labels   func() []string                      // of servers: a prompt may begin with /LABEL:NAME; must return at once; may be nil
	Prompts  func(label string) []string          // the names of the prompts of a server, as far as they are known; must return at once; may be nil
	Files    func(context.Context) (Files, error) // lists the files that a prompt may mention; called in the background; nil: no popup offers any
	// Dropped says what a path that the user pasted names, if that is an image or a document to show to the model. It must return at once; may be nil.
	Dropped  func(path string) (d Drop, ok bool)
	Status   func() Status // called often, from Run's own goroutine, also while Ask works; may be nil
	History  History       // nil means that what was typed is forgotten at the end
	Prompter *Prompter     // asks the questions of tools; nil means that tools ask none

	// Question asks the Prompter's questions where Terminal is false, and returns the answer as ui.Streams.Ask does. Nothing is
	// printed while it works. nil means that no person can be asked there.
	Question func(ctx context.Context, q *ui.Question) (string, error)

	// Interrupt returns a context that Ctrl-C ends, and a function that releases it, where Terminal is false. nil means that Ctrl-C ends
	// the program.
	Interrupt func(ctx context.Context) (context.Context, func())

	// Stop stops the program until a shell continues it. It returns false at once if no shell can. nil means that none can.
	Stop func() bool

	// Changed returns the lines of a unified diff that a call made, which are shown below the call. nil means none.
	Changed func(*agent.Result) []string

	// Printed returns what a command of the user printed, which is shown below its call; "" for other calls. nil means none.
	Printed func(*agent.Result) string

	// Suggest returns the name that was probably meant by word, or "". nil means no suggestions.
	Suggest func(word string, names []string) string
	Now     func() time.Time // nil means time.Now

	// Editor returns the command that lets the user edit a text, and a function that returns what became of it and removes what was made
	// for it. It returns an error if there is no editor. nil means that none can be started.
	Editor func(text string) (*exec.Cmd, func() (string, error), error)

	// Notify rings the terminal's bell, and asks it to notify the desktop, when the conversation waits for a user who pressed no key for
	// some seconds.
	Notify bool
}

// ErrLeave is the error of a command after which the conversation ends.
var ErrLeave = errors.New("the conversation ends")

// Command is something that the user starts with a slash: /model NAME.
type Command struct {
	Name  string // without the slash
	Usage string // its arguments, such as "[NAME]"; may be empty
	Help  string // one sentence
	Diff  bool   // the text that Run returns has lines of a unified diff

	// Meanwhile reports whether the command may run with these arguments while a prompt is answered: it then asks no question, and is
	// safe for concurrent use. nil means never.
	Meanwhile func(args string) bool

	Fill func() string // returns an earlier input as one line, perhaps cut, that the empty input has after it; may be nil

	// Run runs the command and returns the text to show. Like a prompt it runs alone unless Meanwhile allows more. Ctrl-C cancels ctx.
	Run func(ctx context.Context, args string) (string, error)

	// Complete returns the possible arguments that begin with prefix. It must return at once. It may be nil.
	Complete func(prefix string) []string
}

// Skill is a skill that the user may name. A prompt "/NAME ARGUMENTS" goes to Ask unchanged, unless a command has that
// name.
type Skill struct {
	Name    string // in lower case, with hyphens; names are compared in this form
	About   string // one line; foreign text
	Refused bool   // Ask reports why it cannot be used now; popups and suggestions leave it out
}

// Drop is an image or a document that a pasted path names.
type Drop struct {
	Kind string // "image" or "document"
	Path string // as a prompt mentions it
	Size string
}

// Status is the content of the status line.
type Status struct {
	Model  string
	Mode   string        // what needs no question; "" is not shown
	Active []ActiveSkill // the first one decides
	Tokens []SkillTokens
	Usage  llm.Usage // of the whole conversation
	Todo   []todo.Item
	Jobs   int // commands in the background

	Branch  string // of the project's repository; "" is not shown
	Context int    // how much of the model's window is full, in percent; 0 is not shown
	Cost    string // of the whole conversation, such as "$0.12"; "" is not shown
}

// ActiveSkill is an active skill. Allows says what the active skills together allow, such as a list of tools; "" means all tools.
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
	if c.Stop == nil {
		c.Stop = func() bool { return false }
	}
	if c.Interrupt == nil {
		c.Interrupt = func(ctx context.Context) (context.Context, func()) { return ctx, func() {} }
	}
	if c.Printed == nil {
		c.Printed = func(*agent.Result) string { return "" }
	}
	if c.Changed == nil {
		c.Changed = func(*agent.Result) []string { return nil }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &c
}
