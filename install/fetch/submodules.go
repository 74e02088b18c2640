package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/address"
	"github.com/agent-base/agent-base/internal/git"
	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/walk"
)

// submodules gets those submodules of a repository that skills are in, or that are in skills. The others are named.
type submodules struct {
	repo *git.Repository
	r    *install.Request
	f    *gitFetcher
	own  *git.Client

	from map[string]string // URLs by path, as the repository says
	said map[string]string // why one was not fetched, by path

	parts []install.Part // that were fetched, or could not be
}

// mostFetched is how many submodules of one repository are fetched.
const mostFetched = 20

// fetch gets the submodules that are wanted. One that cannot be had is left out.
func (s *submodules) fetch(ctx context.Context) error {
	list := slices.DeleteFunc(s.repo.LeftOut(), func(l git.LeftOut) bool { return !l.Submodule() })
	if len(list) == 0 {
		return nil
	}
	if err := s.repo.Need(ctx, func(p string) bool { return p == git.SubmodulesFile }); err != nil {
		return err
	}
	s.from, s.said = s.repo.Submodules(ctx), map[string]string{}
	wanted, n := s.wanted(), 0
	for _, l := range list {
		switch {
		case !wanted(l.Path):
			continue
		case n == mostFetched:
			s.said[l.Path] = fmt.Sprintf("is not fetched: %d others were", mostFetched)
			continue
		}
		n++
		err := s.add(ctx, l)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			s.said[l.Path] = fmt.Sprintf("could not be fetched: %v", err)
		}
		if address, other := s.address(l.Path); other == nil {
			s.parts = append(s.parts, install.Part{Path: l.Path, URL: address, Commit: l.Commit, Missing: err != nil})
		}
	}
	return nil
}

// wanted returns which submodules are wanted, by their paths: those in or above the folder that was asked for, those in the folder of
// a skill, those in a folder that is called "skills", and all of a repository without a skill of its own.
func (s *submodules) wanted() func(at string) bool {
	asked, dirs := path.Clean(s.r.Source.Path), map[string]bool{} // "." for ""
	for _, p := range s.repo.Paths() {
		if base := path.Base(p); base == walk.Manifest || base == walk.LowerManifest {
			dirs[path.Dir(p)] = true
		}
	}
	return func(at string) bool {
		if asked != "." && !within(asked, at) {
			return within(at, asked)
		}
		if asked != "." || len(dirs) == 0 || slices.Contains(strings.Split(at, "/"), "skills") || dirs["."] {
			return true
		}
		for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
			if dirs[dir] {
				return true
			}
		}
		return false
	}
}

// within reports whether a slash path is a folder or lies in it.
func within(dir, p string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// add gets one submodule. One of another host than the repository's is a place that no person typed.
func (s *submodules) add(ctx context.Context, l git.LeftOut) error {
	address, err := s.address(l.Path)
	if err != nil {
		return err
	}
	client, err := s.client(address)
	if err != nil {
		return err
	}
	progress := func(p git.Progress) {
		if s.r.Progress != nil {
			s.r.Progress(install.Progress{Step: l.Path + ": " + p.Step, Done: p.Done, Total: p.Total})
		}
	}
	local := s.f.o.AllowFile && strings.HasPrefix(s.r.Source.URL, "file:") // a repository from elsewhere names none of this machine
	return s.repo.AddSubmodule(ctx, client, l, &git.FetchOptions{URL: address, AllowFile: local, All: s.r.All, Progress: progress})
}

// client returns what fetches a submodule. On the host that a person typed it may have the password that is given there, and the token if the
// repository itself needs it: else anybody's repository would get what the token opens.
func (s *submodules) client(address string) (*git.Client, error) {
	switch from := s.r.Source.URL; {
	case !sameHost(address, from):
		if err := reachable(address, from); err != nil {
			return nil, err
		}
		return s.f.stranger("")
	case len(s.f.o.Tokens) > 0 && !s.own.NeededToken(from):
		return s.f.stranger(s.f.o.AskPass)
	}
	return s.own, nil
}

// reachable returns an error for a submodule on a host that a repository leads nobody to: one of this machine or of its network, and any
// to which ssh would show the user's keys. The host of the repository itself was typed.
func reachable(to, from string) error {
	u, err := parseAddress(to)
	if err != nil {
		return err
	}
	host := u.Hostname()
	if typed, err := parseAddress(from); err == nil && host != "" && host == typed.Hostname() {
		return nil
	}
	if ip, err := netip.ParseAddr(host); u.Scheme != "https" || hostname.IsLocal(host) || err == nil && !address.Public(ip, address.Own()) {
		return errors.New("it has no https address of a public host")
	}
	return nil
}

// address returns the URL of a submodule as a source has it.
func (s *submodules) address(at string) (string, error) {
	text := s.from[at]
	if text == "" {
		return "", errors.New(git.SubmodulesFile + " does not say where it is from")
	}
	ref, err := source.Parse(text, nil)
	if other, ok := ref.Repository(); ok {
		ref = other
	}
	if err == nil && ref.Kind != source.Git {
		err = fmt.Errorf("%.200q is not the address of a repository", text)
	}
	return ref.URL, err
}

func sameHost(a, b string) bool {
	x, errA := parseAddress(a)
	y, errB := parseAddress(b)
	return errA == nil && errB == nil && x.Scheme == y.Scheme && x.Host == y.Host
}

// parseAddress reads the URL of a repository. USER@HOST:PATH is ssh.
func parseAddress(text string) (*url.URL, error) {
	if user, rest, ok := strings.Cut(text, "@"); ok && !strings.ContainsAny(user, ":/") {
		if host, below, ok := strings.Cut(rest, ":"); ok {
			return &url.URL{Scheme: "ssh", User: url.User(user), Host: host, Path: below}, nil
		}
	}
	return url.Parse(text)
}

// leftOut says what a repository has and its file system has not. Of a submodule it says where it is from.
func (s *submodules) leftOut() []string {
	list := s.repo.LeftOut()
	out := make([]string, len(list))
	for i, l := range list {
		out[i] = l.Path + " " + l.Reason
		if address, err := s.address(l.Path); l.Submodule() && err == nil {
			out[i] += ", from " + address
		}
		if why := s.said[l.Path]; why != "" {
			out[i] += ", which " + why
		}
	}
	return out
}
