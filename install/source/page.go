package source

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// page is a shape of the addresses that people copy from a browser: a repository, a mark, a version and a path in it.
type page struct {
	mark  string   // between the repository and the version
	parts int      // of the path of the repository; 0 is two or more
	kind  string   // of the version, as in Ref.Type
	hosts []string // that have the shape; nil is any
	base  string   // where the repository is, if it is not on the host of the address
	below string   // between the version and the path; "" is "/"
	name  bool     // the name of a skill stands in the place of a version and a path

	form  func() *regexp.Regexp // instead of mark and parts; its last group is the path, and the parameter "at" of the query the version
	clone string                // what the path of the repository is, from the other groups of form
}

// Bitbucket Server and Data Center, also below a path of the host: the repositories of a project, and those of a user.
var (
	ofProject = lazyregexp.New(`^(.*?/)?projects/([^/]+)/repos/([^/]+)/(?:browse|raw)(?:/(.*))?$`)
	ofUser    = lazyregexp.New(`^(.*?/)?users/([^/]+)/repos/([^/]+)/(?:browse|raw)(?:/(.*))?$`)
)

// pages has a row for each shape. The first that fits counts.
var pages = []page{
	{mark: "/-/tree/"}, {mark: "/-/blob/"}, {mark: "/-/raw/"}, // GitLab
	{mark: "/src/branch/", kind: "branch"}, {mark: "/src/tag/", kind: "tag"}, {mark: "/src/commit/", kind: "commit"}, // Forgejo and Gitea
	{mark: "/raw/branch/", kind: "branch"}, {mark: "/raw/tag/", kind: "tag"}, {mark: "/raw/commit/", kind: "commit"},
	{mark: "/tree/", parts: 2, hosts: []string{"git.sr.ht"}, below: "/item/"},
	{mark: "/tree/", parts: 2}, {mark: "/blob/", parts: 2}, {mark: "/raw/", parts: 2}, // GitHub
	{mark: "/src/", parts: 2, hosts: []string{"bitbucket.org"}},
	{form: ofProject, clone: "${1}scm/$2/$3", below: "?"}, {form: ofUser, clone: "${1}scm/~$2/$3", below: "?"}, // no version has a "?"
	{mark: "/", parts: 2, hosts: []string{"raw.githubusercontent.com"}, base: gitHub},
	{mark: "/", parts: 2, hosts: []string{"skills.sh", "www.skills.sh"}, base: gitHub, name: true},
}

// mostSlashes is how many slashes the name of a branch may have that stands in the address of a page.
const mostSlashes = 4

// Longer returns the place that the address of a page names if its version has one more part: the address does not show where the name
// of a branch with a slash ends. It reports false if Joined is, and where the version has too many parts or nothing follows.
func (r Ref) Longer() (Ref, bool) {
	part, rest, _ := strings.Cut(r.Path, "/")
	if !r.Joined || part == "" || strings.Count(r.Want, "/") >= mostSlashes {
		return r, false
	}
	r.Want, r.Path = r.Want+"/"+part, rest
	return r, true
}

// At returns the place at another version. Its arguments are as Want and Type.
func (r Ref) At(want, kind string) Ref {
	if r.Joined {
		if rest, ok := strings.CutPrefix(r.Want+"/"+r.Path+"/", want+"/"); ok {
			r.Path = strings.TrimSuffix(rest, "/")
		}
	}
	r.Want, r.Type, r.Joined = want, kind, false
	return r
}

// ofPage reads the address of a page that shows a file or a folder of a repository, and reports whether it is one. ref has what
// follows a "#".
func ofPage(u *url.URL, ref Ref) (_ Ref, ok bool, err error) {
	if out, ok := ofAzure(u, ref); ok {
		out, err := checkGit("https://"+u.Host+u.Path, out)
		return out, true, err
	}
	for _, row := range pages {
		repo, after, ok := row.split(u)
		if !ok {
			continue
		}
		if row.name {
			ref.Name = after
		} else if ref, err = row.place(after, ref); err != nil {
			return ref, true, err
		}
		where := row.base + repo
		if row.base == "" {
			where = repositoryURL(&url.URL{Scheme: "https", Host: u.Host, Path: "/" + repo})
		}
		ref, err = checkGit(where, ref)
		return ref, true, err
	}
	return ref, false, nil
}

// split returns the path of the repository in an address, and what follows the mark.
func (p *page) split(u *url.URL) (repo, after string, ok bool) {
	if p.hosts != nil && !slices.Contains(p.hosts, strings.ToLower(u.Host)) {
		return "", "", false
	}
	path := strings.Trim(u.Path, "/")
	if p.form != nil {
		groups := p.form().FindStringSubmatch(path)
		if groups == nil {
			return "", "", false
		}
		repo = p.form().ReplaceAllString(path, p.clone)
		return repo, u.Query().Get("at") + p.below + groups[len(groups)-1], true
	}
	if p.parts == 0 {
		repo, after, ok = strings.Cut(path, p.mark)
		return repo, after, ok && strings.Contains(repo, "/") && after != ""
	}
	parts := strings.SplitN(path, "/", p.parts+1)
	if len(parts) < p.parts || len(parts) == p.parts && p.base == "" {
		return "", "", false
	}
	repo = strings.Join(parts[:p.parts], "/")
	after, ok = strings.CutPrefix(path[len(repo):], p.mark)
	return repo, after, (ok && after != "") || len(parts) == p.parts
}

// place reads a version and the path of a folder, or of the SKILL.md in it.
func (p *page) place(text string, ref Ref) (Ref, error) {
	given, twice := ref.Want, ref.Path != ""
	ref.Type = p.kind
	for prefix, kind := range map[string]string{"refs/heads/": "branch", "refs/tags/": "tag"} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			text, ref.Type = rest, kind
		}
	}
	between := p.below
	if between == "" {
		between = "/"
	}
	var file bool
	ref.Want, ref.Path, _ = strings.Cut(text, between)
	for _, name := range []string{"SKILL.md", "skill.md"} {
		if rest, ok := strings.CutSuffix("/"+ref.Path, "/"+name); ok {
			ref.Path, file = strings.TrimPrefix(rest, "/"), true
		}
	}
	ref.Joined = p.below == "" && ref.Type != "commit" && ref.Path != ""
	if twice {
		return ref, cured(errors.New("it names two folders"), "leave out what follows the colon")
	}
	switch {
	case given == "" || file && !strings.HasPrefix(text+"/", given+"/"): // a heading or a line of the file
	case !strings.HasPrefix(text+"/", given+"/"):
		return ref, cured(fmt.Errorf("%q is not the version in the address", given), "leave out what follows the \"#\", or give the version with the address of the repository alone")
	default:
		ref = ref.At(given, ref.Type)
	}
	return ref, nil
}

// ofAzure reads "_git/REPO?path=PATH&version=GBREF".
func ofAzure(u *url.URL, ref Ref) (Ref, bool) {
	if _, repo, _ := strings.Cut(u.Path, "/_git/"); repo == "" {
		return ref, false
	}
	q := u.Query()
	if path := strings.Trim(q.Get("path"), "/"); path != "" {
		ref.Path = path
	}
	if v := q.Get("version"); len(v) > 2 && ref.Want == "" {
		ref.Want, ref.Type = v[2:], map[string]string{"GB": "branch", "GT": "tag", "GC": "commit"}[v[:2]]
	}
	return ref, true
}
