package disclose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill"
)

// Style names a form of the list of skills.
type Style string

// The styles. A list without skills is empty text in Harness, WinkNames and Breadcrumb, an empty <available_skills> in
// Wink and SkillsRef, {"skills":[]} in JSON, and the sentence "No skills currently available" in Registry, Markdown and
// Tool.
const (
	Wink       Style = "wink"       // indented XML, then how to activate a skill
	WinkNames  Style = "wink-names" // names only
	Harness    Style = "harness"    // XML without indentation
	SkillsRef  Style = "skills-ref" // the output of the reference library's to-prompt, with the path escaped and long descriptions cut
	Tool       Style = "tool"       // the description of the tool "skill"
	Registry   Style = "registry"   // names and brief descriptions
	Breadcrumb Style = "breadcrumb" // the number of skills
	Markdown   Style = "markdown"   // a list of names and descriptions
	JSON       Style = "json"       // one object, one skill per line
)

// Location is the kind of place that a list shows for a skill.
type Location string

// The places. In the wink style they are relative to the mount, otherwise absolute. A skill that is not on disk is shown
// by its address.
const (
	LocationDir  Location = "dir"  // the skill's directory
	LocationFile Location = "file" // its SKILL.md
	LocationURI  Location = "uri"  // skill://NAME/SKILL.md
)

// Activation is the length of the steps after a wink list.
type Activation string

// The lengths. Neither text has a heading: SectionTitle is the title of its section.
const (
	Short Activation = "short"
	Long  Activation = "long"
)

// SectionTitle is the title of the section with the list of skills.
const SectionTitle = "Agent Skills"

// Options says how to render a list of skills. The zero value is useful.
type Options struct {
	Style      Style         // default Harness
	Location   Location      // default: that of the style; Tool and the short styles show none
	Activation Activation    // default Short
	Budget     int           // limit on the tokens of the whole text, as Tokens counts; 0 means none
	MaxSkills  int           // limit on the number of skills; 0 means none
	Entries    []skill.Entry // the skills to list; nil means all that a model may see
	Search     string        // how to find a skill that was left out; default SearchTool
	Ranked     bool          // Entries are in order, the best first: the list keeps that order and is cut at its end
	More       int           // number of skills besides Entries, which the last line counts with those left out
	Recent     []string      // names of recently used skills, the latest first
}

// Mounted reports whether the list names the folders of skills as they are mounted in a workspace, see skill.Entry.Mounted.
func (o *Options) Mounted() bool { return o.Style == Wink && o.Location != LocationURI }

// Styles returns the names of all styles.
func Styles() []Style {
	return []Style{Wink, WinkNames, Harness, SkillsRef, Tool, Registry, Breadcrumb, Markdown, JSON}
}

// Catalog renders the skills of c that a model may see, sorted by canonical name. Descriptions are cut at 1,024
// characters. To stay within a budget, Catalog first shortens descriptions, all to the same length and never below their
// brief form; then it shows brief descriptions for as many skills as possible and only names for the others. If not even
// all names fit, it shows as many skills as fit, with brief descriptions, because a name alone is little to choose by. A
// last line counts the rest, and stands alone if nothing else fits. Skills are kept by priority, then by recent use, then
// by the precedence of their layer, then by name. Text.Cut reports every cut.
//
// Catalog returns an error for an unknown option, or when ctx is done.
func Catalog(ctx context.Context, c *skill.Catalog, o *Options) (Text, error) {
	r, err := newRenderer(o)
	if err != nil {
		return Text{}, err
	}
	r.collect(c)
	if err := r.locate(ctx); err != nil {
		return Text{}, err
	}
	return r.rendered(), nil
}

// ToolList is Catalog in the style Tool without locations, so it needs no context. It ignores o.Style and o.Location.
func ToolList(c *skill.Catalog, o *Options) (Text, error) {
	list := Options{}
	if o != nil {
		list = *o
	}
	list.Style, list.Location = Tool, ""
	r, err := newRenderer(&list)
	if err != nil {
		return Text{}, err
	}
	r.collect(c)
	return r.rendered(), nil
}

func (r *renderer) rendered() Text {
	if len(r.items) == 0 && !r.style.framed {
		return Text{Body: r.style.empty, Tokens: whole(cost([]byte(r.style.empty)))}
	}
	r.limit()
	r.noteLong()
	return r.text()
}

// Text is a text for a model and its cost.
type Text struct {
	Body     string   // without a newline at the end
	Tokens   int      // estimate for Body
	Skills   []Cost   // cost of each skill in Body, in the order of the text
	Cut      []Cut    // skills that were shortened or left out, by name
	Warnings []string // for the user, see Instructions
}

// Cost is the share of one skill in a text.
type Cost struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"` // estimate for its lines, markup included
}

// Cut reports what a limit did to one skill.
type Cut struct {
	Name string `json:"name"`
	What string `json:"what"` // Shortened, NameOnly, Truncated or LeftOut
}

// The values of Cut.What, mildest first.
const (
	Shortened = "description shortened"
	NameOnly  = "name only"
	Truncated = "instructions cut" // by Carry
	LeftOut   = "left out"
)

// renderer holds the state of one rendering.
type renderer struct {
	o     Options
	style *style
	items []item // by canonical name
	cut   []Cut
	long  map[string]bool // names of skills whose description is too long for any list
	more  int             // number of skills that are not in items
	alone bool            // only the last line fits

	scratch []byte // for one item
	line    []byte // for one string of it
}

