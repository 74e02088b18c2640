package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The limits of the files in evals/.
const (
	maxEvalFile = 1 << 20 // bytes of one
	maxQueries  = 1000    // of one skill
	maxEvals    = 200     // of one skill
)

// Query is a request that should bring up a skill, or should not.
type Query struct {
	Text   string
	Should bool
}

// The keys that files of trigger examples use.
var (
	queryKeys  = []string{"query", "prompt", "input", "text", "utterance"}
	shouldKeys = []string{"should_trigger", "should_activate", "expected_trigger", "expect_trigger", "expects_trigger", "shouldTrigger"}
	listKeys   = []string{"queries", "cases", "evals", "evaluations", "tests", "triggers", "trigger_queries", "trigger_evals", "examples"}
	yesKeys    = []string{"should_trigger", "should_activate", "positive"}
	noKeys     = []string{"should_not_trigger", "should_not_activate", "negative"}
	partKeys   = []string{"trigger_evaluation", "trigger_evals", "triggers"} // an object with the lists of yesKeys and noKeys
)

// ParseQueries reads trigger examples. The forms are a list of {"query": …, "should_trigger": true}, with "prompt" for "query"
// too; an object with such a list, under a name such as "queries" or "evals"; and an object with the lists "should_trigger" and
// "should_not_trigger". It returns no queries for JSON that has none, and an error for a text that is not JSON.
func ParseQueries(text []byte) ([]Query, error) {
	if len(text) > maxEvalFile {
		return nil, fmt.Errorf("the file has more than %d bytes", maxEvalFile)
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	var out []Query
	if object, ok := doc.(map[string]any); ok {
		for _, key := range listKeys {
			out = append(out, entries(object[key])...)
		}
		out = append(out, sorted(object)...)
		for _, key := range partKeys {
			part, _ := object[key].(map[string]any)
			out = append(out, sorted(part)...)
		}
	} else {
		out = entries(doc)
	}
	if len(out) > maxQueries {
		return out[:maxQueries], fmt.Errorf("more than %d queries: the others are not read", maxQueries)
	}
	return out, nil
}

// sorted returns the queries of an object that has a list of those that should and of those that should not.
func sorted(object map[string]any) []Query {
	var out []Query
	for _, key := range yesKeys {
		out = append(out, plain(object[key], true)...)
	}
	for _, key := range noKeys {
		out = append(out, plain(object[key], false)...)
	}
	return out
}

// entries returns the queries of a list of objects that say what is expected.
func entries(v any) []Query {
	list, _ := v.([]any)
	var out []Query
	for _, item := range list {
		object, _ := item.(map[string]any)
		text := textOf(object, queryKeys...)
		for _, key := range shouldKeys {
			if should, ok := object[key].(bool); ok && text != "" {
				out = append(out, Query{text, should})
				break
			}
		}
	}
	return out
}

// plain returns the queries of a list of texts, or of objects with a text.
func plain(v any, should bool) []Query {
	list, _ := v.([]any)
	var out []Query
	for _, item := range list {
		text, _ := item.(string)
		if object, ok := item.(map[string]any); ok {
			text = textOf(object, queryKeys...)
		}
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, Query{text, should})
		}
	}
	return out
}

