package runner

import (
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/paths"
)

// Link is a symbolic link that lies on the way to a path.
type Link = paths.Link

// resolver turns the paths of a Reach into those that they lead to, each once. It keeps the links on the way, which the command sees as
// links, and says which paths the command does not get.
type resolver struct {
	known   map[string]resolved
	links   []Link
	missing []string

	home, realHome string   // the user's, with and without links
	homeLinks      []string // the links that lead to it
	keys           []string // the files and folders of the home that have keys, without links
	private        []string // what no command sees, without links
	written        []string // folders that commands may write, without links: they may have made the links in them
}

type resolved struct {
	real  string
	links []Link
	err   error
}

// follow returns what a path leads to. What does not exist of it stays as it is; err says why it leads nowhere.
func (r *resolver) follow(path string) resolved {
	if got, ok := r.known[path]; ok {
		return got
	}
	var got resolved
	got.real, got.links, got.err = paths.Resolve(path)
	if got.err != nil {
		got.real = paths.Real(filepath.Clean(path))
	}
	if r.known == nil {
		r.known = map[string]resolved{}
	}
	r.known[path] = got
	return got
}

// real returns what a path leads to, or would lead to, and has the command see the links on the way. It returns "" for "".
func (r *resolver) real(path string) string {
	if path == "" {
		return ""
	}
	got := r.follow(path)
	r.links = append(r.links, got.links...)
	return got.real
}

// reals is real for each of some paths.
func (r *resolver) reals(list []string) []string {
	out := make([]string, len(list))
	for i, path := range list {
		out[i] = r.real(path)
	}
	return out
}

// there is reals for what exists. It says of the others that the command does not get them. what is what it would do with them.
func (r *resolver) there(what string, list []string) []string {
	var out []string
	for _, path := range list {
		if err := r.follow(path).err; err != nil {
			r.leaveOut(what, path, paths.Why(err))
			continue
		}
		out = append(out, r.real(path))
	}
	return out
}

// granted is reals for what a user named, but for what a link of somebody else leads to.
func (r *resolver) granted(what string, list []string) []string {
	var out []string
	for _, path := range list {
		if why := r.misled(path); why != "" {
			r.leaveOut(what, path, why)
			continue
		}
		out = append(out, r.real(path))
	}
	return out
}

// misled says why a path that a user named does not lead where the user meant; "" for one that does.
func (r *resolver) misled(path string) string {
	got := r.follow(path)
	for _, l := range got.links {
		if paths.Within(r.written, filepath.Dir(l.Path)) {
			return "leads through a symbolic link in a folder that commands may write: name the path that it leads to"
		}
	}
	if len(got.links) > 0 && r.guarded(got.real) != "" && !paths.Within(keysOf(r.home), path) {
		return "leads through a symbolic link to what was not named: " + r.guarded(got.real)
	}
	return ""
}

// guarded says why commands get a path only by its own name; "" for one that is like others.
func (r *resolver) guarded(real string) string {
	switch {
	case paths.Within(r.private, real):
		return "the agent's own files are there"
	case r.realHome != "" && slices.ContainsFunc(append(r.homeLinks, r.realHome), func(in string) bool { return paths.Within([]string{real}, in) }):
		return "the whole home is in it"
	case paths.Within(r.keys, real):
		return "keys are in it"
	}
	return ""
}

// keysOf returns the files and folders of a home that have keys.
func keysOf(home string) []string {
	if home == "" {
		return nil
	}
	out := content.Keys()
	for i, name := range out {
		out[i] = filepath.Join(home, name)
	}
	return out
}

// leaveOut says that the command does not get a path, and why.
func (r *resolver) leaveOut(what, path, why string) {
	line := what + ": " + path + " " + why
	if !slices.Contains(r.missing, line) {
		r.missing = append(r.missing, line)
	}
}
