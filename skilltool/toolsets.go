package skilltool

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// Toolsets has the tools of the toolsets of skills.
type Toolsets interface {
	// Tools returns the tools of a skill's toolsets, and starts what they need if it does not run yet; admit decides about the
	// content first. A tool has the name by which its toolset has it, and the source "<skill>.<Class>". The error says why
	// toolsets have none; the tools of the others are returned with it.
	Tools(ctx context.Context, s *skill.Skill, admit script.Admit) ([]tool.Tool, error)
	// ToolsOf is Tools for one toolset that the skill declares, by its class: it starts only what that needs.
	ToolsOf(ctx context.Context, s *skill.Skill, admit script.Admit, class string) ([]tool.Tool, error)
	// Registered reports whether the program brings toolsets of its own for a skill.
	Registered(canonical string) bool
	// Known returns the tools that the present content of a skill had when it last ran, if it did. It executes nothing.
	Known(ctx context.Context, s *skill.Skill, admit script.Admit) ([]tool.Tool, bool)
}

// servers is the file of a skill that declares MCP servers as toolsets. Plugins of other hosts call it ".mcp.json".
const servers = "mcp.json"

// brought is what the toolsets of a skill have, for one content of it.
type brought struct {
	digest string
	tools  []tool.Tool // with a full name, under the name that the toolset has
	err    error       // why toolsets are missing, or why none was started
}

// listed is a tool as Toolsets returned it, for a content of its skill.
type listed struct {
	tool.Tool
	digest string // "" for content without one
}

