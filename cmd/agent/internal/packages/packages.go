// Package packages has the skills from elsewhere: how they are fetched, checked, installed and recorded.
package packages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/want"
)

// ImportsText lists modules with the names of their packages: "requests, yaml (PyYAML), marked, mine (of an unknown package)".
func ImportsText(modules []string) string {
	out := make([]string, len(modules))
	for i, m := range modules {
		out[i] = strings.TrimPrefix(m, script.NPM)
		switch p := script.Packages(m)[0]; {
		case p.From == want.Seen:
			out[i] += " (of an unknown package)"
		case p.Name != m:
			out[i] += " (" + p.Name + ")"
		}
	}
	return strings.Join(out, ", ")
}

// Some returns at most as many lines of a list as a question has room for, and how many more there are.
func Some(lines []string) []string {
	if len(lines) <= mostLines {
		return lines
	}
	return append(slices.Clone(lines[:mostLines]), fmt.Sprintf("and %d more", len(lines)-mostLines))
}

// Submodules returns those lines of install.Place.Others that are about submodules, or some of them.
func Submodules(others []string) []string {
	return Some(slices.DeleteFunc(slices.Clone(others), func(line string) bool { return !strings.Contains(line, " is a submodule") }))
}

// mostLines is how many lines Some returns.
const mostLines = 5

// From says where a package is from: "https://host/repo.git, commit 0123abcd of main, skills/x".
func From(e registry.Entry) string {
	parts := []string{e.Source}
	at := ""
	switch {
	case e.CommitSHA != "" && e.Kind == source.Git.String():
		at = "commit " + output.Short(e.CommitSHA)
	case e.CommitSHA != "":
		at = output.Short(e.CommitSHA)
	}
	switch {
	case e.Tag != "":
		at += " tagged " + e.Tag
	case e.Branch != "":
		at += " of " + e.Branch
	}
	if at != "" {
		parts = append(parts, strings.TrimSpace(at))
	}
	if e.Path != "" && e.Path != "." {
		parts = append(parts, e.Path)
	}
	return strings.Join(parts, ", ")
}
