package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

type skillCallOptions struct {
	scriptCaller
	skills *library.Library
	in     *os.File

	skill, tool string
	pairs       []string // KEY=VALUE
	args        string   // JSON; "-" for stdin
	json        bool
}

func newSkillCallCommand(s *app.Services, run func(context.Context, *skillCallOptions) error) *cobra.Command {
	o := &skillCallOptions{scriptCaller: newScriptCaller(s), skills: s.Skills, in: s.Sys.In}
	c := &cobra.Command{
		Use:   "call NAME TOOL [KEY=VALUE...]",
		Short: "Call a tool of a skill's toolset and print its result",
		Long: `Start a toolset of a skill in the sandbox, call one of its tools as a model would, and print its result. The first time
all toolsets of the skill are started, to find the tool; CLASS.TOOL starts the one of that class or server only.
The arguments are KEY=VALUE, where a value for an argument that is not a text is JSON, or one JSON object with --args.

A skill that is not bundled must be trusted first: on a terminal you are asked, otherwise see "agent skill trust".`,
		Example: `  agent skill call hello-extended greet_in_language name=Ada language=es
  agent skill call hello-extended greet_multiple --args '{"names": ["Ada", "Alan"]}' --json`,
		Args:              arguments(2, -1, "the name of a skill and of a tool"),
		ValidArgsFunction: completeTools(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.skill, o.tool, o.pairs = args[0], args[1], args[2:]
			return run(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.args, "args", "", "the arguments as a `JSON` object; \"-\" reads it from stdin")
	c.Flags().BoolVar(&o.json, "json", false, "print the whole result as JSON")
	return c
}

// maxArguments is the limit on a JSON object with arguments from stdin, in bytes.
const maxArguments = 8 << 20

// given returns the JSON object of --args, or nil.
func (o *skillCallOptions) given() (json.RawMessage, error) {
	text := o.args
	switch {
	case text == "":
		return nil, nil
	case len(o.pairs) > 0:
		return nil, failure.Usage(fmt.Errorf("--args and %q at once", o.pairs[0]), "write all arguments into the object")
	case text == "-":
		src, err := io.ReadAll(io.LimitReader(o.in, maxArguments+1))
		if err != nil {
			return nil, err
		}
		if text = string(src); len(src) > maxArguments {
			return nil, failure.Usage(fmt.Errorf("stdin exceeds %d bytes", maxArguments), "")
		}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil || members == nil {
		return nil, failure.Usage(fmt.Errorf("--args is not a JSON object: %w", noObject(err)), `write it as --args '{"name": "Ada"}'`)
	}
	return json.RawMessage(text), nil
}

func noObject(err error) error {
	if err == nil {
		return errors.New("it is null")
	}
	return err
}

func runSkillCall(ctx context.Context, o *skillCallOptions) error {
	args, err := o.given()
	if err != nil {
		return err
	}
	cat, err := o.skills.OpenFor(ctx, o.skill)
	if err != nil {
		return err
	}
	e, err := library.Find(cat, o.skill)
	if err != nil {
		return err
	}
	r, err := o.callToolset(ctx, cat, e.Canonical(), fmt.Sprintf("running %s of %s", o.tool, e.Canonical()), func(kit *skilltool.Kit) (tool.Result, error) {
		t, err := kit.Tool(ctx, e.Canonical(), o.tool)
		if err != nil {
			return tool.Result{}, err
		}
		if args == nil {
			if args, err = pairArguments(o.pairs, t.Input); err != nil {
				return tool.Result{}, err
			}
		}
		return t.Call(ctx, args), nil
	})
	return (&answer{o.out, o.settings, o.json}).scripted(r, err, func() string {
		if err == nil && r.Reason == skilltool.ReasonUntrusted {
			return trustHint(ctx, e)
		}
		if r.Error == tool.NotFound {
			return "agent skill tools " + e.Canonical() + " lists them"
		}
		return toolsetHint(ctx, o.settings, cat, e.Canonical(), err)
	}, func() error { return o.printResult(r) })
}

// printResult prints what a tool returned: a text unchanged, other values as JSON.
func (o *skillCallOptions) printResult(r tool.Result) error {
	raw, err := json.Marshal(r.Result)
	if err != nil {
		return err
	}
	var text string
	if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		return o.out.Foreign(ui.Text(text) + "\n")
	}
	if string(raw) == "null" {
		if r.Message != "" {
			return o.out.Foreign(ui.Text(r.Message) + "\n")
		}
		return nil
	}
	return printDocument(o.out, raw)
}

// pairArguments makes a JSON object of KEY=VALUE. A value is a text, unless the schema wants something else.
func pairArguments(pairs []string, schema json.RawMessage) (json.RawMessage, error) {
	var known struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &known) // a schema of another form describes nothing
	out := map[string]json.RawMessage{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, failure.Usage(fmt.Errorf("argument %q is not KEY=VALUE", pair), `write it as name=Ada, or all as --args '{"name": "Ada"}'`)
		}
		if _, twice := out[key]; twice {
			return nil, failure.Usage(fmt.Errorf("argument %q is given twice", key), `a list is written as JSON: names='["Ada", "Alan"]'`)
		}
		property, found := known.Properties[key]
		if found && property.Type != "string" && json.Valid([]byte(value)) {
			out[key] = json.RawMessage(value)
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		out[key] = raw
	}
	return json.Marshal(out)
}
