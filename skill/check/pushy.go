package check

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/internal/draft"
	"github.com/agent-base/agent-base/skill/manifest"
)

// checkWritten reports instructions that nobody has written yet.
func (v *validation) checkWritten() {
	if n := draft.InBody(v.m.Body); n >= 0 {
		v.Add(manifest.Problem{Code: "body-unwritten", Line: v.m.BodyLine + n, Col: 1, Message: "the instructions are still those of a template"})
	}
}

// checkPushy reports a description that wants the skill to be used for everything, before everything, or in place of others. A list
// of skills shows it as it is, and no order heeds it.
func (v *validation) checkPushy() {
	if claim := pushy(v.m.Description); claim != "" {
		v.reportAt(v.field("description"), "description-pushy", fmt.Sprintf("the description wants this skill to go before others: %q", claim))
	}
}

// Words of claims. A claim is read with the words that follow it closely.
var (
	forbids = []string{"not", "never", "don't", "don’t", "avoid", "instead"}
	insists = []string{"always", "must", "only"}
	whole   = []string{"any", "every", "each", "all", "everything", "anything"}
	turns   = []string{"answer", "answering", "answers", "conversation", "conversations", "everything", "anything", "message", "messages", "prompt", "prompts", "question",
		"questions", "reply", "request", "requests", "responding", "response", "responses", "task", "tasks"}
)

// reach is how many words a claim looks at.
const reach = 7

// mayClaim reports whether a text in lower case has the words that one of the claims is made of, if perhaps not together.
func mayClaim(text string) bool {
	has := func(part string) bool { return strings.Contains(text, part) }
	return has("other") && has("skill") || has("before") ||
		has("use") && slices.ContainsFunc(insists, has) && (has("first") || slices.ContainsFunc(turns, has))
}

// pushy returns the first words that claim a place before other skills, "" if there are none.
func pushy(description string) string {
	if !mayClaim(strings.ToLower(description)) {
		return ""
	}
	words := strings.Fields(description)
	plain := make([]string, len(words))
	for i, w := range words {
		plain[i] = strings.ToLower(strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) }))
	}
	for i, w := range plain {
		next := plain[i:min(i+reach, len(plain))]
		has := func(list []string) bool {
			return slices.ContainsFunc(next[1:], func(w string) bool { return slices.Contains(list, w) })
		}
		first := slices.Index(next, "first")
		insisted := slices.Contains(insists, w) && has([]string{"use", "used"})
		switch {
		case slices.Contains(forbids, w) && has([]string{"other"}) && has([]string{"skill", "skills"}),
			w == "before" && has(whole) && has(turns),
			insisted && first > 0 && slices.Contains([]string{"used", "skill", "it", "this"}, next[first-1]),
			insisted && has(whole) && has(turns):
			return strings.Join(words[i:min(i+reach, len(words))], " ")
		}
	}
	return ""
}
