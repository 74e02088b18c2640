package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// mostDigests is the number of skills up to which list computes digests without being asked.
const mostDigests = 50

// listOptions is that of list, show and manage list: they find out the same, and print it in their own ways.
type listOptions struct {
	out      *output.Printer
	settings *setup.Settings
	skills   *library.Library
	packages *packages.Packages

	all, long, json bool
}

// listing returns a command that lists skills.
func listing(s *app.Services, run func(context.Context, *listOptions) error, c *cobra.Command) (*cobra.Command, *listOptions) {
	o := &listOptions{out: s.Out, settings: s.Settings, skills: s.Skills, packages: s.Packages}
	c.Args = arguments(0, 0, "no arguments")
	c.RunE = func(c *cobra.Command, _ []string) error { return run(c.Context(), o) }
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c, o
}

func newListCommand(s *app.Services, run func(context.Context, *listOptions) error) *cobra.Command {
	c, o := listing(s, run, &cobra.Command{
		Use:   "list",
		Short: "List the skills",
		Long: `List the skills that a model can see: name, version, whether it is active, the commit that it was installed from or else
its content digest, and source.

With --all, also list skills that are not active, with the reason, and what was left out: links that lead elsewhere, the second of two
skills with the same name, each SKILL.md below another skill, folders that are too deep or cannot be read, and skills of packages
below the working directory, which a conversation finds once it works there.

A digest needs every file of a skill: for more than 50 skills it is shown only with --long.`,
		Example: `  agent skill list
  agent skill list --all --json`,
	})
	c.Flags().BoolVar(&o.all, "all", false, "also disabled, unavailable, hidden and broken skills, and what was left out")
	c.Flags().BoolVar(&o.long, "long", false, "show digests for any number of skills")
	return c
}

// overview is what the commands found out.
type overview struct {
	*listOptions
	cat       *skill.Catalog
	changed   map[skill.Entry]*skill.ReplacedError // installed skills that are not used since their content is another one
	sha       map[skill.Entry]string               // shown
	installed map[skill.Entry]*installedJSON       // shown
}

// look opens the catalogue. It reads the files of installed skills.
func (o *listOptions) look(ctx context.Context) (*overview, error) {
	open := o.skills.Open
	if o.all {
		open = o.skills.OpenAll
	}
	cat, err := open(ctx)
	if err != nil {
		return nil, err
	}
	l := &overview{listOptions: o, cat: cat, changed: map[skill.Entry]*skill.ReplacedError{}}
	for e := range cat.All() {
		if other := replaced(ctx, e); other != nil {
			l.changed[e] = other
		}
	}
	return l, nil
}

// state returns the state of a skill, and why.
func (l *overview) state(e skill.Entry) (state, reason string) {
	if other := l.changed[e]; other != nil {
		return skill.StateUnavailable.String(), other.Reason()
	}
	return e.State().String(), e.Reason()
}

// active is the cell of the column ACTIVE: yes, or why not.
func (l *overview) active(e skill.Entry) string {
	if state, _ := l.state(e); state != skill.StateEnabled.String() {
		return state
	}
	return "yes"
}

// print prints JSON.
func (l *overview) print(skills iter.Seq[skill.Entry], more ...output.Member) error {
	return output.PrintList(l.out, &output.List[skill.Entry]{Key: "skills", More: more, Items: slices.Collect(skills),
		Append: func(b []byte, e skill.Entry) []byte {
			r := newRecord(l.settings, e)
			if r.SHA = l.sha[e]; l.changed[e] != nil {
				r.replaced(l.changed[e])
			}
			b = appendRecord(b, &r)
			if i := l.installed[e]; i != nil {
				text, _ := json.Marshal(i) // fields of text and numbers
				b = append(append(append(b[:len(b)-1], `,"installed":`...), text...), '}')
			}
			return b
		}})
}