// HasToolsets reports whether a skill declares toolsets.
func HasToolsets(s *skill.Skill) bool {
	if len(s.Manifest().Toolsets) > 0 {
		return true
	}
	for _, name := range []string{servers, "." + servers} {
		if info, err := fs.Stat(s.FS(), name); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// anyToolsets reports whether a skill that a model may use declares toolsets in its manifest, or has some of the program's.
func (k *Kit) anyToolsets() bool {
	if k.o.Toolsets == nil {
		return false
	}
	for e := range k.o.Catalog().All() {
		if (e.DeclaresToolsets() || k.o.Toolsets.Registered(e.Canonical())) && (e.State() == skill.StateEnabled || refuseUser(e) == nil) {
			return true
		}
	}
	return false
}

// bring returns the tools of a skill's toolsets: those that it is known to have, otherwise those that start returns, which is
// not called if it is nil. The result is kept; nil means that nothing is known. A failure to start is in the result.
func (k *Kit) bring(ctx context.Context, s *skill.Skill, start func() ([]tool.Tool, error)) *brought {
	digest, err := s.Digest(ctx)
	if err != nil {
		digest = "" // of content without a digest: the toolsets say what becomes of it
	}
	if b := k.has(s.Canonical()); b != nil && b.digest == digest && (b.err == nil || start == nil) {
		return b
	}
	tools, known := k.o.Toolsets.Known(ctx, s, k.Admit)
	err = nil
	if !known {
		if start == nil {
			return nil
		}
		if tools, err = start(); ctx.Err() != nil {
			return &brought{digest: digest, err: k.late(ctx, s)}
		}
	}
	return k.keep(s, &brought{digest: digest, tools: tools, err: err})
}

// late returns why the toolsets of a skill were not started when ctx ended. The user is told if it was the time of the activation.
func (k *Kit) late(ctx context.Context, s *skill.Skill) error {
	if context.Cause(ctx) != errActivationTime {
		return ctx.Err()
	}
	why := fmt.Sprintf("toolsets of skill '%s' were not ready within %s", s.Name(), activationTimeout)
	k.broke("The "+why, ctx.Err(), s.Name())
	return fmt.Errorf("the %s: toolset_list with skill_name '%s' starts them again and waits longer", why, s.Canonical())
}

// has returns what is kept of a skill's toolsets, or nil.
func (k *Kit) has(canonical string) *brought {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.brought[canonical]
}

// keep makes the tools of b tools of the kit, and keeps b.
func (k *Kit) keep(s *skill.Skill, b *brought) *brought {
	k.adopt(s, b)
	for _, err := range parts(b.err) {
		text, _, _ := strings.Cut(err.Error(), "\n") // without what the toolset wrote
		k.broke(text, err, s.Name())
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.brought == nil {
		k.brought = map[string]*brought{}
	}
	k.brought[s.Canonical()] = b
	return b
}

// parts returns the errors that an error joins.
func parts(err error) []error {
	many, ok := err.(interface{ Unwrap() []error }) //nolint:errorlint // each error of the tree is looked at
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	var out []error
	for _, one := range many.Unwrap() {
		out = append(out, parts(one)...)
	}
	return out
}

// broke notes a line for Broken, with what can be done.
func (k *Kit) broke(text string, err error, skillName string) {
	text = oneLine(text+" "+k.advice(skillName)(err), maxToolText)
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.broken, text) && len(k.broken) < mostMore {
		k.broken = append(k.broken, text)
	}
}

// Broken returns why toolsets of skills that became active have no tools, as lines for the user: each line once.
func (k *Kit) Broken() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := slices.Clone(k.broken[k.told:])
	k.told = len(k.broken)
	return out
}

// adopt makes the tools of b tools of the kit: with their full names, and calls that look the skill up again.
func (k *Kit) adopt(s *skill.Skill, b *brought) {
	name := s.Canonical()
	b.tools = append([]tool.Tool{}, b.tools...)
	for i, t := range b.tools {
		b.tools[i].Full = t.Source + "." + t.Name
		b.tools[i].Call = func(ctx context.Context, args json.RawMessage) tool.Result {
			return k.callToolset(ctx, name, &listed{t, b.digest}, args)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refs == nil {
		k.refs = map[string]tool.Tool{}
	}
	for _, t := range b.tools {
		k.refs[t.Full] = t
	}
}

// callOf returns a call as rules compare it: one of a toolset's tool has its own name.
func (k *Kit) callOf(name string, args json.RawMessage) allow.Call {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t, ok := k.refs[name]; ok {
		return allow.Call{Tool: t.Name, Source: t.Source, Args: args}
	}
	return allow.Call{Tool: name, Args: args}
}

// namesOf returns the names by which hooks know a tool: its full one, and for one of a toolset its own name and that with its skill.
func (k *Kit) namesOf(name string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, ok := k.refs[name]
	if !ok {
		return []string{name}
	}
	skillName, _, _ := strings.Cut(t.Source, ".")
	return []string{name, t.Name, skillName + "__" + t.Name}
}

// callToolset calls a tool of a toolset, by the only way there is: the skill is looked up again, and its content decided about.
func (k *Kit) callToolset(ctx context.Context, skillName string, l *listed, args json.RawMessage) tool.Result {
	if err := ctx.Err(); err != nil {
		return tooLate(err)
	}
	if err := k.forbids(ctx, allow.Call{Tool: l.Name, Source: l.Source, Args: args}); err != nil {
		return err.Result
	}
	s, err := k.loadNamed(ctx, skillName, notLoaded)
	if err != nil {
		return k.Failure(ctx, err, skillName)
	}
	defer s.Close()
	if t, err := s.Trust(ctx); err != nil || !t.Runs() { // also while its toolsets run: it may have been taken back
		if _, err := k.Admit(ctx, s); err != nil {
			return k.Failure(ctx, err, skillName)
		}
	}
	if digest, err := s.Digest(ctx); err == nil && digest == l.digest {
		return l.Call(ctx, args)
	}
	tools, err := k.o.Toolsets.Tools(ctx, s, k.Admit) // of another content
	for _, t := range tools {
		if t.Name == l.Name && t.Source == l.Source {
			return t.Call(ctx, args)
		}
	}
	if err != nil {
		return k.Failure(ctx, err, skillName)
	}
	return tool.CauseNotFound.Failure(fmt.Sprintf("Tool '%s' not found: its toolset no longer has it; toolset_list with skill_name '%s' shows those there are", l.Name, s.Name()))
}

// open returns the tools of a skill's toolsets, and starts them if their tools are not known. asked says that toolset_list was
// called for it, about which the policy has decided.
func (k *Kit) open(ctx context.Context, s *skill.Skill, asked bool) *brought {
	return k.bring(ctx, s, func() ([]tool.Tool, error) {
		if err := k.mayStart(ctx, s, asked); err != nil {
			return nil, err
		}
		return k.o.Toolsets.Tools(ctx, s, k.Admit)
	})
}

// ofClass returns the tool that a name with a class stands for, such as Greeter.greet, while the tools of the skill are not known:
// the other toolsets need not be started for it. It reports false if the name has no class of the skill, or its toolset no such tool.
func (k *Kit) ofClass(ctx context.Context, s *skill.Skill, name string) (tool.Tool, bool, error) {
	class, _, qualified := strings.Cut(strings.TrimPrefix(name, s.Canonical()+"."), ".")
	if !qualified || k.bring(ctx, s, nil) != nil {
		return tool.Tool{}, false, nil
	}
	if err := k.mayStart(ctx, s, false); err != nil {
		return tool.Tool{}, false, err
	}
	digest, err := s.Digest(ctx)
	if err != nil { // of content without a digest: what starts all says what becomes of it
		return tool.Tool{}, false, nil
	}
	tools, err := k.o.Toolsets.ToolsOf(ctx, s, k.Admit, class)
	b := &brought{digest: digest, tools: tools}
	k.adopt(s, b)
	if t, ok := findTool(s, b.tools, name); ok {
		return t, true, nil
	}
	return tool.Tool{}, false, err
}

// mayStart returns why the toolsets of a skill are not started for a model now, or nil.
func (k *Kit) mayStart(ctx context.Context, s *skill.Skill, asked bool) error {
	if k.o.ByUser {
		return nil
	}
	args, err := json.Marshal(map[string]string{"skill_name": s.Canonical()})
	if err != nil {
		return err
	}
	if v := k.o.Session.Restriction().Check(allow.Call{Tool: "toolset_list", Args: args}); v != nil && k.o.Session.Enforced() {
		return &script.Error{Code: script.PermissionDenied, Message: v.Message(), Err: v}
	}
	if k.o.Policy.Starts == nil {
		return nil
	}
	if err := k.o.Policy.Starts(ctx, s.Canonical(), asked); err != nil {
		return &script.Error{Code: script.PermissionDenied, Reason: "not_allowed", Message: err.Error(), Err: err}
	}
	return nil
}

// automatic returns the tools of the toolsets of a skill that became active. Toolsets are started if nobody has to be asked,
// and not for a user who looks at what a model gets; nil means that nothing is known of them then.
func (k *Kit) automatic(ctx context.Context, s *skill.Skill) *brought {
	if k.o.ByUser {
		return k.bring(ctx, s, nil)
	}
	if t, err := s.Trust(ctx); err != nil || !t.Runs() {
		refused := refusal(s, t, err)
		if k.o.Policy.Approve == nil { // nobody is asked
			k.broke(fmt.Sprintf("The toolsets of skill '%s' are not started: %v", s.Name(), refused), refused, s.Name())
		}
		return &brought{err: refused}
	}
	return k.open(ctx, s, false)
}

// oneLine returns a text as one line of at most limit bytes.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " ")
	if len(text) <= limit {
		return text
	}
	short, _ := window([]byte(text), 0, limit-len("…"))
	return short + "…"
}
