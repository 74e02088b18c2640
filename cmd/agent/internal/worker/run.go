// Package worker is the agent at work: a model, its tools, the skills and one conversation. Run answers one prompt or
// holds a conversation in the terminal.
//
// Only the user's settings, the user's approvals and the answers at the terminal choose what may run. Nothing that a skill
// or a model says does.
package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/disclose"
)

// maxStdin is the limit on piped input, in bytes.
const maxStdin = 512 << 10

// Options says what the agent should do.
type Options struct {
	Services *app.Services

	Prompt   string
	Asked    bool   // one answer to Prompt, and no conversation; else Prompt begins the conversation
	System   string // added to the system prompt
	Model    string
	Stream   bool
	JSON     bool
	Input    string // of stdin: "text", or "json" for lines that are prompts, stops and answers, which implies Stream and JSON; "" means text
	MaxTurns int    // 0 means the setting
	Past     Past
	ID       string // of a conversation that begins; "" means a new one

	past  *past // what Past names
	saves bool  // the conversation is saved; evals are not

	bare bool // without the texts for agents

	// Why prints why a skill is loaded or not, for the command /why.
	Why func(ctx context.Context, s *app.Services, name string) error
	// Init writes a first AGENTS.md, for the command /init.
	Init func(ctx context.Context, s *app.Services) error
}

// Run answers the prompt, or runs a conversation.
func Run(ctx context.Context, o *Options) error {
	if err := o.Check(); err != nil {
		return err
	}
	model := o.Model
	if err := o.open(ctx); err != nil {
		return err
	}
	defer func() { o.past.close() }()
	switch {
	case o.lines():
		return answerLines(ctx, o)
	case o.Asked:
		return answerPrompt(ctx, o)
	}
	for {
		next, err := converse(ctx, o)
		if err != nil || next == nil {
			return err
		}
		o.past.close()
		o.Services.Out.Printf("\n")
		o.Past, o.past, o.Model, o.Prompt = *next, nil, model, ""
		if err := o.open(ctx); err != nil {
			return err
		}
	}
}

// lines reports whether stdin has lines of JSON; other agents call these stream-json.
func (o *Options) lines() bool { return o.Input == "json" || o.Input == "stream-json" }

// Check returns an error for flags that do not fit together, and sets those that another one implies.
func (o *Options) Check() error {
	switch {
	case o.MaxTurns < 0:
		return failure.Usage(fmt.Errorf("invalid --max-turns %d", o.MaxTurns), "0 means the setting maxTurns")
	case o.Asked && strings.HasPrefix(o.Prompt, "--"):
		return failure.Usage(fmt.Errorf("no text after -p: the flag %s follows", o.Prompt), `write the text first: agent -p "TEXT" `+o.Prompt)
	case o.Input != "" && o.Input != "text" && !o.lines():
		return failure.Usage(fmt.Errorf("unknown --input-format %q", o.Input), "use text or json")
	case o.lines() && o.Asked && (o.Prompt == "" || o.Prompt == "-"):
		return failure.Usage(errors.New("with --input-format json, stdin has lines of JSON and no text for -p"), `write {"type":"prompt","text":"TEXT"} on a line of stdin`)
	case o.lines():
		o.Stream, o.JSON = true, true
	case !o.Asked && (o.Stream || o.JSON):
		return failure.Usage(errors.New("--stream and --json need -p"), `agent -p "TEXT"`)
	}
	return nil
}

// readStdin returns the piped input. If ctx is done first, the read continues until the process ends.
func readStdin(ctx context.Context, in io.Reader) (string, error) {
	type input struct {
		src []byte
		err error
	}
	got := make(chan input, 1)
	go func() {
		src, err := io.ReadAll(io.LimitReader(in, maxStdin+1))
		got <- input{src, err}
	}()
	select {
	case all := <-got:
		return string(all.src), all.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// wholePrompt joins the prompt and the piped input, which cannot end its own frame. Without a pipe it reads nothing.
func (o *Options) wholePrompt(ctx context.Context) (string, error) {
	text := o.Prompt
	given := ""
	if o.Services.Sys.Piped() {
		read := func() (err error) { given, err = readStdin(ctx, o.Services.Sys.In); return err }
		if err := o.Services.Out.Busy("reading stdin", read); err != nil {
			return "", err
		}
	}
	if len(given) > maxStdin {
		return "", failure.Usage(fmt.Errorf("stdin exceeds %d bytes", maxStdin), "write it to a file and name the file in the prompt")
	}
	given = strings.TrimSpace(strings.ToValidUTF8(given, "\uFFFD"))
	if text == "-" {
		text = ""
	}
	switch {
	case text == "" && given == "":
		return "", failure.Usage(errors.New("the prompt is empty"), `agent -p "TEXT"`)
	case given == "":
		return text, nil
	case text == "":
		return given, nil
	}
	return text + "\n\n<stdin>\n" + disclose.Shield(given, "stdin") + "\n</stdin>", nil
}
