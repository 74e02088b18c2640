package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/skill/manifest"
)

// choose returns the skills of a source that are wanted.
func (o *addOptions) choose(ctx context.Context, place *install.Place, ref source.Ref) ([]*install.Candidate, error) {
	if o.all {
		usable, broken := partBroken(place.Skills)
		list, others := install.Unique(usable)
		for _, dir := range others {
			o.out.Remark("left out: " + dir + ": another skill of the source has its name")
		}
		for _, c := range broken {
			o.out.Warn(fmt.Sprintf("%s cannot be used: %s", c.Path, c.Fatal().Message))
		}
		if len(list) > 0 {
			return list, nil
		}
	}
	list, err := install.Choose(place.Skills, o.wanted(ref))
	var e *install.ChoiceError
	if !errors.As(err, &e) {
		return list, err
	}
	if e.Name == "" && e.Count > 1 && !o.json && o.services.Approver.There() {
		return o.askWhich(ctx, place)
	}
	return nil, o.unclear(e, place)
}

// wanted returns the names of the skills that were asked for, if any were.
func (o *addOptions) wanted(ref source.Ref) []string {
	if len(o.names) == 0 && ref.Name != "" {
		return []string{ref.Name}
	}
	return o.names
}

// partBroken separates the skills that can be used from the others.
func partBroken(all []*install.Candidate) (usable, broken []*install.Candidate) {
	for _, c := range all {
		if c.Fatal() == nil {
			usable = append(usable, c)
		} else {
			broken = append(broken, c)
		}
	}
	return usable, broken
}

// mostNames is how many names of skills an error or a question lists.
const mostNames = 40

// unclear explains a choice that is none.
func (o *addOptions) unclear(e *install.ChoiceError, place *install.Place) error {
	hint := "choose with --skill NAME, or take all with --all: " + some(candidateNames(place), mostNames)
	switch {
	case e.Count == 0 && len(place.Hidden) > 0:
		return failure.NotFound(fmt.Errorf("there is no skill outside of hidden folders, which are not searched: skills are in %s", some(place.Hidden, mostNames)),
			"--path "+place.Hidden[0]+" looks in that folder")
	case e.Count == 0 && len(packages.Submodules(place.Others())) > 0:
		return failure.NotFound(fmt.Errorf("%w; these submodules are not here: %s", e, strings.Join(packages.Submodules(place.Others()), "; ")), "add the repository of the submodule itself")
	case e.Count == 0:
		return failure.NotFound(e, "a skill is a folder with a SKILL.md; --path names a folder of the source")
	case len(e.Paths) > 0:
		return failure.Conflict(e, "choose one with --path "+e.Paths[0])
	case len(e.Suggest) > 0:
		hint = fmt.Sprintf("did you mean %s?", strings.Join(e.Suggest, ", "))
	case e.Name != "" && e.Name == place.Origin.Source.Name: // SOURCE@NAME
		hint += "; a branch or tag is given with --ref " + e.Name
	}
	if e.Name == "" {
		return failure.Usage(e, hint)
	}
	return failure.NotFound(e, hint)
}

func candidateNames(place *install.Place) []string {
	list, _ := install.Unique(place.Skills)
	var names []string
	for _, c := range list {
		names = append(names, c.Manifest.Name)
	}
	return names
}

// What a question shows of the skills of a source: lines of 80 columns with their marks, or less on a narrower terminal, as many as
// fit a screen of 24 rows with the question below them. A name has most columns where the longest one on the screen has.
const (
	choiceWidth = 75
	choiceFrame = 5 // columns of the marks, and the last one, which stays free
	choiceRows  = 18
	nameWidth   = 36
)

