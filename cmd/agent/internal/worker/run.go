// Package worker is the agent at work: a model, its tools, the skills and one conversation. Run answers one prompt or
// holds a conversation in the terminal.
//
// Nothing that a skill or a model says chooses what may run or who is asked: the user's settings, the user's approvals
// and the answers at the terminal do.
package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/disclose"
)

// maxStdin is the most bytes of a piped input that become part of a prompt.
const maxStdin = 512 << 10

// Options is what the agent is asked to do.
type Options struct {
	Services *app.Services

	Prompt    string
	Asked     bool // --prompt was given: one answer, and no conversation
	Model     string
	Stream    bool
	JSON      bool
	AllowBash bool
	MaxTurns  int // 0 means the setting

	// Why prints why a skill is loaded, or is not, for a conversation's command of that name.
	Why func(ctx context.Context, s *app.Services, name string) error
}

// Run answers the prompt, or begins a conversation.
func Run(ctx context.Context, o *Options) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.Asked {
		return answerPrompt(ctx, o)
	}
	return converse(ctx, o)
}

// check refuses flags that say nothing together.
func (o *Options) check() error {
	switch {
	case o.MaxTurns < 0:
		return app.Usage(fmt.Errorf("--max-turns %d", o.MaxTurns), "0 means the setting maxTurns")
	case !o.Asked && (o.Stream || o.JSON):
		return app.Usage(errors.New("--stream and --json go with -p"), `agent -p "TEXT"`)
	}
	return nil
}

// readStdin returns what is piped in. When ctx ends first, the read goes on until the process ends.
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

// wholePrompt joins what was asked with what is piped in, which cannot end its own frame. Without a pipe nothing is read.
func (o *Options) wholePrompt(ctx context.Context) (string, error) {
	text := o.Prompt
	given := ""
	if piped(o.Services.Sys.In) {
		read := func() (err error) { given, err = readStdin(ctx, o.Services.Sys.In); return err }
		if err := o.Services.Out.Busy("reading stdin", read); err != nil {
			return "", err
		}
	}
	if len(given) > maxStdin {
		return "", app.Usage(fmt.Errorf("stdin is over %d bytes", maxStdin), "put it into a file and name the file in the prompt")
	}
	given = strings.TrimSpace(strings.ToValidUTF8(given, "\uFFFD"))
	if text == "-" {
		text = ""
	}
	switch {
	case text == "" && given == "":
		return "", app.Usage(errors.New("the prompt is empty"), `agent -p "TEXT"`)
	case given == "":
		return text, nil
	case text == "":
		return given, nil
	}
	return text + "\n\n<stdin>\n" + disclose.Shield(given, "stdin") + "\n</stdin>", nil
}

// piped reports whether stdin is a pipe, a file or a socket: something that was put there to be read.
func piped(in *os.File) bool {
	info, err := in.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0 && !info.IsDir()
}
