package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/surroundings"
	"github.com/agent-base/agent-base/internal/git"
	"github.com/agent-base/agent-base/internal/gitdir"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/paths"
)

// statusTime is how long git may take to say what has changed.
const statusTime = 1500 * time.Millisecond

// start returns what the model is told at the start of a conversation, "" if the user does not want that. It is a part of the first turn,
// because it would change the prefix of every conversation.
func (w *worker) start(ctx context.Context) string {
	cfg := w.s.Settings.Config()
	if !cfg.Agent.Context || w.bare {
		return ""
	}
	s := &surroundings.Start{Now: w.s.Sys.Now().Local(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if shell := w.s.Sys.Getenv("SHELL"); shell != "" {
		s.Shell = filepath.Base(shell)
	}
	project := paths.Real(cfg.Paths.Project)
	if at, err := gitdir.Of(project); at != nil && err == nil {
		head, branch := at.Head()
		s.Repository, s.Branch = true, branch
		s.Status, s.Unknown = w.status(ctx, &git.WorkTree{Dir: project, Git: at.Git, Common: at.Common, Head: head}, at)
	}
	return s.Text()
}

// status returns what git says has changed in a work tree, or why that is not known.
func (w *worker) status(ctx context.Context, tree *git.WorkTree, at *gitdir.Repository) (lines []string, unknown string) {
	var err error
	unknown = w.askGit(statusTime, tree, at, func(c *git.Client, room string) {
		lines, err = c.Status(ctx, tree, room)
	})
	switch {
	case unknown != "":
		return nil, unknown
	case errors.Is(err, git.ErrTooMuch):
		return nil, "it takes too long, or too much has changed"
	case err != nil:
		return nil, "git could not read it"
	}
	return lines, ""
}

// askGit calls ask with a client whose runs end after a time, and an empty folder for a repository without its settings. It returns why it
// could not.
func (w *worker) askGit(most time.Duration, tree *git.WorkTree, at *gitdir.Repository, ask func(c *git.Client, room string)) (unknown string) {
	file, err := w.s.Settings.FindProgram("git")
	if err != nil {
		return "git is not installed"
	}
	dirs, _ := w.s.Settings.ScriptPath()
	client, err := git.New(&git.Options{Program: file, Path: dirs, Env: w.s.Sys.Environ, Limits: git.Limits{Time: most}})
	if err != nil {
		return "git cannot be started"
	}
	room, err := os.MkdirTemp(w.s.Sys.Temp, "agent-git-")
	if err != nil {
		return "there is no folder for it"
	}
	defer ondisk.RemoveAll(room)
	tree.Config = at.Plain(w.home.git.Carry(room).Files[".gitconfig"])
	ask(client, room)
	return ""
}