func runList(ctx context.Context, o *listOptions) error {
	l, err := o.look(ctx)
	if err != nil {
		return err
	}
	library.WarnAlike(o.out, l.cat)
	skills := func(yield func(skill.Entry) bool) {
		for e := range chosen(l.cat, o.all) {
			if (o.all || l.changed[e] == nil) && !yield(e) {
				return
			}
		}
	}
	l.sha = digests(ctx, o.packages.Installed(ctx), skills, o.long)
	if o.json {
		more := []output.Member{{Key: "left_out", Value: l.leftOut()}}
		if o.all {
			below, _ := skillsBelow(ctx, o.skills)
			more = append(more, output.Member{Key: "below", Value: below})
		}
		return l.print(skills, more...)
	}
	titles := []string{"NAME", "VERSION", "ACTIVE", "SHA", "SOURCE", "WHY NOT"}
	if !o.all {
		titles = titles[:5]
	}
	var row [6]string
	rows := func(yield func([]string) bool) {
		for e := range skills {
			row = [...]string{e.Name(), output.OrDash(e.Version()), l.active(e), output.OrDash(l.sha[e]), e.Layer(), l.why(e)}
			if !yield(row[:len(titles)]) {
				return
			}
		}
	}
	if err := o.out.TableOf(titles, rows); err != nil {
		return err
	}
	if o.all {
		o.below(ctx)
		o.out.UnderTitle("Left out", library.LeftOut(l.cat), func(p *manifest.Problem) string { return p.File + ": " + p.Message })
		return nil
	}
	mentionUnreadText(o.out, l.cat)
	l.mentionRest()
	library.WarnLeftOut(o.out, l.cat)
	o.mentionUnread(l.cat)
	return nil
}

// below lists the skills of packages below the working directory.
func (o *listOptions) below(ctx context.Context) {
	list, whole := skillsBelow(ctx, o.skills)
	if o.out.Flush() != nil {
		return
	}
	if !whole {
		o.out.Warn("not every folder below the working directory was looked at")
	}
	if len(list) == 0 {
		return
	}
	o.out.Printf("\nBelow, and found by a conversation that works there\n")
	for _, s := range list {
		o.out.Printf("  %s  %s\n", s.Name, s.Location)
	}
}

// belowJSON is a skill of a package below the working directory.
type belowJSON struct {
	Name     string `json:"name"`
	Location string `json:"location"`
}

// skillsBelow returns the skills of packages below the working directory, and whether every folder was looked at.
func skillsBelow(ctx context.Context, l *library.Library) (out []belowJSON, whole bool) {
	list, whole, err := l.Below(ctx)
	if out = []belowJSON{}; err != nil {
		return out, whole // the catalogue itself has opened
	}
	for _, e := range list {
		out = append(out, belowJSON{e.Name(), location(ctx, e)})
	}
	return out, whole
}

// mentionUnread says where other agents have skills, if there are none here but those of the program itself.
func (o *listOptions) mentionUnread(cat *skill.Catalog) {
	if o.out.Quiet() {
		return
	}
	for e := range cat.Visible() {
		if e.Layer() != config.Bundled {
			return
		}
	}
	for _, u := range o.skills.Unread(cat) {
		are := "are"
		if len(u.Skills) == 1 {
			are = "is"
		}
		o.out.Hint(fmt.Sprintf("%s in %s %s not read: %s installs what you choose", output.Count(len(u.Skills), "skill"), u.Dir, are, u.Command))
	}
}

// mentionUnreadText names on stderr the skills of whose files a model gets only a part.
func mentionUnreadText(out *output.Printer, c *skill.Catalog) {
	if out.Quiet() || out.Flush() != nil {
		return
	}
	n := 0
	for e := range c.Visible() {
		unread := manifest.Unread(e.Problems())
		if unread == "" {
			continue
		}
		if n++; n <= mostAbsent {
			out.Warn(fmt.Sprintf("%s: %s", e.Name(), unread))
		}
	}
	if n > mostAbsent {
		out.Warn(fmt.Sprintf("text of %s more reaches no model", output.Count(n-mostAbsent, "skill")))
	}
	if n > 0 {
		out.Hint("agent skill validate NAME says why")
	}
}

