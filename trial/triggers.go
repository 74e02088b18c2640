package trial

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
)

// How many skills the engine describes to a model for one request, and how many a search finds.
const (
	offered = 5
	found   = 10
)

// evalsFile is where evals are.
const evalsFile = "evals/evals.json"

// triggers looks for the skill with the requests of its trigger examples: the files in evals/ that have some.
func (r *run) triggers(ctx context.Context) {
	var all []Query
	for _, name := range files(r.s.FS(), "evals", func(name string) bool { return path.Ext(name) == ".json" && path.Dir(name) == "evals" }) {
		text, err := r.s.ReadFile(name)
		var queries []Query
		if err == nil {
			queries, err = ParseQueries(text)
		}
		if err != nil && (name != evalsFile || !r.wants(Evals)) { // that file is reported with the evals
			r.add(Case{Group: Triggers, Name: name, Status: Failed, Message: err.Error(), File: name})
		}
		all = append(all, queries...)
	}
	if len(all) == 0 {
		return
	}
	if why := r.unlisted(); why != "" {
		r.skip(Triggers, plural(len(all), "request"), why)
		return
	}
	index := disclose.NewIndex(r.o.Catalog)
	for _, q := range all[:min(len(all), maxQueries)] {
		if ctx.Err() != nil {
			return
		}
		r.add(r.query(index, q))
	}
}

// unlisted says why a model is not shown the skill.
func (r *run) unlisted() string {
	if r.o.Catalog == nil {
		return "there are no other skills to compare with"
	}
	e, err := r.o.Catalog.Lookup(r.s.Canonical())
	switch {
	case err != nil:
		return "the skill is not among those that are installed"
	case e.Where() != r.s.Entry().Where():
		return "another skill of this name comes first: " + e.Where()
	case e.State() != skill.StateEnabled:
		return fmt.Sprintf("a model is not shown the skill: it is %s (%s)", e.State(), e.Reason())
	}
	return ""
}

// query looks for the skill with one request.
func (r *run) query(index *disclose.Index, q Query) Case {
	c := Case{Group: Triggers, Name: clip(q.Text, 120), Status: Passed}
	about := index.About(q.Text, found)
	place := slices.IndexFunc(about, func(e skill.Entry) bool { return e.Canonical() == r.s.Canonical() })
	matches := index.Match(q.Text, nil)
	match := slices.IndexFunc(matches, func(m disclose.Match) bool { return m.Entry.Canonical() == r.s.Canonical() })
	switch {
	case q.Should && match < 0 && place < 0:
		c.Status, c.Message = Failed, "it should bring up the skill, and does not: "+instead(about)
		c.Cure = "use the words of such requests in the description"
	case q.Should && match < 0 && place >= offered:
		c.Status, c.Message = Warned, fmt.Sprintf("it brings up the skill only at place %d: %s", place+1, instead(about[:place]))
	case q.Should:
	case match >= 0 && matches[match].Why() != "name":
		c.Status, c.Message = Failed, "it should not bring up the skill, and does, by the "+matches[match].Why()
		c.Cure = "remove that trigger, or make it narrower"
	case match >= 0:
		c.Status, c.Message = Warned, "it should not bring up the skill, and names it"
	case place == 0:
		c.Status, c.Message = Warned, "it should not bring up the skill, and its words fit no other skill better; a model decides by the description"
		c.Cure = `say what the skill is not for, in a sentence "Do not use for …"`
	}
	return c
}

// instead says which skills a request brings up.
func instead(list []skill.Entry) string {
	if len(list) == 0 {
		return "no skill fits its words"
	}
	var names []string
	for _, e := range list[:min(len(list), 3)] {
		names = append(names, e.Canonical())
	}
	verb := " comes first"
	if len(names) > 1 {
		verb = " come first"
	}
	return strings.Join(names, ", ") + verb
}
