package git

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// FetchOptions says what to fetch.
type FetchOptions struct {
	URL    string // as in Tip
	Commit string // whole id
	Dir    string // an empty private folder; what is fetched is kept there, and the caller removes it

	// Want says of which files the content is fetched at once. A nil Want wants none.
	Want func(path string) bool

	// All says that most contents are wanted later. From a repository of this machine all are then fetched with the list: asking
	// once more would take longer than what is too many. From others only what is wanted is fetched.
	All bool

	// Choose says which files a commit with more files than the limit has: those that it wants, and no others. A nil Choose wants
	// all, so such a commit is refused.
	Choose Choose

	AllowFile bool // URL may be of this machine: a person typed it
	Progress  func(Progress)

	room string // the folder whose size is limited; "" is Dir
}

// Repository has the files of one commit, as an fs.FS: regular files and folders only. The content of a file that is not here
// yet is fetched when the file is opened, with all others of its folder and below; Need fetches what is needed at once. After the
// first content was fetched, a symbolic link to a regular file of the commit is a copy of that file; before, it is not there.
// Close frees what it holds. A Repository is safe for concurrent use.
type Repository struct {
	c   *Client
	o   FetchOptions
	u   *url.URL
	t   *tree
	ctx context.Context // of Fetch: methods of an fs.FS take none

	mu       sync.Mutex
	filtered bool // the server leaves contents out
	contents *contents
	mounted  map[string]*Repository // submodules by their paths
	closed   bool
}

// Fetch gets a commit without its history: the list of its files, and the contents that o.Want wants. If the server cannot leave
// out contents, it gets all. ctx bounds the use of the Repository too.
func (c *Client) Fetch(ctx context.Context, o *FetchOptions) (*Repository, error) {
	u, err := parseURL(o.URL, o.AllowFile)
	if err != nil {
		return nil, err
	}
	if !isID(o.Commit) {
		return nil, fmt.Errorf("%w: %.80q is not a whole commit id", ErrName, o.Commit)
	}
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	r := &Repository{c: c, o: *o, u: u, ctx: ctx}
	if r.contents, err = newContents(o.Dir); err != nil {
		return nil, err
	}
	if err := r.start(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// start gets the list of files and the contents that are wanted at once.
func (r *Repository) start(ctx context.Context) error {
	filter := "--filter=blob:none"
	if r.o.All && r.u.Scheme == "file" {
		filter = ""
	}
	if err := r.getCommit(ctx, filter); err != nil {
		return err
	}
	if err := r.list(ctx); err != nil {
		return err
	}
	if r.o.Want == nil {
		return nil
	}
	return r.Need(ctx, r.o.Want)
}

// LeftOut returns what the file system does not have. Which links these are is known after the first content was fetched.
func (r *Repository) LeftOut() []LeftOut {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.Clone(r.t.left)
	for _, n := range r.t.links {
		out = append(out, LeftOut{Path: n.path, Reason: "is a symbolic link"})
	}
	return out
}

// Paths returns the paths of all files.
func (r *Repository) Paths() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]string, len(r.t.files))
	for i, n := range r.t.files {
		out[i] = n.path
	}
	return out
}

// fetchArgs are the arguments of every fetch. Nothing but objects is written.
var fetchArgs = []string{"fetch", "--progress", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance"}

// localServer is the server of a repository of this machine: the same git, told to leave out contents if asked to, which it does
// not do by itself, and to spend no time on making small what is not sent over a network.
const localServer = "--upload-pack=git -c uploadpack.allowFilter=true -c pack.window=0 -c pack.compression=1 upload-pack"

// mostSaid is how many bytes git fetch may write to stdout, which it does not.
const mostSaid = 1 << 20

// fetch runs git fetch with more arguments.
func (r *Repository) fetch(ctx context.Context, stdin []byte, args ...string) (stderr string, err error) {
	k, err := r.c.reaching(ctx, r.u)
	if err != nil {
		return "", err
	}
	if r.u.Scheme == "file" {
		args = slices.Concat([]string{localServer}, args)
	}
	k.args, k.dir, k.room, k.stdin, k.most, k.progress = slices.Concat(fetchArgs, args), r.o.Dir, r.o.room, stdin, mostSaid, r.o.Progress
	_, stderr, err = r.c.remote(ctx, r.o.URL, k)
	return stderr, errors.Join(err, configure(r.o.Dir, r.o.Commit))
}

// getCommit gets the commit and its list of files into a new repository. filter is "" to get the contents as well.
func (r *Repository) getCommit(ctx context.Context, filter string) error {
	for _, name := range []string{"objects", "shallow"} {
		if err := os.RemoveAll(filepath.Join(r.o.Dir, name)); err != nil {
			return err
		}
	}
	if err := prepare(r.o.Dir, r.o.Commit); err != nil {
		return err
	}
	args := []string{"--depth=1"}
	if filter != "" {
		args = append(args, filter)
	}
	stderr, err := r.fetch(ctx, nil, append(args, "--", r.o.URL, r.o.Commit)...)
	r.filtered = filter != "" && !strings.Contains(stderr, "filtering not recognized by server")
	return err
}

// Need gets the contents of all files whose path satisfies want, in one fetch.
func (r *Repository) Need(ctx context.Context, want func(path string) bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.need(ctx, want)
}

// need is Need with the lock held.
func (r *Repository) need(ctx context.Context, want func(path string) bool) error {
	if r.closed {
		return os.ErrClosed
	}
	for at, sub := range r.mounted {
		if err := sub.Need(ctx, func(p string) bool { return want(at + "/" + p) }); err != nil {
			return err
		}
	}
	links := r.t.links
	if err := r.get(ctx, r.missing(want, links)); err != nil || len(links) == 0 {
		return err
	}
	if err := r.t.follow(r.contents); err != nil {
		return fmt.Errorf("%s: %w", r.o.URL, err)
	}
	return r.get(ctx, r.missing(want, nil))
}

// get gets contents that are not here.
func (r *Repository) get(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if r.filtered {
		stdin := []byte(strings.Join(ids, "\n") + "\n")
		_, err := r.fetch(ctx, stdin, "--filter=blob:none", "--stdin", "--", r.o.URL)
		if errors.Is(err, ErrName) { // a server that leaves contents out and does not give them out later
			err = r.getCommit(ctx, "")
		}
		if err != nil {
			return err
		}
	}
	if err := r.contents.add(ctx, r.c, r.o.Dir, ids); err != nil {
		return fmt.Errorf("%s: %w", r.o.URL, err)
	}
	return nil
}

// missing returns the ids of contents that are not here, each once: of the files that are wanted, and of links.
func (r *Repository) missing(want func(string) bool, links []*node) []string {
	var ids []string
	listed := map[string]bool{}
	add := func(n *node) {
		if _, here := r.contents.places[n.id]; !here && !listed[n.id] {
			listed[n.id] = true
			ids = append(ids, n.id)
		}
	}
	for _, n := range r.t.files {
		if n.from == nil && want(n.path) {
			add(n)
		}
	}
	for _, n := range links {
		add(n)
	}
	return ids
}

// Close closes what is open. The folder stays: it is the caller's.
func (r *Repository) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.contents.file.Close()
	for _, sub := range r.mounted {
		err = errors.Join(err, sub.Close())
	}
	return err
}
