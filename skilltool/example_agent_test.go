package skilltool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing/fstest"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

// A whole agent with skills: the list of them in the prefix, what a prompt calls for in its turn, what is active carried
// over when the conversation is shortened, and a sub-agent for a skill with context: fork.
func ExampleKit() {
	ctx := context.Background()
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "mine", Source: skill.FS(fstest.MapFS{
		"csv-report/SKILL.md": {Data: []byte("---\nname: csv-report\ndescription: Summarises CSV files.\n" +
			"triggers: {keywords: [spreadsheet]}\n---\nRead the header first.\n")},
		"explore/SKILL.md": {Data: []byte("---\nname: explore\ndescription: Looks for data.\ncontext: fork\n---\nLook around.\n")},
	}, nil)}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	kit := skilltool.New(&skilltool.Options{
		Catalog: func() *skill.Catalog { return catalog },
		Session: session.New(nil),
		Forks:   true,
		Show:    skilltool.Show{Unlisted: true}, // the plan lists the skills
	})
	plan, err := disclose.NewPlan(context.Background(), catalog, &disclose.PlanOptions{Mode: disclose.ByTriggers})
	if err != nil {
		fmt.Println(err)
		return
	}
	options := &agent.Options{
		Model:  analyst(),
		Tools:  executor(kit),
		System: disclose.Join("You are a careful analyst.", plan.Prefix().Body),
		Turn: func(ctx context.Context, prompt string) string {
			choice, err := kit.Turn(ctx, plan, prompt)
			if err != nil {
				return "" // ctx has ended: the loop says so
			}
			return choice.Text.Body
		},
		Carry: func(ctx context.Context) string { return kit.Carry(ctx).Body },
	}
	options.Fork = func(ctx context.Context, f tool.Fork) (*agent.Options, error) {
		sub, err := kit.Sub(ctx, f)
		if err != nil {
			return nil, err
		}
		return &agent.Options{Model: options.Model, Tools: executor(sub), System: "You do one task.", End: sub.End,
			Turn:  func(context.Context, string) string { return sub.Opening() },
			Carry: func(ctx context.Context) string { return sub.Carry(ctx).Body }}, nil
	}
	defer kit.End(ctx) // the task is over
	for step, err := range agent.New(options).Ask(ctx, "What is in this spreadsheet?") {
		show(step, err)
	}
	for _, c := range kit.Carry(ctx).Skills { // what a shortened conversation would keep
		fmt.Println("still in force:", c.Name)
	}
	// Output:
	// call of skill {"skill_name":"explore"}
	// sub-agent: two files
	// {"answer":"two files"}
	// There are two files.
	// still in force: csv-report
}

// executor has the tools of a kit, and calls what the active skills allow; an agent would add its own tools.
func executor(kit *skilltool.Kit) *tool.Executor {
	set := &tool.Set{}
	for _, t := range kit.Tools() {
		if err := set.Add(t); err != nil {
			fmt.Println(err)
		}
	}
	return &tool.Executor{Tools: set, Check: kit.Check}
}

func show(s agent.Step, err error) {
	switch {
	case err != nil:
		fmt.Println("error:", err)
	case s.Call != nil:
		fmt.Println("call of", s.Call.Name, string(s.Call.Args))
	case s.Text != "" && s.Depth > 0:
		fmt.Println("sub-agent:", s.Text)
	case s.Text != "":
		fmt.Println(s.Text)
	case s.Result != nil:
		b, _ := json.Marshal(s.Result.Result.Result)
		fmt.Println(string(b))
	}
}

// analyst stands for a model: it has a sub-agent look around, then answers.
func analyst() llm.Model {
	return llm.ModelFunc(func(_ context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
		say := func(events ...llm.Event) iter.Seq2[llm.Event, error] {
			return func(yield func(llm.Event, error) bool) {
				for _, e := range events {
					if !yield(e, nil) {
						return
					}
				}
			}
		}
		switch {
		case strings.HasPrefix(r.System, "You do one task."):
			return say(llm.Event{Text: "two files"}, llm.Event{Stop: llm.StopEnd})
		case len(r.Messages) > 1:
			return say(llm.Event{Text: "There are two files."}, llm.Event{Stop: llm.StopEnd})
		}
		call := &llm.Call{ID: "1", Name: "skill", Args: json.RawMessage(`{"skill_name":"explore"}`)}
		return say(llm.Event{Call: call}, llm.Event{Stop: llm.StopCalls})
	})
}
