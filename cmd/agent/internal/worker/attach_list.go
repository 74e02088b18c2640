package worker

import (
	"context"
	"io/fs"
	"os"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/internal/git"
	"github.com/agent-base/agent-base/internal/gitdir"
	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/internal/paths"
)

// listTime is how long git may take to list the files of the project. mostFiles is how many of them a popup offers.
const (
	listTime  = 20 * time.Second
	mostFiles = 500_000
)

// files lists the files of the project, for a popup: what git lists, and where it lists nothing, what the tools of the model find.
func (w *worker) files(ctx context.Context) (chat.Files, error) {
	project := paths.Real(w.s.Settings.Config().Paths.Project)
	if names, ok := w.gitFiles(ctx, project); ok {
		n := min(len(names), mostFiles)
		return chat.Files{Names: names[:n], Partial: n < len(names)}, nil
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return chat.Files{}, err
	}
	defer root.Close()
	ctx, stop := context.WithTimeout(ctx, listTime)
	defer stop()
	var f chat.Files
	f.Partial, err = hosttool.Walk(ctx, root, ".", func(rel string, d fs.DirEntry) error {
		if d.Name() != ".git" { // a file or a link, where the repository is elsewhere
			f.Names = append(f.Names, rel)
		}
		return nil
	})
	if ctx.Err() != nil && len(f.Names) > 0 { // better some than none
		f.Partial, err = true, nil
	}
	return f, err
}

// gitFiles lists what git lists in the project, false if it lists nothing.
func (w *worker) gitFiles(ctx context.Context, project string) (names []string, ok bool) {
	top := config.ProjectRoot(project)
	at, err := gitdir.Of(top)
	if at == nil || err != nil {
		return nil, false
	}
	head, _ := at.Head()
	tree := &git.WorkTree{Dir: top, Git: at.Git, Common: at.Common, Head: head}
	unknown := w.askGit(listTime, tree, at, func(c *git.Client, room string) {
		names, err = c.Files(ctx, tree, project, room)
	})
	return names, unknown == "" && err == nil && len(names) > 0
}
