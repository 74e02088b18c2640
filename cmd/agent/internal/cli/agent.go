package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/llm/replay"
)

// maxStdin is the most bytes of a piped input that become part of a prompt.
const maxStdin = 512 << 10

// agentOptions are the flags of the agent itself.
type agentOptions struct {
	prompt    string
	asked     bool // --prompt was given
	model     string
	stream    bool
	json      bool
	allowBash bool
	maxTurns  int
}

// agentFlags gives the command the flags with which it is an agent.
func agentFlags(c *cobra.Command, o *agentOptions) {
	f := c.Flags()
	f.StringVarP(&o.prompt, "prompt", "p", "", "answer this `TEXT` and end; \"-\" reads it from stdin")
	f.StringVar(&o.model, "model", "", "the model to ask, as `PROVIDER/NAME`")
	f.BoolVar(&o.stream, "stream", false, "with -p: print the answer as it comes; with --json every step, one a line")
	f.BoolVar(&o.allowBash, "allow-bash", false, "let the model run shell commands without asking, as you, outside any sandbox")
	f.IntVar(&o.maxTurns, "max-turns", 0, "most `REQUESTS` to the model for one prompt (default: the setting maxTurns)")
	_ = c.RegisterFlagCompletionFunc("model", cobra.FixedCompletions(modelNames(), cobra.ShellCompDirectiveNoSpace))
}

func modelNames() []string {
	var names []string
	for _, p := range models.Providers() {
		names = append(names, p+"/")
	}
	return append(names, "replay/demo")
}

// agent is the command without a verb: one prompt, or a conversation.
func (a *app) agent(c *cobra.Command, o *agentOptions) error {
	o.asked = c.Flags().Changed("prompt")
	if err := o.check(); err != nil {
		return err
	}
	if o.asked {
		return a.answerPrompt(c.Context(), o)
	}
	return a.converse(c.Context(), o)
}

// check refuses flags that say nothing together.
func (o *agentOptions) check() error {
	switch {
	case o.maxTurns < 0:
		return usage(fmt.Errorf("--max-turns %d", o.maxTurns), "0 means the setting maxTurns")
	case !o.asked && (o.stream || o.json):
		return usage(errors.New("--stream and --json go with -p"), `agent -p "TEXT"`)
	}
	return nil
}

// finder finds models with this run's environment.
func (a *app) finder() *models.Finder {
	return &models.Finder{Getenv: a.sys.getenv, ReadFile: func(path string) ([]byte, error) {
		return lockfile.Read(a.abs(path), replay.MaxFile)
	}}
}

// model returns the model that the flag, the settings or the environment name.
func (a *app) model(ctx context.Context, name string) (*models.Found, error) {
	cfg, _ := a.settings()
	if name == "" {
		name = cfg.Agent.Model
	}
	found, err := a.finder().Find(ctx, name)
	return found, explainModel(err)
}

// explainModel says what to do about a model that cannot be asked.
func explainModel(err error) error {
	var name *models.NameError
	var of *llm.Error
	switch {
	case errors.Is(err, models.ErrNone):
		return &failure{exit: ExitNotFound, code: "no_model", hint: models.Ways(), err: err}
	case errors.As(err, &name):
		return &failure{exit: ExitUsage, code: "no_model", hint: name.Cure, err: err}
	case errors.As(err, &of):
		return &failure{exit: modelExit(of.Kind), code: string(of.Kind), hint: modelHint(of), err: err}
	}
	return err
}

// modelExit returns the exit code for a failure of a provider.
func modelExit(kind llm.ErrorKind) Exit {
	switch kind {
	case llm.BadKey:
		return ExitDenied
	case llm.NoModel:
		return ExitNotFound
	case llm.TimedOut:
		return ExitTimeout
	}
	return ExitFailure
}

func modelHint(e *llm.Error) string {
	switch e.Kind {
	case llm.BadKey:
		return "check the provider's key in the environment; docs/config.md names the variables"
	case llm.NoModel:
		return "--model PROVIDER/NAME names another one"
	case llm.RateLimit, llm.Overloaded:
		return "try again later, or with another --model"
	case llm.Network:
		return "is the server running, and the network there?"
	case llm.TooLong:
		return "ask for less at once, or set contextWindow to what the model holds"
	}
	return ""
}

// readStdin returns what is piped in. When ctx ends first, the read goes on until the process ends.
func (a *app) readStdin(ctx context.Context) (string, error) {
	type input struct {
		src []byte
		err error
	}
	got := make(chan input, 1)
	go func() {
		src, err := io.ReadAll(io.LimitReader(a.sys.In, maxStdin+1))
		got <- input{src, err}
	}()
	select {
	case in := <-got:
		return string(in.src), in.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// wholePrompt joins what was asked with what is piped in, which cannot end its own frame. Without a pipe nothing is read.
func (a *app) wholePrompt(ctx context.Context, o *agentOptions) (string, error) {
	text := o.prompt
	piped := ""
	if a.piped() {
		read := func() (err error) { piped, err = a.readStdin(ctx); return err }
		if err := a.busy("reading stdin", read); err != nil {
			return "", err
		}
	}
	if len(piped) > maxStdin {
		return "", usage(fmt.Errorf("stdin is over %d bytes", maxStdin), "put it into a file and name the file in the prompt")
	}
	piped = strings.TrimSpace(strings.ToValidUTF8(piped, "\uFFFD"))
	if text == "-" {
		text = ""
	}
	switch {
	case text == "" && piped == "":
		return "", usage(errors.New("the prompt is empty"), `agent -p "TEXT"`)
	case piped == "":
		return text, nil
	case text == "":
		return piped, nil
	}
	return text + "\n\n<stdin>\n" + disclose.Shield(piped, "stdin") + "\n</stdin>", nil
}

// piped reports whether stdin is a pipe, a file or a socket: something that was put there to be read.
func (a *app) piped() bool {
	info, err := a.sys.In.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0 && !info.IsDir()
}
