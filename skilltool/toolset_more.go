package skilltool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// Limits of the tools that More returns. Those of a skill that exceeds one are called by toolset_call.
const (
	mostTools      = 20   // tools of one skill
	mostToolTokens = 4000 // estimated tokens of their descriptions and schemas
	mostMore       = 64   // tools of all skills of a conversation; providers refuse more than 128 in all
)

// Limits of what an activation says about tools.
const (
	maxNamed    = 20   // tools that are named
	maxToolText = 1024 // bytes of a description
	maxToolName = 64   // bytes that all providers accept
)

// More returns the tools of the active skills' toolsets that set does not have, in the order in which the skills were
// activated: a program adds them to set, after the tools that it has. Their names fit every provider. If the name of one is
// taken, the first wins: that is traced, and the tool is called by toolset_call, or with Show.Prefix it gets another name.
// Each tool is returned once; it stays when its skill is left. The tools of a skill with more than 20 tools, or with
// more than 4,000 tokens of descriptions and schemas, are called by toolset_call.
func (k *Kit) More(ctx context.Context, set *tool.Set) []tool.Tool {
	if k.o.Toolsets == nil {
		return nil
	}
	var batch tool.Set
	for _, a := range k.o.Session.Active() {
		b := k.ofActive(ctx, a)
		if b == nil {
			continue
		}
		if len(b.tools) > 0 || b.err != nil { // what failed may be tried again
			k.offerFixed(set, &batch)
		}
		if k.real(b) {
			for _, t := range ownNamesFirst(b.tools) {
				k.offerTool(ctx, set, &batch, t)
			}
		}
	}
	var out []tool.Tool
	for t := range batch.All() {
		out = append(out, t)
	}
	return out
}

// ofActive returns the tools of an active skill. Whatever made the skill active, its toolsets are started once if nobody has to
// be asked.
func (k *Kit) ofActive(ctx context.Context, a session.Activation) *brought {
	if b := k.has(a.Name); b != nil {
		return b
	}
	if !k.firstTry(a.Token) {
		return nil
	}
	s, err := k.reload(ctx, a.Name)
	if err != nil {
		return nil
	}
	defer s.Close()
	if !k.mayHave(s) {
		return nil
	}
	return k.automatic(ctx, s)
}

// firstTry reports whether the toolsets of an activation were not looked at yet.
func (k *Kit) firstTry(token session.Token) bool {
	return k.first(ran{token: token, index: -1})
}

// real reports whether the tools of a skill's toolsets are tools of the model.
func (k *Kit) real(b *brought) bool {
	return !k.o.Show.CallOnly && Direct(b.tools)
}

// Direct reports whether the tools of one skill are few and short enough to be tools of a model.
func Direct(tools []tool.Tool) bool {
	return len(tools) <= mostTools && toolTokens(tools) <= mostToolTokens
}

// toolTokens estimates what tools cost in each request.
func toolTokens(tools []tool.Tool) int {
	sum := 0
	for _, t := range tools {
		sum += disclose.Tokens(t.Name) + disclose.Tokens(oneLine(t.Description, maxToolText)) + disclose.Tokens(string(t.Input))
	}
	return sum
}

// offerFixed adds toolset_list and toolset_call to the batch, if set does not have them yet.
func (k *Kit) offerFixed(set, batch *tool.Set) {
	for _, t := range k.toolsetTools() {
		if set.Collides(t) == nil {
			_ = batch.Add(t) // it is there already if another skill needed it
		}
	}
}

// ownNamesFirst returns tools with those first whose names stay as they are: no changed name takes one of these.
func ownNamesFirst(tools []tool.Tool) []tool.Tool {
	changed := func(t tool.Tool) bool { return modelName(t.Name) != t.Name }
	first := slices.DeleteFunc(slices.Clone(tools), changed)
	return append(first, slices.DeleteFunc(slices.Clone(tools), func(t tool.Tool) bool { return !changed(t) })...)
}

// offerTool adds a tool of a toolset to the batch, under a name that is free.
func (k *Kit) offerTool(ctx context.Context, set, batch *tool.Set, t tool.Tool) {
	if !k.unhandled(t.Full) {
		return
	}
	own := t
	t.Name, t.Description = modelName(own.Name), strings.ToValidUTF8(clipped(own.Description), "\ufffd")
	taken := collides(set, batch, t)
	if taken != nil && k.o.Show.Prefix {
		t.Name = prefixed(own)
		taken = collides(set, batch, t)
	}
	if taken != nil {
		skillName, _, _ := strings.Cut(t.Source, ".")
		trace.Emit(ctx, k.o.Trace, trace.Event{Kind: trace.ToolCollided, Level: slog.LevelWarn, Skill: skillName, Tool: t.Full, Message: taken.Error()})
		return
	}
	_ = batch.Add(t) // its name is free
}

