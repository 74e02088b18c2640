package source

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// Forge is a site of repositories that many people use.
type Forge struct {
	Name      string   // such as "github"; "" for one without Variables
	Hosts     []string // in lower case; a path of two parts on one of them is a repository. The first is that of its API and of git
	Variables []string // of the environment, that hold a token by custom; the first that is set counts
	User      string   // that git gives with a token
	flat      bool     // a repository is OWNER/REPO there, and never has more parts
}

// forges has a row for each forge.
var forges = []Forge{
	{Name: "github", Hosts: []string{"github.com", "www.github.com"}, Variables: []string{"GH_TOKEN", "GITHUB_TOKEN"}, User: "x-access-token", flat: true},
	{Name: "gitlab", Hosts: []string{"gitlab.com"}, Variables: []string{"GITLAB_TOKEN"}, User: "oauth2"},
	{Name: "bitbucket", Hosts: []string{"bitbucket.org"}, Variables: []string{"BITBUCKET_TOKEN"}, User: "x-token-auth", flat: true},
	{Name: "codeberg", Hosts: []string{"codeberg.org"}, Variables: []string{"CODEBERG_TOKEN"}, User: "oauth2", flat: true},
	{Hosts: []string{"git.sr.ht"}, flat: true},
}

// Forges returns the forges whose tokens stand in variables.
func Forges() []Forge {
	return slices.DeleteFunc(slices.Clone(forges), func(f Forge) bool { return f.Name == "" })
}

// Token returns the variable that holds the token of a forge, and the token. Both are "" if none is set.
func (f *Forge) Token(getenv func(string) string) (variable, token string) {
	for _, name := range f.Variables {
		if value := getenv(name); value != "" {
			return name, value
		}
	}
	return "", ""
}

// Forge returns the forge to whose first host the URL of the repository leads by https, nil if there is none.
func (r Ref) Forge() *Forge {
	u, err := url.Parse(r.URL)
	if err != nil || r.Kind != Git || u.Scheme != "https" {
		return nil
	}
	list := Forges()
	for i := range list {
		if u.Host == list[i].Hosts[0] {
			return &list[i]
		}
	}
	return nil
}

// isForge reports whether a path of two parts on this host is a repository.
func isForge(host string) bool { return forgeOf(host) != nil }

// forgeOf returns the forge on a host, nil if there is none.
func forgeOf(host string) *Forge {
	i := slices.IndexFunc(forges, func(f Forge) bool { return slices.Contains(f.Hosts, strings.ToLower(host)) })
	if i < 0 {
		return nil
	}
	f := forges[i]
	return &f
}

// ofForge is checkGit for the address of a page that is that of a repository, unless its path has too many parts.
func ofForge(u *url.URL, repo string, ref Ref) (Ref, error) {
	parts := strings.SplitN(strings.Trim(u.Path, "/"), "/", 3)
	if f := forgeOf(u.Hostname()); f != nil && f.flat && len(parts) > 2 {
		repo = "https://" + u.Host + "/" + parts[0] + "/" + parts[1]
		return Ref{}, cured(errors.New("the page is not of a folder, or this does not know how its address names one"), "write "+repo+"#BRANCH:FOLDER, or "+repo)
	}
	return checkGit(repo, ref)
}
