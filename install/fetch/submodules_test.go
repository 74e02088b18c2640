package fetch_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/fetch"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/test/gittest"
)

// hub makes a commit with files and submodules: by path, the URL and the commit.
func hub(repo *gittest.Repo, files map[string]string, subs map[string][2]string) {
	text := ""
	files = maps.Clone(files)
	for _, at := range slices.Sorted(maps.Keys(subs)) {
		text += fmt.Sprintf("[submodule %q]\n\tpath = %s\n\turl = %s\n", at, at, subs[at][0])
		files[at] = gittest.Submodule + subs[at][1]
	}
	files[".gitmodules"] = text
	repo.Commit(files)
}

// Submodules that skills are in, or that are in skills, come with the commits that the repository names; others are named.
// security 2.6 #98
func TestGitSubmodules(t *testing.T) {
	const skillFile = "---\nname: %s\ndescription: Does things. Use it for things.\n---\nBody\n"
	dir := t.TempDir()
	make := func(name string) *gittest.Repo { return gittest.NewIn(t, filepath.Join(dir, name+".git")) }
	team, data, secret, top := make("team"), make("data"), make("secret"), make("top")
	pinned := team.Commit(map[string]string{"SKILL.md": fmt.Sprintf(skillFile, "team"), "scripts/run.sh": "old", "deep/.gitkeep": ""})
	team.Commit(map[string]string{"SKILL.md": "changed since"})
	values := data.Commit(map[string]string{"a/values.csv": "1,2"})
	private := secret.Commit(map[string]string{"SKILL.md": fmt.Sprintf(skillFile, "secret")})
	hub(top, map[string]string{"skills/one/SKILL.md": fmt.Sprintf(skillFile, "one")}, map[string][2]string{
		"skills/team":     {"../team.git", pinned},
		"skills/one/data": {"./../data.git", values},
		"skills/secret":   {secret.URL(), private},
		"skills/gone":     {"../gone.git", values},
		"skills/odd":      {"--upload-pack=touch x", values},
		"vendor/lib":      {"../data.git", values},
	})
	server := gittest.Serve(t, dir)
	f := fetch.Git(fetch.Hurried(&fetch.GitOptions{
		Path: []string{filepath.Dir(gittest.Program(t)), "/usr/bin", "/bin"}, AllowFile: true,
		Env: []string{"HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_SSL_CAINFO=" + server.CAFile},
	}))
	tests := []struct {
		url, path  string
		have, lack []string
		left       []string
	}{
		{server.URL + "/top.git", "", []string{"skills/one/SKILL.md", "skills/team/SKILL.md", "skills/team/scripts/run.sh", "skills/one/data/a/values.csv"},
			[]string{"skills/secret/SKILL.md", "vendor/lib/a/values.csv"},
			[]string{"skills/secret is a submodule, from file://", "skills/gone is a submodule, from " + server.URL + "/gone.git, which could not be fetched", "skills/odd is a submodule, which could not be fetched", "vendor/lib is a submodule, from " + server.URL + "/data.git"}},
		{server.URL + "/top.git", "skills/team", []string{"skills/team/SKILL.md"}, []string{"skills/one/data/a/values.csv"}, nil},
		{server.URL + "/top.git", "vendor/lib/a", []string{"vendor/lib/a/values.csv"}, []string{"skills/team/SKILL.md"}, nil},
		{top.URL(), "", []string{"skills/team/SKILL.md", "skills/secret/SKILL.md"}, nil, nil}, // of this machine, named by one of this machine
	}
	for _, tt := range tests {
		s := fetchOne(t, f, &install.Request{Source: source.Ref{Kind: source.Git, URL: tt.url, Path: tt.path}})
		got := content(t, s.FS)
		for _, p := range tt.have {
			if _, ok := got[p]; !ok {
				t.Errorf("%s %s: %s is missing of %v", tt.url, tt.path, p, slices.Sorted(maps.Keys(got)))
			}
		}
		for _, p := range tt.lack {
			if _, ok := got[p]; ok {
				t.Errorf("%s %s: it has %s", tt.url, tt.path, p)
			}
		}
		if run, ok := got["skills/team/scripts/run.sh"]; ok && run != "old" {
			t.Errorf("the submodule is not at its commit: %q", run)
		}
		for _, part := range s.Parts {
			if part.Path == "skills/team" && (part.Commit != pinned || !strings.HasSuffix(part.URL, "/team.git")) {
				t.Errorf("part %+v", part)
			}
		}
		if _, ok := got["skills/team/SKILL.md"]; ok && !slices.ContainsFunc(s.Parts, func(p install.Part) bool { return p.Path == "skills/team" }) {
			t.Errorf("parts %v do not have skills/team", s.Parts)
		}
		for _, want := range tt.left {
			if !slices.ContainsFunc(s.LeftOut(), func(line string) bool { return strings.HasPrefix(line, want) }) {
				t.Errorf("left out %q, want a line that begins with %q", s.LeftOut(), want)
			}
		}
	}
}

