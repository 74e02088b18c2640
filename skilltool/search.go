package skilltool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
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

// meant suggests the name that is nearest to words, if one is near.
func meant(c *skill.Catalog, words string) string {
	var missing *skill.NotFoundError
	_, err := c.Lookup(strings.Join(strings.Fields(words), "-"))
	if !errors.As(err, &missing) || len(missing.Suggest) == 0 {
		return ""
	}
	return fmt.Sprintf(". Did you mean '%s'?", missing.Suggest[0])
}
