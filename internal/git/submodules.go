package git

import (
	"context"
	"net/url"
	"path"
	"strings"
)

// submodulesFile is the file of a repository that says where its submodules are from.
const submodulesFile = ".gitmodules"

const mostSubmodules = 1 << 20 // bytes of what git says of them

// Submodules returns the URLs of the submodules of the commit by their paths, as far as the content of its .gitmodules is here. The
// URLs are what the repository says, relative ones made absolute: nobody has checked them.
func (r *Repository) Submodules(ctx context.Context) map[string]string {
	r.mu.Lock()
	n := r.t.nodes[submodulesFile]
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
			urls[name] = r.absolute(s.value)
		}
	}
	for name, at := range paths {
		if urls[name] != "" {
			out[at] = urls[name]
		}
	}
	return out
}

// absolute returns the URL of a submodule, which may begin with "./" or "../" and is then next to or below the repository.
func (r *Repository) absolute(text string) string {
	if !strings.HasPrefix(text, "./") && !strings.HasPrefix(text, "../") {
		return text
	}
	u := url.URL{Scheme: r.u.Scheme, Host: r.u.Host, Path: path.Join(r.u.Path, text)}
	return u.String()
}