// What answers for every host is asked for the host that was typed, and for no other. Files of submodules count.
func TestGitSubmodulesElsewhere(t *testing.T) {
	dir, other, home := t.TempDir(), t.TempDir(), t.TempDir()
	far := gittest.NewIn(t, filepath.Join(other, "far.git"))
	near, many, top := gittest.NewIn(t, filepath.Join(dir, "near.git")), gittest.NewIn(t, filepath.Join(dir, "many.git")), gittest.NewIn(t, filepath.Join(dir, "top.git"))
	files := map[string]string{}
	for i := range 20 { // not too many alone
		files[fmt.Sprint("f", i)] = "x"
	}
	typed, stranger := gittest.Serve(t, dir), gittest.Serve(t, other)
	for _, s := range []*gittest.Server{typed, stranger} {
		s.Require("u", "u")
	}
	hub(top, map[string]string{}, map[string][2]string{
		"far": {stranger.URL + "/far.git", far.Commit(map[string]string{"x": "x"})}, "near": {"../near.git", near.Commit(map[string]string{"x": "x"})}, "many": {"../many.git", many.Commit(files)},
	})
	asked, program := filepath.Join(home, "asked"), filepath.Join(home, "askpass")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$1\" >> '"+asked+"'\necho u\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := fetch.Git(fetch.Hurried(&fetch.GitOptions{
		Path: []string{filepath.Dir(gittest.Program(t)), "/usr/bin", "/bin"}, AskPass: program, MaxFiles: 20,
		Env: []string{"HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_SSL_CAINFO=" + typed.CAFile},
	}))
	s := fetchOne(t, f, &install.Request{Source: source.Ref{Kind: source.Git, URL: typed.URL + "/top.git"}})
	if got := content(t, s.FS); got["near/x"] != "x" || len(got) != 2 {
		t.Errorf("got %v", got)
	}
	for _, want := range []string{"far is a submodule, from " + stranger.URL, "many is a submodule"} {
		if !slices.ContainsFunc(s.LeftOut(), func(line string) bool {
			return strings.HasPrefix(line, want) && strings.Contains(line, "could not be fetched")
		}) {
			t.Errorf("left out %q, want %q", s.LeftOut(), want)
		}
	}
	said, err := os.ReadFile(asked)
	if err != nil || !strings.Contains(string(said), strings.TrimPrefix(typed.URL, "https://")) || strings.Contains(string(said), strings.TrimPrefix(stranger.URL, "https://")) {
		t.Errorf("asked %q, %v", said, err)
	}
}

// Nobody's public repository gets what the user's token opens. One that needs the token has its submodules by it.
func TestGitSubmodulesToken(t *testing.T) {
	dir := t.TempDir()
	private, top := gittest.NewIn(t, filepath.Join(dir, "private.git")), gittest.NewIn(t, filepath.Join(dir, "top.git"))
	hub(top, map[string]string{"a": "a"}, map[string][2]string{"private": {"../private.git", private.Commit(map[string]string{"x": "x"})}})
	server := gittest.Serve(t, dir)
	for _, open := range []bool{true, false} {
		var sent atomic.Bool
		server.Before(func(w http.ResponseWriter, r *http.Request) bool {
			_, secret, _ := r.BasicAuth()
			sent.Store(sent.Load() || secret != "")
			if secret == "s3cret" || open && strings.HasPrefix(r.URL.Path, "/top.git") {
				return false
			}
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return true
		})
		f := fetch.Git(fetch.Hurried(&fetch.GitOptions{
			Path:   []string{filepath.Dir(gittest.Program(t)), "/usr/bin", "/bin"},
			Env:    []string{"HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_SSL_CAINFO=" + server.CAFile},
			Tokens: []fetch.Token{{Host: strings.TrimPrefix(server.URL, "https://"), User: "u", Secret: "s3cret"}},
		}))
		got := content(t, fetchOne(t, f, &install.Request{Source: source.Ref{Kind: source.Git, URL: server.URL + "/top.git"}}).FS)
		if _, has := got["private/x"]; got["a"] != "a" || has == open || sent.Load() == open {
			t.Errorf("public %v: got %v, the token was sent: %v", open, got, sent.Load())
		}
	}
}

// A repository makes nobody fetch without end: what is over the limit is named. security 2.6 #98
func TestGitSubmodulesMany(t *testing.T) {
	dir := t.TempDir()
	part, top := gittest.NewIn(t, filepath.Join(dir, "part.git")), gittest.NewIn(t, filepath.Join(dir, "top.git"))
	commit, subs := part.Commit(map[string]string{"x": "x"}), map[string][2]string{}
	for i := range 22 {
		subs[fmt.Sprintf("p%02d", i)] = [2]string{"../part.git", commit}
	}
	hub(top, map[string]string{"a": "a"}, subs)
	f := fetch.Git(&fetch.GitOptions{Path: []string{filepath.Dir(gittest.Program(t)), "/usr/bin", "/bin"}, AllowFile: true, Env: []string{"HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}})
	s := fetchOne(t, f, &install.Request{Source: source.Ref{Kind: source.Git, URL: top.URL()}})
	if got := content(t, s.FS); len(got) != 22 || got["p19/x"] != "x" { // with a and .gitmodules
		t.Errorf("%d files: %v", len(got), slices.Sorted(maps.Keys(got)))
	}
	if left := s.LeftOut(); len(left) != 2 || !strings.Contains(left[0], "is not fetched: 20 others were") {
		t.Errorf("left out %q", left)
	}
}
