package git

import (
	"context"
	"fmt"
	"net/url"
	"strings"
)

// askedPath is what git asks a server for below the path of a repository.
const askedPath = "/info/refs"

// follow returns the URL to which a server sends git, if it is the same repository on the same host: its path differs at most in
// ".git" at the end. For another place it returns the error moved, with that place.
func (c *Client) follow(ctx context.Context, address string, u *url.URL, moved error) (string, error) {
	k, err := c.reaching(ctx, u)
	if err != nil {
		return "", err
	}
	k.args, k.trace, k.most, k.quiet, k.short = []string{"ls-remote", "--quiet", "--", address, "HEAD"}, true, mostRefs, c.quiet(k), true
	_, trace, _ := c.run(ctx, k)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	to, err := u.Parse(location(trace))
	if err != nil || !strings.HasSuffix(to.Path, askedPath) {
		return "", moved
	}
	to.Path, to.RawPath, to.RawQuery = strings.TrimSuffix(to.Path, askedPath), "", ""
	to.User = u.User
	next := to.String()
	if CheckURL(next, false) != nil {
		return "", moved
	}
	if to.Scheme != u.Scheme || to.Host != u.Host || plainPath(to.Path) != plainPath(u.Path) {
		return "", fmt.Errorf("%w: the server sends to %s", moved, next)
	}
	return next, nil
}

func plainPath(p string) string { return strings.TrimSuffix(strings.TrimSuffix(p, "/"), ".git") }

// location returns the first Location header of a trace of http, "" if there is none.
func location(trace string) string {
	for line := range strings.Lines(trace) {
		_, header, ok := strings.Cut(line, "Recv header: ")
		if !ok {
			continue
		}
		if name, value, _ := strings.Cut(header, ":"); strings.EqualFold(strings.TrimSpace(name), "location") {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
