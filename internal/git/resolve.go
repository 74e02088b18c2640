package git

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// Kind is what a name of a repository is.
type Kind string

// The kinds.
const (
	Branch Kind = "branch"
	Tag    Kind = "tag"
	Commit Kind = "commit"
)

// Query asks what a name of a repository stands for.
type Query struct {
	URL  string
	Name string // branch, tag or commit; "" is the default branch
	Kind Kind   // what Name is; "" is any

	AllowFile bool // URL may be of this machine: a person typed it
	Progress  func(Progress)
}

// Tip is what a name stands for.
type Tip struct {
	URL    string // of the repository: that of the query, or the one on the same host to which the server sent
	Commit string // id
	Kind   Kind   // what the name is
	Name   string // of the branch or tag, "" for a commit and for a default that is not a branch
}

// Lengths of ids, in hexadecimal digits.
const (
	sha1Length   = 40
	sha256Length = 64
	shortest     = 4 // of an abbreviated id
	usual        = 7 // of one that git writes
)

const (
	mostName  = 250
	mostRefs  = 32 << 20 // bytes of a list of names
	headsOnly = "refs/heads/"
	tagsOnly  = "refs/tags/"
)

var hexText = lazyregexp.New(`^[0-9a-f]+$`)

// isID reports whether a text is a whole id.
func isID(s string) bool {
	return (len(s) == sha1Length || len(s) == sha256Length) && hexText().MatchString(s)
}