// item is one skill of the list.
type item struct {
	e        skill.Entry
	desc     string // the description as shown
	place    string // where it is, as the options say
	nameOnly bool
	cost     int // cost of its lines, 0 if not computed yet
}

func newRenderer(o *Options) (*renderer, error) {
	r := &renderer{}
	if o != nil {
		r.o = *o
	}
	if r.o.Style == "" {
		r.o.Style = Harness
	}
	if r.o.Search == "" {
		r.o.Search = SearchTool
	}
	r.o.Search = string(appendLine(nil, r.o.Search, escapeNone))
	r.style = styleOf(r.o.Style)
	if r.style == nil {
		return nil, fmt.Errorf("unknown style %q, use one of %v", r.o.Style, Styles())
	}
	if r.o.Location == "" {
		r.o.Location = r.style.location
	}
	if !slices.Contains([]Location{"", LocationDir, LocationFile, LocationURI}, r.o.Location) {
		return nil, fmt.Errorf("unknown location %q, use dir, file or uri", r.o.Location)
	}
	if !slices.Contains([]Activation{"", Short, Long}, r.o.Activation) {
		return nil, fmt.Errorf("unknown activation text %q, use short or long", r.o.Activation)
	}
	return r, nil
}

func (r *renderer) collect(c *skill.Catalog) {
	r.more = r.o.More
	if r.o.Entries != nil {
		for _, e := range r.o.Entries {
			r.add(e)
		}
		if r.o.Ranked {
			return
		}
		slices.SortStableFunc(r.items, func(a, b item) int { return strings.Compare(a.e.Canonical(), b.e.Canonical()) })
		return
	}
	r.items = make([]item, 0, c.Len())
	for e := range c.Visible() {
		r.add(e)
	}
}

func (r *renderer) add(e skill.Entry) {
	it := item{e: e}
	switch r.style.shows {
	case showsDescription:
		var cut bool
		if it.desc, cut = described(e, r.o.Style); cut {
			if r.long == nil {
				r.long = map[string]bool{}
			}
			r.long[e.Name()] = true
		}
	case showsBrief:
		it.desc = brief(e)
	}
	r.items = append(r.items, it)
}

// longestShown is how many characters of a description, and of when_to_use, a model is shown: the most that the
// specification allows.
const longestShown = 1024

// described returns the description that a model is shown, followed by when_to_use as Claude Code lists it. The reference
// library has no such field. It reports whether the text was cut.
func described(e skill.Entry, s Style) (text string, cut bool) {
	text = firstWords(e.Description(), longestShown)
	cut = len(text) != len(e.Description())
	if full := e.WhenToUse(); full != "" && s != SkillsRef {
		when := firstWords(full, longestShown)
		text, cut = text+" "+when, cut || len(when) != len(full)
	}
	return from(e) + text, cut
}

// from says to a model where a skill comes from, before its description: "" for a skill of this machine.
func from(e skill.Entry) string {
	if e.Origin() == "" {
		return ""
	}
	return "From the " + e.Origin() + ": "
}

// noteLong adds the descriptions that are too long for any list to what was cut, unless they are there already.
func (r *renderer) noteLong() {
	if len(r.long) == 0 {
		return
	}
	for _, c := range r.cut {
		delete(r.long, c.Name)
	}
	for name := range r.long {
		r.cut = append(r.cut, Cut{name, Shortened})
	}
	r.sortCuts()
}

// text joins the pieces and counts their tokens. Each piece ends with a line break, so the cost of the whole is the sum
// of its parts.
func (r *renderer) text() Text {
	if r.alone {
		body := r.style.closing(nil, r.more, r.o.Search)
		return Text{Body: string(body), Tokens: whole(cost(body)), Cut: r.cut}
	}
	t := Text{Cut: r.cut}
	var all strings.Builder
	all.Grow(r.room())
	b := r.style.head(nil, r)
	sum := cost(b)
	all.Write(b)
	if r.style.item != nil {
		t.Skills = r.list(&all, &sum)
	}
	b = r.style.tail(b[:0], r)
	sum += cost(b)
	all.Write(b)
	t.Body = all.String()
	if n := len(t.Body); n > 1 && t.Body[n-1] == '\n' {
		t.Body = t.Body[:n-1]
		if classes[t.Body[n-2]] != punct {
			sum -= perBreak
		}
	}
	t.Tokens = whole(sum)
	return t
}

// room estimates the bytes of the text.
func (r *renderer) room() int {
	n := 2048
	for i := range r.items {
		n += 192 + len(r.items[i].desc) + len(r.items[i].desc)/16
	}
	return n
}

// list writes the skills, adds their costs to sum and returns the cost of each.
func (r *renderer) list(to *strings.Builder, sum *int) []Cost {
	costs := make([]Cost, 0, len(r.items))
	var b []byte
	for i := range r.items {
		b = r.piece(b[:0], &r.items[i], i == len(r.items)-1)
		to.Write(b)
		c := r.items[i].cost
		if c == 0 {
			c = cost(b)
		}
		*sum += c
		costs = append(costs, Cost{r.items[i].e.Name(), whole(c)})
	}
	return costs
}

// piece appends the lines of one skill.
func (r *renderer) piece(b []byte, it *item, last bool) []byte {
	if it.nameOnly {
		b = r.style.name(b, r, it)
	} else {
		b = r.style.item(b, r, it)
	}
	if last {
		return append(b, r.style.after...)
	}
	return append(b, r.style.between...)
}
