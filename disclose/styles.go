package disclose

import (
	"context"
	"net/url"
	"path/filepath"
	"strconv"

	"github.com/agent-base/agent-base/skill"
)

// style says how one form of the list is written. All pieces except the tail end with a line break.
type style struct {
	empty    string   // the whole text if there are no skills
	framed   bool     // without skills, show the empty frame instead
	location Location // the default
	shows    shows
	between  string // between two skills
	after    string // after the last one
	head     func(b []byte, r *renderer) []byte
	item     func(b []byte, r *renderer, it *item) []byte
	name     func(b []byte, r *renderer, it *item) []byte // an item as its name only
	tail     func(b []byte, r *renderer) []byte
	closing  func(b []byte, more int, search string) []byte
}

// shows says what a style shows of a skill in addition to its name.
type shows uint8

const (
	showsName shows = iota
	showsBrief
	showsDescription
)

const (
	opening = "<available_skills>\n"
	ending  = "</available_skills>"
	none    = "No skills currently available."
)

// styleOf returns the table entry of a style, or nil.
func styleOf(s Style) *style {
	switch s {
	case Wink:
		return &style{framed: true, location: LocationDir, shows: showsDescription,
			head: fixed(opening), item: winkItem, name: winkName, tail: winkTail, closing: moreLine}
	case WinkNames:
		return &style{head: fixed(""), item: listName, name: listName, tail: moreTail(""), closing: moreLine}
	case Harness:
		return &style{location: LocationFile, shows: showsDescription,
			head: fixed(opening), item: harnessItem, name: harnessName, tail: moreTail(ending), closing: moreLine}
	case SkillsRef:
		return &style{framed: true, location: LocationFile, shows: showsDescription,
			head: fixed(opening), item: refItem, name: refName, tail: moreTail(ending), closing: moreLine}
	case Tool:
		return &style{empty: toolHead + opening + "(No skills currently available)\n" + ending + toolTail, shows: showsDescription,
			head: fixed(toolHead + opening), item: toolItem, name: toolName, tail: moreTail(ending + toolTail), closing: moreLine}
	case Registry:
		return &style{empty: none, shows: showsBrief,
			head: fixed("## Available Skills\n\n"), item: listItem, name: listName, tail: moreTail(""), closing: moreLine}
	case Breadcrumb:
		return &style{head: breadcrumb, tail: func(b []byte, _ *renderer) []byte { return b }, closing: moreLine}
	case Markdown:
		return &style{empty: none, shows: showsDescription,
			head: fixed(""), item: listItem, name: listName, tail: moreTail(""), closing: moreLine}
	case JSON:
		return &style{empty: `{"skills":[]}`, location: LocationFile, shows: showsDescription, between: ",\n", after: "\n",
			head: fixed("{\"skills\":[\n"), item: jsonItem, name: jsonName, tail: jsonTail, closing: jsonClosing}
	}
	return nil
}

func fixed(s string) func([]byte, *renderer) []byte {
	return func(b []byte, _ *renderer) []byte { return append(b, s...) }
}

// moreLine says how many skills are not in the list and how to find them.
func moreLine(b []byte, more int, search string) []byte {
	b = strconv.AppendInt(b, int64(more), 10)
	if more == 1 {
		b = append(b, " more skill: search with "...)
	} else {
		b = append(b, " more skills: search with "...)
	}
	return append(b, search...)
}

func moreTail(end string) func([]byte, *renderer) []byte {
	return func(b []byte, r *renderer) []byte {
		if r.more > 0 {
			b = moreLine(b, r.more, r.o.Search)
			if end != "" {
				b = append(b, '\n')
			}
		}
		return append(b, end...)
	}
}

func breadcrumb(b []byte, r *renderer) []byte {
	n := len(r.items) + r.more
	b = append(b, '[')
	b = strconv.AppendInt(b, int64(n), 10)
	if n == 1 {
		return append(b, " skill available]"...)
	}
	return append(b, " skills available]"...)
}

func winkItem(b []byte, r *renderer, it *item) []byte {
	b = append(b, "  <skill>\n    <name>"...)
	b = appendLine(b, it.e.Name(), escapeAll)
	b = append(b, "</name>\n    <description>"...)
	b = appendLine(b, it.desc, escapeAll)
	b = append(b, "</description>\n    <location>"...)
	b = appendLine(b, it.place, escapeAll)
	return append(b, "</location>\n  </skill>\n"...)
}

func winkName(b []byte, _ *renderer, it *item) []byte {
	b = append(b, "  <skill><name>"...)
	b = appendLine(b, it.e.Name(), escapeAll)
	b = append(b, "</name>"...)
	b = appendOrigin(b, it, "<description>", "</description>")
	return append(b, "</skill>\n"...)
}