// textOf returns the first text of an object under one of the keys.
func textOf(object map[string]any, keys ...string) string {
	for _, key := range keys {
		if text, _ := object[key].(string); strings.TrimSpace(text) != "" {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// Eval is a task for an agent that has the skill, and what is expected of it.
type Eval struct {
	ID       string // its id or name, else its number from 1
	Prompt   string
	Expected string   // in words; may be empty
	Files    []string // slash paths below the skill, or below evals/
	Claims   []Claim
}

// Claim is one thing that must hold for the answer.
type Claim struct {
	Text string // in words; "" if Kind says it all
	// Kind is how a program decides: "contains", "not_contains", "regex", "not_regex", "equals", "file_exists", "tool_used",
	// "tool_not_used" or "skill_used". "" leaves it to a model.
	Kind  string
	Value string
}

// String returns the claim in words.
func (c *Claim) String() string {
	if c.Text != "" {
		return c.Text
	}
	return fmt.Sprintf("%s %q", c.Kind, c.Value)
}

// kinds are the names that files use for the kinds of claims.
var kinds = map[string]string{
	"contains": "contains", "content_contains": "contains", "output_contains": "contains", "icontains": "contains", "must_contain": "contains", "includes": "contains",
	"not_contains": "not_contains", "content_not_contains": "not_contains", "output_not_contains": "not_contains", "not-contains": "not_contains", "must_not_contain": "not_contains", "excludes": "not_contains",
	"regex": "regex", "content_regex": "regex", "output_matches": "regex", "matches": "regex", "pattern": "regex",
	"not_regex": "not_regex", "not_matches": "not_regex", "content_not_regex": "not_regex",
	"equals": "equals", "exact": "equals", "file_exists": "file_exists", "file_created": "file_exists",
	"tool_use": "tool_used", "tool_used": "tool_used", "tool_called": "tool_used", "not_tool_use": "tool_not_used", "tool_not_used": "tool_not_used",
	"skill_used": "skill_used", "skill_triggered": "skill_used", "skill_activated": "skill_used",
}

// ParseEvals reads evals/evals.json: {"skill_name": …, "evals": [{"id", "prompt", "expected_output", "files", "expectations" or
// "assertions"}]}, or the list alone. A claim is a text, which a model judges, or an object with "type" and "value". What says
// only whether a prompt should bring up the skill is no eval but a Query. The error says what cannot be read.
func ParseEvals(text []byte) ([]Eval, error) {
	if len(text) > maxEvalFile {
		return nil, fmt.Errorf("the file has more than %d bytes", maxEvalFile)
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	list, ok := doc.([]any)
	if object, isObject := doc.(map[string]any); isObject {
		if list, ok = object["evals"].([]any); !ok {
			list, ok = object["evaluations"].([]any)
		}
	}
	if !ok {
		if queries, err := ParseQueries(text); err == nil && len(queries) > 0 {
			return nil, nil
		}
		return nil, errors.New(`it has no list "evals"`)
	}
	var out []Eval
	for i, item := range list {
		object, _ := item.(map[string]any)
		e := Eval{ID: idOf(object, i), Prompt: textOf(object, "prompt", "query", "input", "task"), Expected: textOf(object, "expected_output", "expected_outcome", "expected")}
		e.Files = texts(object["files"])
		for _, key := range []string{"assertions", "expectations", "checks", "expected_behavior"} {
			e.Claims = append(e.Claims, claims(object[key])...)
		}
		if len(e.Claims) == 0 && e.Expected == "" && len(entries([]any{item})) > 0 {
			continue
		}
		if e.Prompt == "" {
			return nil, fmt.Errorf("eval %s has no prompt", e.ID)
		}
		out = append(out, e)
	}
	if len(out) > maxEvals {
		return out[:maxEvals], fmt.Errorf("more than %d evals: the others are not read", maxEvals)
	}
	return out, nil
}

func idOf(object map[string]any, i int) string {
	switch id := object["id"].(type) {
	case float64:
		return fmt.Sprint(id)
	case string:
		return id
	}
	if name := textOf(object, "name", "title"); name != "" {
		return name
	}
	return fmt.Sprint(i + 1)
}

// texts returns the texts of a list, and the paths of its objects.
func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		text, _ := item.(string)
		if object, ok := item.(map[string]any); ok {
			text = textOf(object, "path", "name", "file")
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// claims returns the claims of a list of texts and objects.
func claims(v any) []Claim {
	list, isList := v.([]any)
	if !isList && v != nil {
		list = []any{v} // one alone
	}
	var out []Claim
	for _, item := range list {
		switch c := item.(type) {
		case string:
			if c = strings.TrimSpace(c); c != "" {
				out = append(out, Claim{Text: c})
			}
		case map[string]any:
			out = append(out, claimOf(c))
		}
	}
	return out
}

func claimOf(object map[string]any) Claim {
	kind := textOf(object, "type", "kind")
	c := Claim{Text: textOf(object, "text", "description", "assertion", "expectation", "check", "criterion", "name"), Value: textOf(object, "value", "pattern", "tool", "path", "skill", "expected")}
	if known := kinds[strings.ToLower(kind)]; known != "" && c.Value != "" {
		c.Kind = known
		return c
	}
	if c.Text == "" { // of a kind that is not known: its value may say it in words
		c.Text = c.Value
	}
	return c
}