// checkName returns an error for a name that no branch, tag or commit has.
func checkName(name string) error {
	bad := strings.HasPrefix(name, "-") || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock") ||
		strings.Contains(name, "..") || strings.Contains(name, "//") || strings.Contains(name, "@{") || strings.Contains(name, "/.") || strings.HasPrefix(name, ".") || name == "@" || len(name) > mostName
	if bad || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xfffd || strings.ContainsRune(`~^:?*[\`, r) }) {
		return fmt.Errorf("%w: %.60q cannot be the name of one", ErrName, name)
	}
	return nil
}

// Resolve returns what a name stands for now. A whole commit id is returned without asking the server. An abbreviated one is
// found if it is the head of a branch or a tag; others cannot be looked up at a server. Annotated tags are followed to their
// commit. If a branch and a tag have the name, or one of them has a name that can be an abbreviated id, and Query.Kind does not
// choose, the error is ErrAmbiguous.
func (c *Client) Resolve(ctx context.Context, q *Query) (*Tip, error) {
	u, err := parseURL(q.URL, q.AllowFile)
	if err != nil {
		return nil, err
	}
	if err := checkName(q.Name); err != nil {
		return nil, err
	}
	id := strings.ToLower(q.Name)
	if isID(id) && (q.Kind == "" || q.Kind == Commit) {
		return &Tip{URL: q.URL, Commit: id, Kind: Commit}, nil
	}
	if q.Kind == Commit && (!hexText().MatchString(id) || len(id) < shortest) {
		return nil, fmt.Errorf("%w: %q is not a commit id", ErrName, q.Name)
	}
	if q.Name == "" {
		return c.defaultTip(ctx, q, u)
	}
	name, kind := q.Name, q.Kind
	if rest, ok := strings.CutPrefix(name, headsOnly); ok && kind != Tag {
		name, kind = rest, Branch
	} else if rest, ok := strings.CutPrefix(name, tagsOnly); ok && kind != Branch {
		name, kind = rest, Tag
	}
	if kind == "" && hexText().MatchString(id) && len(id) >= shortest {
		return c.nameOrID(ctx, q, u, id)
	}
	if kind == Commit {
		return c.abbreviated(ctx, q, u, id)
	}
	return c.named(ctx, q, u, name, kind)
}

// nameOrID looks up a text that can be an abbreviated commit id and the name of a branch or a tag. If there is such a name, the
// error is ErrAmbiguous, since somebody may have chosen it to stand for that commit. Only a tag of digits alone, which is often a
// date, counts where no commit that the server names begins so.
func (c *Client) nameOrID(ctx context.Context, q *Query, u *url.URL, id string) (*Tip, error) {
	tip, err := c.named(ctx, q, u, q.Name, "")
	if errors.Is(err, ErrName) {
		return c.abbreviated(ctx, q, u, id)
	}
	if err != nil || len(id) < usual {
		return tip, err
	}
	if tip.Kind == Tag && strings.Trim(id, "0123456789") == "" {
		if _, err := c.abbreviated(ctx, q, u, id); errors.Is(err, ErrName) {
			return tip, nil
		}
	}
	return nil, fmt.Errorf("%w: %s has a %s %q, which can also be the beginning of a commit id: say which is meant", ErrAmbiguous, q.URL, tip.Kind, q.Name)
}

// ref is a name of a repository and the id that it has.
type ref struct{ id, name string }

// list asks a server for its refs. It returns the URL that answered.
func (c *Client) list(ctx context.Context, q *Query, u *url.URL, args ...string) (at string, refs []ref, err error) {
	if err := c.ready(ctx); err != nil {
		return "", nil, err
	}
	k, err := c.reaching(ctx, u)
	if err != nil {
		return "", nil, err
	}
	options, patterns := splitOptions(args)
	at, k.most, k.progress = q.URL, mostRefs, q.Progress
	k.short = u.Scheme == "https" && len(patterns) > 0
	ask := func() ([]byte, error) {
		k.args = slices.Concat([]string{"ls-remote", "--quiet"}, options, []string{"--", at}, patterns)
		said, _, err := c.remote(ctx, at, k)
		return said, err
	}
	said, err := ask()
	if errors.Is(err, ErrMoved) {
		if at, err = c.follow(ctx, q.URL, u, err); err == nil {
			said, err = ask()
		}
	}
	if err != nil {
		return "", nil, err
	}
	return at, parseRefs(string(said)), nil
}

// reaching returns a call that may reach the server of a URL, and nothing else.
func (c *Client) reaching(ctx context.Context, u *url.URL) (*call, error) {
	k := &call{protocols: []string{u.Scheme}, own: u.Scheme == "https"}
	if !k.own {
		return k, nil
	}
	if err := c.readOwn(ctx); err != nil {
		return nil, err
	}
	k.token = c.token(u)
	return k, nil
}

func splitOptions(args []string) (options, patterns []string) {
	n := 0
	for n < len(args) && strings.HasPrefix(args[n], "--") {
		n++
	}
	return args[:n], args[n:]
}

// parseRefs reads the output of ls-remote. A symbolic ref has "ref: " before its target.
func parseRefs(said string) []ref {
	var out []ref
	for line := range strings.Lines(said) {
		id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok && (isID(id) || strings.HasPrefix(id, "ref: ")) {
			out = append(out, ref{id, name})
		}
	}
	return out
}

func (c *Client) defaultTip(ctx context.Context, q *Query, u *url.URL) (*Tip, error) {
	at, refs, err := c.list(ctx, q, u, "--symref", "HEAD")
	if err != nil {
		return nil, err
	}
	tip := &Tip{URL: at, Kind: Branch}
	for _, r := range refs {
		target, symbolic := strings.CutPrefix(r.id, "ref: "+headsOnly)
		switch {
		case r.name != "HEAD":
		case symbolic && checkName(target) == nil:
			tip.Name = target
		case isID(r.id):
			tip.Commit = r.id
		}
	}
	if tip.Commit == "" {
		return nil, fmt.Errorf("%w: %s has no default branch with a commit: name a branch or a tag", ErrName, at)
	}
	if tip.Name == "" {
		tip.Kind = Commit
	}
	return tip, nil
}

// named looks a branch or a tag up.
func (c *Client) named(ctx context.Context, q *Query, u *url.URL, name string, kind Kind) (*Tip, error) {
	branch, tag := headsOnly+name, tagsOnly+name
	at, refs, err := c.list(ctx, q, u, "--heads", "--tags", branch, tag, tag+"^{}")
	if err != nil {
		return nil, err
	}
	ids := map[string]string{}
	for _, r := range refs {
		ids[r.name] = r.id
	}
	head, isBranch := ids[branch]
	commit, isTag := ids[tag]
	if peeled := ids[tag+"^{}"]; peeled != "" {
		commit = peeled
	}
	switch {
	case isBranch && isTag && kind == "":
		return nil, fmt.Errorf("%w: %s has a branch and a tag %q: say which is meant", ErrAmbiguous, at, name)
	case isTag && kind != Branch:
		return &Tip{URL: at, Commit: commit, Kind: Tag, Name: name}, nil
	case isBranch && kind != Tag:
		return &Tip{URL: at, Commit: head, Kind: Branch, Name: name}, nil
	}
	what := "branch or tag"
	if kind != "" {
		what = string(kind)
	}
	return nil, fmt.Errorf("%w: %s has no %s %q: list them with git ls-remote", ErrName, at, what, name)
}

// abbreviated looks for the one branch or tag whose id begins with a text.
func (c *Client) abbreviated(ctx context.Context, q *Query, u *url.URL, id string) (*Tip, error) {
	at, refs, err := c.list(ctx, q, u, "--heads", "--tags")
	if err != nil {
		return nil, err
	}
	found := ""
	for i, r := range refs {
		annotated := i+1 < len(refs) && refs[i+1].name == r.name+"^{}" // its id is not that of a commit
		if !strings.HasPrefix(r.id, id) || annotated {
			continue
		}
		if found != "" && found != r.id {
			return nil, fmt.Errorf("%w: more than one commit of %s begins with %s: write the whole id", ErrAmbiguous, at, id)
		}
		found = r.id
	}
	if found == "" {
		return nil, fmt.Errorf("%w: %s has no branch or tag %q, and a server finds an abbreviated commit id only where a branch or a tag points: write all %d digits",
			ErrName, at, id, sha1Length)
	}
	return &Tip{URL: at, Commit: found, Kind: Commit}, nil
}
