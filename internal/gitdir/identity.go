package gitdir

import (
	"path/filepath"

	"github.com/agent-base/agent-base/internal/paths"
)

// Identity names a project by the folder of git that all work trees of its repository share, or by its own folder if it has none. The
// name stays when the folder is moved within its file system. It is "" where the system does not say which folder is which.
func Identity(project string) string {
	git, err := Pointed(filepath.Join(project, ".git"))
	if err != nil {
		return identity(project)
	}
	if real, _, err := paths.Resolve(git); err == nil {
		if common, err := commonOf(real); err == nil {
			return identity(common)
		}
	}
	return identity(git)
}
