package skilltool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
)

// mostFound is how many skills one search returns.
const mostFound = 10

// search finds skills that a list left out, the best first. It activates nothing.
func (k *Kit) search(ctx context.Context, words string) tool.Result {
	c := k.o.Catalog()
	var found []skill.Entry
	for _, h := range k.o.Indexes.Of(c).Search(words, mostFound) {
		found = append(found, h.Entry)
	}
	if len(found) == 0 {
		return tool.Success("", fmt.Sprintf("No skill has to do with '%s'%s", words, meant(c, words)))
	}
	text, err := disclose.Catalog(ctx, c, &disclose.Options{Style: disclose.Markdown, Entries: found, Ranked: true})
	if err != nil { // the style is ours: only a mistake of this program gets here
		panic(err)
	}
	return tool.Success(text.Body, fmt.Sprintf("Found %s for '%s'", plural(len(found), "skill"), words))
}

// pageSize is the most bytes of names and descriptions that one page of list has. With the escapes of JSON it stays within what clients
// show their model of a result.
const pageSize = 8000

// list returns a page of the skills, by name: those that follow a name, "" for the first ones. A name need not be that of a skill.
func (k *Kit) list(ctx context.Context, after string) tool.Result {
	c := k.o.Catalog()
	all := slices.Collect(c.Visible())
	from, found := slices.BinarySearchFunc(all, manifest.Canonical(after), func(e skill.Entry, name string) int { return strings.Compare(e.Canonical(), name) })
	if found {
		from++
	}
	to := from
	for size := 0; to < len(all); to++ {
		if size += len(all[to].Name()) + len(all[to].Description()) + len("- : \n"); size > pageSize && to > from {
			break
		}
	}
	if from == to {
		return tool.Success("", fmt.Sprintf("No skill follows '%s': there are %d", after, len(all)))
	}
	text, err := disclose.Catalog(ctx, c, &disclose.Options{Style: disclose.Markdown, Entries: all[from:to], Ranked: true})
	if err != nil { // the style is ours: only a mistake of this program gets here
		panic(err)
	}
	if more := len(all) - to; more > 0 {
		text.Body += fmt.Sprintf("\n%d more: "+`skill {"action": "list", "skill_name": %q}`, more, all[to-1].Canonical())
	}
	return tool.Success(text.Body, fmt.Sprintf("Skills %d to %d of %d", from+1, to, len(all)))
}

// meant suggests the name that is nearest to words, if one is near.
func meant(c *skill.Catalog, words string) string {
	var missing *skill.NotFoundError
	_, err := c.Lookup(strings.Join(strings.Fields(words), "-"))
	if !errors.As(err, &missing) || len(missing.Suggest) == 0 {
		return ""
	}
	return fmt.Sprintf(". Did you mean '%s'?", missing.Suggest[0])
}