func chosen(c *skill.Catalog, all bool) iter.Seq[skill.Entry] {
	if all {
		return c.All()
	}
	return c.Visible()
}

// digests returns the short commits of installed skills and the short digests of the others, of which there are none for many
// skills without --long.
func digests(ctx context.Context, installed *packages.Installed, skills iter.Seq[skill.Entry], asked bool) map[skill.Entry]string {
	n := 0
	for range skills {
		n++
	}
	out := map[skill.Entry]string{}
	for e := range skills {
		if i := installed.Of(ctx, e); i != nil && i.CommitSHA != "" {
			out[e] = output.Short(i.CommitSHA)
		} else if n <= mostDigests || asked {
			out[e] = shaOf(ctx, e)
		}
	}
	return out
}

// shaOf returns the short digest of a skill's content, "" when it cannot be read.
func shaOf(ctx context.Context, e skill.Entry) string {
	if e.State() == skill.StateBroken {
		return ""
	}
	sum, err := e.Digest(ctx)
	if err != nil {
		return ""
	}
	return output.Short(sum)
}

// why says why a skill is not active, "" for one that is.
func (l *overview) why(e skill.Entry) string {
	if l.changed[e] == nil && e.State() == skill.StateEnabled {
		return ""
	}
	_, reason := l.state(e)
	if l.changed[e] != nil {
		return reason
	}
	return ui.Truncate(reason, showWidth)
}

// absent is something that the list does not show: a broken or unavailable skill, or a link or folder that was left out.
type absent struct {
	*manifest.Problem
	Name   string `json:"name"`
	State  string `json:"state"` // broken, unavailable, hidden or left_out
	Reason string `json:"reason"`
}

// mostAbsent is how many skills that are not shown are named to a person.
const mostAbsent = 5

// notShown returns the skills that are broken or unavailable, and those that nobody has written yet.
func (l *overview) notShown() []absent {
	out := []absent{}
	for e := range l.cat.All() {
		s := e.State()
		if l.changed[e] != nil || s == skill.StateBroken || s == skill.StateUnavailable || e.Cause() == skill.CauseUnwritten {
			state, reason := l.state(e)
			out = append(out, absent{Name: e.Name(), State: state, Reason: reason})
		}
	}
	return out
}

// leftOut returns what the list does not show. If the list has all skills, that is what is not a skill.
func (l *overview) leftOut() []absent {
	out := []absent{}
	if !l.all {
		out = l.notShown()
	}
	for _, p := range library.LeftOut(l.cat) {
		out = append(out, absent{Name: library.LeftName(p), State: "left_out", Reason: p.Message, Problem: &p})
	}
	return out
}

// mentionRest names on stderr the skills that notShown returns, so none is lost silently.
func (l *overview) mentionRest() {
	out := l.out
	if out.Quiet() || out.Flush() != nil {
		return
	}
	missing := l.notShown()
	for _, a := range missing[:min(len(missing), mostAbsent)] {
		out.Warn(fmt.Sprintf("%s is %s: %s", a.Name, a.State, ui.Truncate(a.Reason, showWidth)))
	}
	if n := len(missing) - mostAbsent; n > 0 {
		out.Warn(fmt.Sprintf("%s more not shown", output.Count(n, "skill")))
	}
	if len(missing) > 0 {
		out.Hint("agent skill list --all shows all; agent skill why NAME explains one")
		return
	}
	shown, other := 0, 0
	for e := range l.cat.All() {
		if e.State() == skill.StateEnabled {
			shown++
		} else {
			other++
		}
	}
	switch {
	case shown == 0 && other > 0:
		out.Hint(fmt.Sprintf("%s not active: \"agent skill list --all\" shows all", output.Count(other, "skill")))
	case shown == 0:
		out.Hint("no skills: put a folder with a SKILL.md into ~/.agent/skills, or see \"agent doctor\"")
	}
}
