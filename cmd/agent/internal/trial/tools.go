package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/toolset"
)

// toolsets checks the tools of the skill's toolsets.
func (r *run) toolsets(ctx context.Context) {
	if !r.hasToolsets() {
		return
	}
	if r.o.Toolsets == nil {
		r.skip(Toolsets, "toolsets", "toolsets are not started")
		return
	}
	r.at = "the toolsets"
	begun := time.Now()
	tools, err := r.o.Toolsets.Tools(ctx, r.s, r.o.Admit)
	took := time.Since(begun)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		failed := toolset.Errors(err)
		if len(failed) == 0 {
			c := Case{Group: Toolsets, Name: "toolsets", Duration: took}
			r.failure(&c, err)
			r.add(c)
		}
		for _, e := range failed {
			c := Case{Group: Toolsets, Name: e.Toolset, Duration: took}
			r.failure(&c, e)
			r.add(c)
		}
	}
	seen := map[string]string{}
	for _, t := range tools {
		c := Case{Group: Toolsets, Name: t.Source + "." + t.Name, Status: Passed, Duration: took}
		took = 0
		c.Status, c.Message = checkTool(&t)
		if other, taken := seen[t.Name]; taken && c.Status != Failed {
			c.Status, c.Message = Failed, fmt.Sprintf("%s has a tool of this name, too: only the first can be called by its name", other)
		} else if !taken {
			seen[t.Name] = t.Source
		}
		r.add(c)
	}
}

// hasToolsets reports whether the skill declares toolsets.
func (r *run) hasToolsets() bool {
	entries, problems := toolset.Entries(r.s)
	return len(entries) > 0 || len(problems) > 0
}

// toolName is what every provider of models accepts as the name of a tool.
var toolName = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// checkTool returns what is wrong with a tool.
func checkTool(t *tool.Tool) (Status, string) {
	if !toolName().MatchString(t.Name) {
		return Failed, fmt.Sprintf("providers of models refuse the name %q: 1 to 64 letters, digits, - and _", t.Name)
	}
	if strings.TrimSpace(t.Description) == "" {
		return Failed, "it has no description: a model does not know when to call it"
	}
	var schema map[string]any
	if err := json.Unmarshal(t.Input, &schema); err != nil {
		return Failed, fmt.Sprintf("its schema is not a JSON object: %v", err)
	}
	if kind, _ := schema["type"].(string); kind != "object" {
		return Failed, `its schema is not of "type": "object"`
	}
	if wrong := checkSchema(schema, "", 0); wrong != "" {
		return Failed, "its schema is wrong: " + wrong
	}
	properties, _ := schema["properties"].(map[string]any)
	var bare, open []string
	for name, p := range properties {
		one, _ := p.(map[string]any)
		if one == nil {
			continue
		}
		if textOf(one, "description", "title") == "" && one["$ref"] == nil {
			bare = append(bare, name)
		}
		if !slices.ContainsFunc(typing, func(key string) bool { return one[key] != nil }) {
			open = append(open, name)
		}
	}
	var wrong []string
	if slices.Sort(open); len(open) > 0 {
		wrong = append(wrong, "arguments without a type, for which a model may send anything: "+strings.Join(open, ", "))
	}
	if slices.Sort(bare); len(bare) > 0 {
		wrong = append(wrong, "arguments without a description: "+strings.Join(bare, ", "))
	}
	if len(wrong) > 0 {
		return Warned, strings.Join(wrong, "\n")
	}
	return Passed, ""
}

// typing are the keywords that say what an argument may be.
var typing = []string{"type", "$ref", "enum", "const", "anyOf", "oneOf", "allOf", "properties", "items"}

// types are the types of JSON Schema.
var types = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// checkSchema returns what is wrong with the parts of a schema that providers read.
func checkSchema(schema map[string]any, at string, depth int) string {
	if depth > 20 {
		return "it is nested more than 20 times"
	}
	where := func(text string) string {
		if at == "" {
			return text
		}
		return at + ": " + text
	}
	switch kind := schema["type"].(type) {
	case nil:
	case string:
		if !slices.Contains(types, kind) {
			return where(fmt.Sprintf("unknown type %q", kind))
		}
	case []any:
		for _, one := range kind {
			if text, _ := one.(string); !slices.Contains(types, text) {
				return where(fmt.Sprintf("unknown type %v", one))
			}
		}
	default:
		return where("type is neither a text nor a list")
	}
	properties, isMap := schema["properties"].(map[string]any)
	if schema["properties"] != nil && !isMap {
		return where("properties is not an object")
	}
	if required, ok := schema["required"]; ok {
		list, isList := required.([]any)
		if !isList {
			return where("required is not a list")
		}
		for _, name := range list {
			if text, _ := name.(string); properties[text] == nil {
				return where(fmt.Sprintf("required names %v, which is not in properties", name))
			}
		}
	}
	if list, ok := schema["enum"].([]any); schema["enum"] != nil && (!ok || len(list) == 0) {
		return where("enum is not a list with values")
	}
	for name, p := range properties {
		if wrong := below(p, at+"."+name, depth); wrong != "" {
			return wrong
		}
	}
	if items, ok := schema["items"]; ok {
		return below(items, at+"[]", depth)
	}
	return ""
}

// below checks a schema in a schema, which may be true or false.
func below(v any, at string, depth int) string {
	if _, ok := v.(bool); ok {
		return ""
	}
	schema, ok := v.(map[string]any)
	if !ok {
		return strings.TrimPrefix(at, ".") + ": it is not a schema"
	}
	return checkSchema(schema, strings.TrimPrefix(at, "."), depth+1)
}