// askWhich asks which of several skills are wanted.
func (o *addOptions) askWhich(ctx context.Context, place *install.Place) ([]*install.Candidate, error) {
	list, _ := install.Unique(place.Skills)
	all := make([]int, len(list)) // places in the list
	for i := range all {
		all[i] = i
	}
	details, rest := o.offered(list, all)
	for {
		line, err := o.services.Approver.Answer(ctx, &ui.Question{Text: fmt.Sprintf("Which of the %s?", output.Count(len(list), "skill")), Details: details, Free: true})
		if err != nil {
			return nil, err
		}
		words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' })
		switch {
		case len(words) == 0:
			return nil, failure.Denied(errors.New("none was chosen; nothing was installed"), "")
		case len(words) == 1 && words[0] == "all":
			return list, nil
		case len(words) == 1 && words[0] == "more" && len(rest) > 0:
			details, rest = o.offered(list, rest)
			continue
		}
		chosen, err := meant(words, place.Skills, list)
		if err == nil {
			return chosen, nil
		}
		found := mentioning(list, line)
		switch e := new(install.ChoiceError); {
		case !errors.As(err, &e):
			details = []string{err.Error()}
		case len(e.Paths) > 0:
			details = []string{err.Error(), "its number takes the first of them; \"agent skill add\" with --path FOLDER takes another"}
		case len(found) > 0:
			details, rest = o.offered(list, found)
			details = slices.Insert(details, 0, fmt.Sprintf("%s with these words:", output.Count(len(found), "skill")))
		default:
			details = []string{err.Error()}
			if len(e.Suggest) > 0 {
				details = append(details, "did you mean "+strings.Join(e.Suggest, ", ")+"?")
			}
		}
	}
}

// mentioning returns the places in a list of the skills whose name or description has all words of a line.
func mentioning(list []*install.Candidate, line string) (out []int) {
	words := strings.Fields(strings.ToLower(line))
	for i, c := range list {
		text := strings.ToLower(c.Manifest.Name + " " + c.Manifest.Description)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			out = append(out, i)
		}
	}
	return out
}

// offered are the lines of a question about the first of some skills of a list, with their numbers, as many as fit a screen. It
// returns the places of the others.
func (o *addOptions) offered(list []*install.Candidate, some []int) (lines []string, rest []int) {
	some, rest = some[:min(len(some), choiceRows)], some[min(len(some), choiceRows):]
	room, width := choiceWidth, 0
	if o.out.Width > 0 {
		room = min(room, max(o.out.Width-choiceFrame, 1))
	}
	for _, i := range some {
		width = max(width, min(len(list[i].Manifest.Name), nameWidth))
	}
	for _, i := range some {
		m := list[i].Manifest
		lines = append(lines, ui.Truncate(fmt.Sprintf("  %3d  %-*s  %s", i+1, width, m.Name, manifest.Brief(m.Description)), room))
	}
	if len(rest) > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more: \"more\" shows them", len(rest)))
	}
	return append(lines, "Type names, numbers, \"all\", or a word to look for. Enter installs nothing."), rest
}

// meant returns the skills that names and numbers stand for. A number is one only where no skill has it as its name.
func meant(words []string, all, list []*install.Candidate) ([]*install.Candidate, error) {
	var out []*install.Candidate
	for _, w := range words {
		n, err := strconv.Atoi(w)
		is := func(c *install.Candidate) bool { return c.Manifest.Name == w }
		if err == nil && n >= 1 && n <= len(list) && !slices.ContainsFunc(all, is) {
			out = append(out, list[n-1])
			continue
		}
		one, err := install.Choose(all, []string{w})
		if err != nil {
			return nil, err
		}
		out = append(out, one...)
	}
	return slices.Compact(slices.SortedFunc(slices.Values(out), func(a, b *install.Candidate) int { return strings.Compare(a.Path, b.Path) })), nil
}

// withNeeded adds the skills that the chosen ones require and that are not there yet.
func (o *addOptions) withNeeded(ctx context.Context, chosen []*install.Candidate, place *install.Place) ([]*install.Candidate, error) {
	if !slices.ContainsFunc(chosen, func(c *install.Candidate) bool { return len(c.Manifest.RequiresSkills) > 0 }) {
		return chosen, nil
	}
	cat, err := o.services.Skills.OpenQuietly(ctx)
	if err != nil {
		return nil, err
	}
	all, err := install.Needed(chosen, place.Skills, func(name string) (string, bool) {
		e, err := cat.Lookup(name)
		if err != nil {
			return "", false
		}
		return e.Version(), true
	})
	var e *install.NeedError
	if errors.As(err, &e) {
		hint := "install a version that fits both"
		if !e.There && e.Also == "" && len(e.Cycle) == 0 {
			hint = "install it first: agent skill add " + neededFrom(e.Need)
		}
		return nil, failure.Conflict(err, hint)
	}
	for _, c := range all {
		if !slices.Contains(chosen, c) {
			o.out.Remark(c.Manifest.Name + " is required and comes with it")
		}
	}
	return all, err
}

// neededFrom is what to type to install a required skill.
func neededFrom(n manifest.Need) string {
	if n.Source == "" {
		return "SOURCE --skill " + n.Name
	}
	return n.Source + " --skill " + n.Name
}
