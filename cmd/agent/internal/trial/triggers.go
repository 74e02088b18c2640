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

// query looks for the skill with one request: by its triggers, and by the words of the request.
func (r *run) query(index *disclose.Index, q Query) Case {
	c := Case{Group: Triggers, Name: clip(q.Text, 120), Status: Passed}
	own := func(e skill.Entry) bool { return e.Canonical() == r.s.Canonical() }
	about := index.About(q.Text, found)
	matches := index.Match(q.Text, nil)
	match := slices.IndexFunc(matches, func(m disclose.Match) bool { return own(m.Entry) })
	ranked := about
	if len(ranked) == 0 { // a short request: a model would have to search
		for _, hit := range index.Search(q.Text, found) {
			ranked = append(ranked, hit.Entry)
		}
	}
	place := slices.IndexFunc(ranked, own)
	switch {
	case q.Should && match < 0 && place < 0:
		c.Status, c.Message = Failed, "it should bring up the skill, and does not: "+instead(matches, ranked)
		c.Cure = "use the words of such requests in the description"
	case q.Should && match < 0 && place >= offered:
		c.Status, c.Message = Warned, fmt.Sprintf("it brings up the skill only at place %d: %s", place+1, instead(matches, ranked[:place]))
	case q.Should:
	case match >= 0 && matches[match].Why() != "name":
		c.Status, c.Message = Failed, "it should not bring up the skill, and does, by the "+matches[match].Why()
		c.Cure = "remove that trigger, or make it narrower"
	case match >= 0:
		c.Status, c.Message = Warned, "it should not bring up the skill, and names it"
	case len(about) > 0 && own(about[0]):
		c.Status, c.Message = Warned, "it should not bring up the skill, and its words fit no other skill better; a model decides by the description"
		c.Cure = `say what the skill is not for, in a sentence "Do not use for …"`
	}
	return c
}

// instead says which skills a request brings up.
func instead(matches []disclose.Match, ranked []skill.Entry) string {
	var names []string
	add := func(e skill.Entry) {
		if len(names) < 3 && !slices.Contains(names, e.Canonical()) {
			names = append(names, e.Canonical())
		}
	}
	for _, m := range matches {
		add(m.Entry)
	}
	for _, e := range ranked {
		add(e)
	}
	switch len(names) {
	case 0:
		return "no skill fits its words"
	case 1:
		return names[0] + " comes first"
	}
	return strings.Join(names, ", ") + " come first"
}