// collides returns why a tool cannot be added to either set.
func collides(set, batch *tool.Set, t tool.Tool) *tool.Collision {
	if c := set.Collides(t); c != nil {
		return c
	}
	return batch.Collides(t)
}

// unhandled reports, once for each tool, whether More may return it.
func (k *Kit) unhandled(full string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.handled[full] || len(k.handled) >= mostMore {
		return false
	}
	if k.handled == nil {
		k.handled = map[string]bool{}
	}
	k.handled[full] = true
	return true
}

// clipped returns the beginning of a description that is too long for a provider.
func clipped(text string) string {
	if len(text) <= maxToolText {
		return text
	}
	short, _ := window([]byte(text), 0, maxToolText-len("…"))
	return short + "…"
}

// modelName returns a name that every provider accepts: other characters become "_".
func modelName(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_', r == '-' && b.Len() > 0, r >= '0' && r <= '9' && b.Len() > 0:
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()[:min(b.Len(), maxToolName)]
}

// prefixed returns the name of a tool with its skill's name before it.
func prefixed(t tool.Tool) string {
	skillName, _, _ := strings.Cut(t.Source, ".")
	return modelName(skillName + "__" + t.Name)
}

// brings says which tools a skill that became active brings, for its model; "" without toolsets.
func (k *Kit) brings(ctx context.Context, s *skill.Skill) string {
	if k.o.Toolsets == nil || !k.mayHave(s) {
		return ""
	}
	if now, active := k.o.Session.Lookup(s.Canonical()); active {
		k.firstTry(now.Token)
	}
	b := k.automatic(ctx, s)
	switch {
	case b == nil:
		return fmt.Sprintf("\n[This skill has toolsets: toolset_list with skill_name '%s' shows their tools.]", s.Canonical())
	case isA[*UntrustedError](b.err) && k.o.Policy.Approve != nil:
		return fmt.Sprintf("\n[The toolsets of this skill are not loaded, because it is not trusted: toolset_list with skill_name '%s' asks the user.]", s.Canonical())
	}
	text := ""
	if len(b.tools) > 0 {
		text = "\n" + ToolsText(s.Canonical(), b.tools, k.real(b))
	}
	if b.err != nil {
		text += "\n[" + oneLine(k.Failure(ctx, b.err, s.Name()).Message, maxToolText) + "]"
	}
	return text
}

// ToolsText is what an activation tells a model about the tools of a skill: their names, and how they are called. direct says that
// they are tools of the model.
func ToolsText(skillName string, tools []tool.Tool, direct bool) string {
	var list []string
	for _, t := range tools[:min(len(tools), maxNamed)] {
		list = append(list, fmt.Sprintf("%s(%s)", oneLine(t.Name, maxToolName), strings.Join(Parameters(t.Input), ", ")))
	}
	text := strings.Join(list, ", ")
	if more := len(tools) - len(list); more > 0 {
		text += fmt.Sprintf(" and %d more, which toolset_list with skill_name '%s' lists", more, skillName)
	}
	if direct {
		return fmt.Sprintf("[This skill has tools: %s. Call them directly; one that you do not have is called by toolset_call with skill_name '%s'.]", text, skillName)
	}
	return fmt.Sprintf("[This skill has tools: %s. They are called by toolset_call with skill_name '%s'; toolset_list shows their arguments.]", text, skillName)
}

// Parameters returns the names of the arguments that a JSON Schema has: first those that are required, then the others, each in
// the order of the schema. Of more than ten it returns ten.
func Parameters(schema json.RawMessage) []string {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	var names []string
	for _, name := range s.Required[:min(len(s.Required), 10)] {
		names = append(names, oneLine(name, maxToolName))
	}
	dec := json.NewDecoder(bytes.NewReader(s.Properties))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() && len(names) < 10 {
		t, err := dec.Token()
		name, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return names
		}
		if name = oneLine(name, maxToolName); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// carried says which tools of toolsets the active skills have, for a conversation that was shortened.
func (k *Kit) carried() string {
	text := ""
	for _, a := range k.o.Session.Active() {
		if b := k.has(a.Name); b != nil && len(b.tools) > 0 {
			text += "\n[Skill '" + a.Name + "'] " + ToolsText(a.Name, b.tools, k.real(b))
		}
	}
	return text
}
