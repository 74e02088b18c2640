// Package fetch gets the files of places that have skills. Each file has one fetcher. They run nothing of what they get.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/git"
)

// GitOptions configures Git.
type GitOptions struct {
	// Path has the folders of git and of the programs that it starts (ssh, credential helpers): those in which only the user and
	// the administrator choose programs. Nil means /usr/local/bin, /usr/bin and /bin.
	Path []string
	Env  []string // the operator's environment, as NAME=value; variables about the network, ssh and credentials reach git; nil is none
	SSH  string   // the command that starts ssh, such as the operator's GIT_SSH_COMMAND; "" is "ssh"

	// AllowFile allows repositories of this machine. Set it if every Ref is what a person typed.
	AllowFile bool

	// AskPass is the absolute path of the program in the operator's GIT_ASKPASS, "" is none. It may answer for any host, so set it only
	// if every Ref is what a person typed.
	AskPass string

	// Tokens has what proves to hosts who the operator is, as tokens of forges do: each is sent by https to its host alone, where a
	// repository is refused without it.
	Tokens []Token

	MaxFiles int // of the commit that Request.Choose wants; 0 means 100,000

	// sleep waits between attempts when the network fails. A nil sleep waits on the clock.
	sleep func(ctx context.Context, d time.Duration) error
}

// Token is a secret for a Host, which may have a port, with the User that is given with it.
type Token = git.Token

// ErrRefused is wrapped by errors of Fetch if a repository is not there, or not for this user: most servers do not say which.
var ErrRefused = errors.New("the repository was refused")

// ErrAmbiguous means that a repository has a branch and a tag of the name, or several commits that begin with it.
var ErrAmbiguous = errors.New("the name is ambiguous")

// Git returns a Fetcher for repositories. It uses the git of the system, which sees nothing of the repository but its objects and
// writes no file but these. Credentials are those that the operator's git uses: ssh, credential helpers. The contents of files
// come when Snapshot.Need asks for them. Submodules that skills are in, or that are in skills, are fetched at the commits that the repository
// names, by the same rules as the repository, but none of this machine for one that is not. One on another host gets neither AskPass nor
// Tokens, and no token is used for one whose repository does without. A missing git is an error of Fetch. Nil options mean the zero
// value, which is useful; with it, a repository of this machine (file://) is refused, see AllowFile.
func Git(o *GitOptions) install.Fetcher {
	f := &gitFetcher{}
	if o != nil {
		f.o = *o
	}
	if f.o.Path == nil {
		f.o.Path = []string{"/usr/local/bin", "/usr/bin", "/bin"}
	}
	return f
}

type gitFetcher struct {
	o GitOptions

	mu     sync.Mutex
	client *git.Client
	plain  map[string]*git.Client // without Tokens, by their AskPass
}

// git returns the client, which is made once.
func (f *gitFetcher) git() (*git.Client, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.client != nil {
		return f.client, nil
	}
	var err error
	f.client, err = f.make(f.o.AskPass, f.o.Tokens)
	return f.client, err
}

// stranger returns a client for repositories that no person typed, which is made once.
func (f *gitFetcher) stranger(askPass string) (*git.Client, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.plain[askPass]; c != nil {
		return c, nil
	}
	c, err := f.make(askPass, nil)
	if err == nil && f.plain == nil {
		f.plain = map[string]*git.Client{}
	}
	if err == nil {
		f.plain[askPass] = c
	}
	return c, err
}

func (f *gitFetcher) make(askPass string, tokens []Token) (*git.Client, error) {
	program, err := git.Find(f.o.Path)
	if err != nil {
		return nil, err
	}
	return git.New(&git.Options{
		Program: program, Path: f.o.Path, Env: f.o.Env, SSH: f.o.SSH, AskPass: askPass, Tokens: tokens, Sleep: f.o.sleep,
		Limits: git.Limits{Files: f.o.MaxFiles},
	})
}

// Fetch asks the server what the reference stands for. If that is not r.Known, it gets the list of files. ctx bounds the use of the
// Snapshot too.
func (f *gitFetcher) Fetch(ctx context.Context, r *install.Request) (*install.Snapshot, error) {
	s, err := f.fetch(ctx, r)
	if errors.Is(err, git.ErrNotFound) && strings.HasPrefix(r.Source.URL, "file:") {
		err = fmt.Errorf("%w; if it is a folder and no repository, give the path, without file://", err)
	}
	if errors.Is(err, git.ErrAuth) || errors.Is(err, git.ErrNotFound) {
		err = alsoError{err, ErrRefused}
	}
	switch {
	case errors.Is(err, git.ErrName):
		err = alsoError{err, install.ErrNoVersion}
	case errors.Is(err, git.ErrNotFound):
		err = alsoError{err, install.ErrNoPlace}
	case errors.Is(err, git.ErrNetwork):
		err = alsoError{err, ErrNetwork}
	case errors.Is(err, git.ErrTooMany):
		err = alsoError{err, install.ErrTooMany}
	case errors.Is(err, git.ErrAmbiguous):
		err = alsoError{err, ErrAmbiguous}
	}
	return s, err
}

func (f *gitFetcher) fetch(ctx context.Context, r *install.Request) (*install.Snapshot, error) {
	if r.Source.Kind != source.Git {
		return nil, fmt.Errorf("%s is not a repository", r.Source)
	}
	client, err := f.git()
	if err != nil {
		return nil, err
	}
	report := func(p install.Progress) {
		if r.Progress != nil {
			r.Progress(p)
		}
	}
	looking := "looking up " + r.Source.URL
	report(install.Progress{Step: looking})
	tip, err := client.Resolve(ctx, &git.Query{
		URL: r.Source.URL, Name: r.Source.Want, Kind: git.Kind(r.Source.Type), AllowFile: f.o.AllowFile,
		Progress: func(p git.Progress) { report(install.Progress{Step: looking + ": " + p.Step}) },
	})
	if err != nil {
		return nil, err
	}
	s := &install.Snapshot{Origin: originOf(r.Source, tip), Close: func() error { return nil }}
	if tip.Commit == r.Known {
		return s, nil
	}
	repo, err := client.Fetch(ctx, &git.FetchOptions{
		URL: tip.URL, Commit: tip.Commit, Dir: r.Dir, AllowFile: f.o.AllowFile, All: r.All, Choose: r.Choose,
		Progress: func(p git.Progress) {
			report(install.Progress{Step: p.Step, Done: p.Done, Total: p.Total})
		},
	})
	if err != nil {
		return nil, err
	}
	subs := &submodules{repo: repo, r: r, f: f, own: client}
	if err := subs.fetch(ctx); err != nil {
		return nil, errors.Join(err, repo.Close())
	}
	s.FS, s.Need, s.Close, s.LeftOut, s.Parts = repo, repo.Need, repo.Close, subs.leftOut, subs.parts
	return s, nil
}

// originOf says where a commit is from.
func originOf(ref source.Ref, tip *git.Tip) install.Origin {
	o := install.Origin{Source: ref, URL: tip.URL, Commit: tip.Commit}
	switch tip.Kind {
	case git.Branch:
		o.Branch = tip.Name
	case git.Tag:
		o.Tag = tip.Name
	}
	o.Pinned = ref.Want != "" && tip.Kind != git.Branch
	return o
}
