package worker

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/trial"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// maxEvalFiles is how many files of an eval's folder are named in its answer.
const maxEvalFiles = 1000

// Evaluator carries out the evals of a skill as agent -p does: a new conversation for each, in a folder of its own, which is
// removed. Nobody is asked anything.
type Evaluator struct {
	Found *models.Found
	Temp  string // folder for the folders of the tasks
	// Services returns the services of a run in a folder.
	Services func(dir string) (*app.Services, error)
}

// Answer carries out one task.
func (e *Evaluator) Answer(ctx context.Context, task *trial.Task) (*trial.Answer, error) {
	dir, err := os.MkdirTemp(e.Temp, "agent-eval-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	for name, data := range task.Files {
		if !filepath.IsLocal(name) {
			return nil, &fs.PathError{Op: "write", Path: name, Err: fs.ErrInvalid}
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return nil, err
		}
	}
	s, err := e.Services(dir)
	if err != nil {
		return nil, err
	}
	cat, err := skillsOrNone(ctx, s)
	if err != nil {
		return nil, err
	}
	w, err := newWorker(ctx, &Options{Services: s, bare: true}, e.Found, func() *skill.Catalog { return cat }, nil)
	if err != nil {
		w.servers.close()
		return nil, err
	}
	defer w.close(ctx)
	out, err := w.carryOut(ctx, task.Prompt)
	if err != nil {
		return nil, err
	}
	out.Files = filesIn(dir)
	return out, nil
}

// carryOut answers a prompt and notes what was called for it.
func (w *worker) carryOut(ctx context.Context, prompt string) (*trial.Answer, error) {
	out := &trial.Answer{}
	for step, err := range w.ask(ctx, prompt, prompt) {
		if err != nil {
			return nil, err
		}
		switch {
		case step.Result != nil:
			out.Tools = append(out.Tools, step.Result.Call.Name)
			if name := skillOf(step.Result); name != "" && !slices.Contains(out.Skills, name) {
				out.Skills = append(out.Skills, name)
			}
		case step.Done != nil:
			out.Text, out.Tokens = step.Done.Text, step.Done.Usage.Input+step.Done.Usage.Output
			return out, ended(step.Done)
		}
	}
	return nil, errors.New("the conversation ended without an answer")
}

// skillOf returns the skill that a call was about, "" for a call that failed or that was about none.
func skillOf(r *agent.Result) string {
	var args struct {
		Skill string `json:"skill_name"`
	}
	if !r.Result.Success || json.Unmarshal(r.Call.Args, &args) != nil || manifest.CheckName(args.Skill) != nil {
		return ""
	}
	return manifest.Canonical(args.Skill)
}

// filesIn returns the slash paths of the files in a folder.
func filesIn(dir string) []string {
	var out []string
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || len(out) == maxEvalFiles:
			return fs.SkipAll
		case d.Type().IsRegular():
			out = append(out, name)
		}
		return nil
	})
	return out
}

// Judge asks the model about a prompt, without any tools.
func (e *Evaluator) Judge(ctx context.Context, prompt string) (string, error) {
	answer, err := agent.Run(ctx, &agent.Options{Model: e.Found.Model, Retry: &llm.RetryOptions{}, MaxTurns: 1,
		System: "You judge work by statements about it, and answer with JSON."}, prompt)
	if err != nil {
		return "", err
	}
	return models.Unmarked(answer.Text), ended(answer)
}