func winkTail(b []byte, r *renderer) []byte {
	steps := shortSteps
	if r.o.Activation == Long {
		steps = longSteps
	}
	return moreTail(ending+"\n\n"+steps)(b, r)
}

func harnessItem(b []byte, r *renderer, it *item) []byte {
	b = append(b, "<skill>\n<name>"...)
	b = appendLine(b, it.e.Name(), escapeAll)
	b = append(b, "</name>\n<description>"...)
	b = appendLine(b, it.desc, escapeAll)
	b = append(b, "</description>\n<location>"...)
	b = appendLine(b, it.place, escapeAll)
	return append(b, "</location>\n</skill>\n"...)
}

func harnessName(b []byte, _ *renderer, it *item) []byte {
	b = append(b, "<skill><name>"...)
	b = appendLine(b, it.e.Name(), escapeAll)
	b = append(b, "</name>"...)
	b = appendOrigin(b, it, "<description>", "</description>")
	return append(b, "</skill>\n"...)
}

func refItem(b []byte, r *renderer, it *item) []byte {
	b = append(b, "<skill>\n<name>\n"...)
	b = escapeRef(b, it.e.Name())
	b = append(b, "\n</name>\n<description>\n"...)
	b = escapeRef(b, it.desc)
	b = append(b, "\n</description>\n<location>\n"...)
	b = escapeOnly(b, it.place, "&<>") // the reference library writes the path unchanged, which can break the XML
	return append(b, "\n</location>\n</skill>\n"...)
}

func refName(b []byte, _ *renderer, it *item) []byte {
	b = append(b, "<skill>\n<name>\n"...)
	b = escapeRef(b, it.e.Name())
	b = append(b, "\n</name>\n"...)
	b = appendOrigin(b, it, "<description>\n", "\n</description>\n")
	return append(b, "</skill>\n"...)
}

func toolItem(b []byte, r *renderer, it *item) []byte {
	b = append(b, '"')
	b = appendLine(b, it.e.Name(), escapeAll)
	b = append(b, `": `...)
	b = appendLine(b, it.desc, escapeTags)
	return append(b, '\n')
}

func toolName(b []byte, _ *renderer, it *item) []byte {
	b = append(b, '"')
	b = appendLine(b, it.e.Name(), escapeAll)
	b = append(b, '"')
	return append(appendOrigin(b, it, ": ", ""), '\n')
}

func listItem(b []byte, r *renderer, it *item) []byte {
	b = append(b, "- "...)
	b = appendLine(b, it.e.Name(), escapeTags)
	b = append(b, ": "...)
	b = appendLine(b, it.desc, escapeTags)
	if r.o.Location != "" && r.style.shows == showsDescription {
		b = append(b, " ("...)
		b = appendLine(b, it.place, escapeTags)
		b = append(b, ')')
	}
	return append(b, '\n')
}

func listName(b []byte, _ *renderer, it *item) []byte {
	b = append(b, "- "...)
	b = appendLine(b, it.e.Name(), escapeTags)
	return append(appendOrigin(b, it, ": ", ""), '\n')
}

// appendOrigin appends where a skill of a server comes from, in the place of its description; nothing for a skill of this machine. A label
// needs no escapes.
func appendOrigin(b []byte, it *item, before, after string) []byte {
	if of := it.e.Origin(); of != "" {
		b = append(append(append(append(b, before...), "From the "...), of...), after...)
	}
	return b
}

// locate finds the place of every skill if the options ask for it.
func (r *renderer) locate(ctx context.Context) error {
	if r.o.Location == "" {
		return nil
	}
	for i := range r.items {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.items[i].place = r.place(ctx, r.items[i].e)
	}
	return nil
}

// place returns where the skill is, in the form that the options ask for. A skill without a folder has its address.
func (r *renderer) place(ctx context.Context, e skill.Entry) string {
	if r.o.Location == LocationURI {
		return address(e)
	}
	if dir := e.Mounted(); r.o.Mounted() && dir != "" {
		if r.o.Location == LocationDir {
			return dir
		}
		return dir + "/" + e.File()
	}
	file, err := e.Location(ctx)
	if err != nil {
		return address(e)
	}
	if r.o.Location == LocationDir {
		return filepath.Dir(file)
	}
	return file
}

func address(e skill.Entry) string {
	if e.Server() != "" {
		return e.Where()
	}
	return "skill://" + url.PathEscape(e.Name()) + "/SKILL.md"
}
