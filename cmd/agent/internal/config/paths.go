package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// Paths has the places of the program's files. An empty field means that there is no such place; paths that depend on it
// are empty too.
type Paths struct {
	Home    string // the user's home
	Agent   string // $AGENT_HOME, by default ~/.agent
	Project string // the project's root

	// Above are the folders above Project that belong to the same project, from its root down, if Project was named and is not the root.
	Above []string

	// Packages are the folders from the working directory up to the project's root, without it, that have a folder for agents: the
	// nearest first.
	Packages []string

	Cache  string // for files that can be created again
	System string // the operator's folder: /etc/agent
	Tenant string // whose State is; "" for nobody in particular

	nobody bool // it is not known whose State would be
}

// State returns the folder of what is kept for the tenant: Agent, or a folder of it. It is empty if the tenant is not known.
func (p Paths) State() string {
	switch {
	case p.nobody:
		return ""
	case p.Tenant == "":
		return p.Agent
	}
	return under(p.Agent, "tenants", p.Tenant)
}

// UserConfig returns the path of the user's settings file.
func (p Paths) UserConfig() string { return under(p.Agent, "config.yaml") }

// ProjectConfig returns the path of the project's settings file.
func (p Paths) ProjectConfig() string { return under(p.Project, projectConfig) }

// projectConfig is the path of a project's settings file below the project.
const projectConfig = ".agent/config.yaml"

// Trust returns the path of the file with approvals and trusted folders.
func (p Paths) Trust() string { return under(p.State(), "trust.json") }

// Accepted returns the path of the file with the user's acceptances of findings.
func (p Paths) Accepted() string { return under(p.State(), acceptedFile) }

// ProjectAccepted returns the path of the file with those of the project.
func (p Paths) ProjectAccepted() string { return under(p.Project, ".agent", acceptedFile) }

// acceptedFile is the name of a file of acceptances.
const acceptedFile = "accepted.yaml"

// Audit returns the folder of the audit log.
func (p Paths) Audit() string { return under(p.State(), "audit") }

// Homes returns the folder of the private homes of skills, which are not made again.
func (p Paths) Homes() string { return under(p.State(), "homes") }

// Served returns the folder that keeps skills of MCP servers.
func (p Paths) Served() string { return under(p.State(), "mcp", "served") }

// Skills returns the default folder of the user's skills.
func (p Paths) Skills() string { return under(p.Agent, "skills") }

// OfTenant returns the folder of the tenant's own skills; "" without a tenant.
func (p Paths) OfTenant() string {
	if p.Tenant == "" {
		return ""
	}
	return under(p.State(), "skills")
}

// Plugins returns the default folder of installed skills.
func (p Paths) Plugins() string { return under(p.Agent, "plugins") }

// Node returns the folder of the node that has the queue of workers and what servers share, for all tenants. Scripts cannot read it.
func (p Paths) Node() string { return under(p.Agent, "node") }

// Enterprise returns the folder of the operator's skills for all users.
func (p Paths) Enterprise() string { return under(p.System, "skills") }

func under(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}

// ProjectRoot returns the nearest folder with a .git, from dir upwards, or dir if there is none. It also returns dir if that
// folder is above dir and it or its .git belongs to another user than this one and root.
func ProjectRoot(dir string) string {
	root, _ := projectRoot(dir, lockfile.Owned)
	return root
}

// projectRoot is ProjectRoot. It also returns the folder that it rejected because of its owner.
func projectRoot(dir string, owned func(fs.FileInfo) bool) (root, foreign string) {
	for at := dir; at != ""; {
		if git, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			folder, err := os.Stat(at)
			if at != dir && (err != nil || !owned(git) || !owned(folder)) {
				return dir, at
			}
			return at, ""
		}
		parent := filepath.Dir(at)
		if parent == at {
			break
		}
		at = parent
	}
	return dir, ""
}

// mostPackages is how many folders above the working directory packages looks at.
const mostPackages = 64

// packages returns the folders from dir up to root, without root, in which an agent has a folder: the nearest first. One above dir that
// belongs to another user than this one and root is none, and nor is one above it.
func packages(dir, root string, owned func(fs.FileInfo) bool) (out []string) {
	if root == "" || !within(root, dir) {
		return nil
	}
	for at, n := dir, 0; n < mostPackages && at != root && lies(root, at); at, n = filepath.Dir(at), n+1 {
		if info, err := os.Lstat(at); at != dir && (err != nil || !owned(info)) {
			return out
		}
		if hasAgents(at) {
			out = append(out, at)
		}
	}
	return out
}

// hasAgents reports whether an agent has a folder in a folder.
func hasAgents(dir string) bool {
	return slices.ContainsFunc([]string{".agent", ".agents", ".claude"}, func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.IsDir()
	})
}

// absolute makes a path absolute. "~" is the home, and a relative path is below base. It returns "" if the path depends on
// a place that does not exist.
func absolute(path, base, home string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return under(home, path[1:])
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return under(base, path)
}

// within reports whether dir is root or lies below it, with and without the symbolic links in both.
func within(root, dir string) bool {
	if !lies(root, dir) {
		return false
	}
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		return true // root does not exist
	}
	for at := dir; lies(root, at); at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return lies(realRoot, real)
		} else if _, err := os.Lstat(at); err == nil {
			return false // a link that leads nowhere
		}
	}
	return true
}

func lies(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel)
}

// sameFolder reports whether two paths lead to one folder.
func sameFolder(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
