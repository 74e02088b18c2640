package git

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// SubmodulesFile is the file of a repository that says where its submodules are from.
const SubmodulesFile = ".gitmodules"

const mostSubmodules = 1 << 20 // bytes of what git says of them

// Submodules returns the URLs of the submodules of the commit by their paths, as far as the content of its .gitmodules is here. The
// URLs are what the repository says, relative ones made absolute as git does: nobody has checked them.
func (r *Repository) Submodules(ctx context.Context) map[string]string {
	r.mu.Lock()
	n := r.t.nodes[SubmodulesFile]
	here := n != nil && !n.mode.IsDir() && !r.closed
	if here {
		_, here = r.contents.places[n.id]
	}
	r.mu.Unlock()
	if !here {
		return nil
	}
	said, _, err := r.c.run(ctx, &call{dir: r.o.Dir, most: mostSubmodules,
		args: []string{"config", "--blob=" + n.id, "-z", "--get-regexp", `^submodule\..*\.(path|url)$`}})
	if err != nil {
		return nil
	}
	paths, urls, out := map[string]string{}, map[string]string{}, map[string]string{}
	for _, s := range parseSettings(string(said)) {
		if name, ok := strings.CutSuffix(s.key, ".path"); ok {
			paths[name] = s.value
		} else if name, ok := strings.CutSuffix(s.key, ".url"); ok {
			urls[name] = absolute(r.o.URL, s.value)
		}
	}
	for name, at := range paths {
		if urls[name] != "" {
			out[at] = urls[name]
		}
	}
	return out
}

// absolute returns the URL of a submodule of a repository. One that begins with "./" or "../" is relative to the repository's, whose
// last part is the repository. A path of this machine stands for a repository of this machine if the repository is one. It returns ""
// for what leads above the host.
func absolute(repository, text string) string {
	local := strings.HasPrefix(repository, "file://")
	if local && filepath.IsAbs(text) {
		return (&url.URL{Scheme: "file", Path: filepath.ToSlash(text)}).String()
	}
	if !strings.HasPrefix(text, "./") && !strings.HasPrefix(text, "../") {
		return text
	}
	base, at := "", repository // what stays, and the path
	if scheme, rest, ok := strings.Cut(repository, "://"); ok {
		host, below, _ := strings.Cut(rest, "/")
		base, at = scheme+"://"+host+"/", below
	} else if host, below, ok := strings.Cut(repository, ":"); ok {
		base, at = host+":", below
		if strings.HasPrefix(below, "/") {
			base, at = base+"/", below[1:]
		}
	}
	parts := strings.Split(strings.Trim(at, "/"), "/")
	for part := range strings.SplitSeq(strings.TrimRight(text, "/"), "/") {
		switch {
		case part == "." || part == "":
		case part != "..":
			if local {
				part = url.PathEscape(part)
			}
			parts = append(parts, part)
		case len(parts) == 0:
			return ""
		default:
			parts = parts[:len(parts)-1]
		}
	}
	return base + strings.Join(parts, "/")
}

// AddSubmodule gets the commit of a submodule from a URL, and puts its files where the submodule is. c is the client for it. The limits
// hold for the repository and its submodules together. Links of the submodule are followed in it. An error leaves the Repository as it
// was. The submodules of a submodule are not fetched.
func (r *Repository) AddSubmodule(ctx context.Context, c *Client, l LeftOut, o *FetchOptions) error {
	r.mu.Lock()
	n := len(r.mounted)
	r.mu.Unlock()
	dir := filepath.Join(r.o.Dir, "modules", strconv.Itoa(n))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	sub, err := c.Fetch(ctx, &FetchOptions{URL: o.URL, Commit: l.Commit, Dir: dir, AllowFile: o.AllowFile, Progress: o.Progress, All: o.All, room: r.o.Dir})
	if err == nil {
		err = sub.Need(ctx, func(string) bool { return false }) // follows its links
	}
	if err == nil {
		err = r.mount(l.Path, sub)
	}
	if err != nil {
		if sub != nil {
			_ = sub.Close() // the first error says more
		}
		_ = os.RemoveAll(dir) // the caller removes the folder above
	}
	return err
}

// mount puts the files of a submodule at its path.
func (r *Repository) mount(at string, sub *Repository) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if most := r.c.o.Limits.Files; len(r.t.files)+len(sub.t.files) > most {
		return fmt.Errorf("%s: %w", sub.o.URL, &tooMany{tooMuch{fmt.Sprintf("it has more than %d files with those of its submodules", most)}})
	}
	if r.closed {
		return os.ErrClosed
	}
	for dir := at; dir != "."; dir = path.Dir(dir) {
		if n := r.t.nodes[dir]; n != nil && (dir == at || !n.mode.IsDir()) {
			return fmt.Errorf("%w: it has %q twice", ErrHostile, dir)
		}
	}
	var left []LeftOut
	for _, own := range sub.t.files {
		p := at + "/" + own.path
		if why := unusual(p); why != "" {
			left = append(left, LeftOut{Path: p, Reason: why})
			continue
		}
		n := &node{name: own.name, path: p, mode: own.mode, from: sub, own: own}
		if err := r.t.put(n); err != nil {
			return err
		}
		r.t.files = append(r.t.files, n)
	}
	for _, n := range r.t.nodes {
		slices.SortFunc(n.children, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	}
	r.t.left = slices.DeleteFunc(r.t.left, func(l LeftOut) bool { return l.Path == at })
	for _, l := range sub.LeftOut() {
		left = append(left, LeftOut{Path: path.Join(at, l.Path), Reason: l.Reason})
	}
	r.t.left = append(r.t.left, left...)
	if r.mounted == nil {
		r.mounted = map[string]*Repository{}
	}
	r.mounted[at] = sub
	return nil
}
