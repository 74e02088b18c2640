package gitdir

import "github.com/agent-base/agent-base/internal/paths"

// Standing returns the folder that stands for a project: that of git which all work trees of its repository share, or the project's own
// if it has none, or none that is believed (see Of). It has no links.
func Standing(project string) string {
	project = paths.Real(project)
	r, err := Of(project)
	if err != nil || r == nil {
		return project
	}
	return r.Common
}

// Identity names a project by the folder that stands for it. The name stays when that folder is moved within its file system, and no other
// folder gets it. It is "" where the system does not say which folder is which.
func Identity(project string) string { return identity(Standing(project)) }
