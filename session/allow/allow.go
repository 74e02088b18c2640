package allow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Limits of a list. What exceeds them is refused: a rule is dropped, a call is not allowed.
const (
	maxRules    = 1000
	maxRule     = 1024    // bytes of one rule
	maxCommand  = 8 << 10 // bytes of one shell command
	maxCommands = 32      // simple commands in one shell command
)

// Options says what the patterns of a list are about. The zero value is useful: relative paths then match no absolute
// one, and a script of a skill is known by its name alone.
type Options struct {
	// Forbids says that the rules name what is not allowed, see List.Names. A rule with a pattern that is not understood then
	// forbids the tool altogether, because dropping it would allow more. One whose tool may be a slip for another is dropped.
	Forbids bool
	// Skill is the canonical name of the skill that has the list, and Dir its folder, absolute. Dir stands for
	// ${CLAUDE_SKILL_DIR}, {baseDir}, $SKILL_DIR and the like and, unless Plugin is set, ${CLAUDE_PLUGIN_ROOT} in the patterns of commands.
	Skill, Dir, Plugin string
	// Roots are the folders in which relative paths begin, absolute and without links: the workspace, and for the list of
	// a skill its folder.
	Roots []string
	Home  string // stands for "~"; "" means that such patterns match nothing
	// Resolve returns the absolute path, without links and "..", of the file that a tool opens for the path in a call. Nil
	// means that the path is taken as written, relative to the first of Roots. A path with an error is not allowed.
	Resolve func(path string) (string, error)
	// Script finds a script of a skill. Nil, or false, means that the names in a call are all that is known of it.
	Script func(skill, script string) (Script, bool)
}

// Script is a script of a skill, found.
type Script struct {
	Skill string // canonical name
	Dir   string // the skill's folder, absolute; "" for a skill that is on no disk
	Path  string // slash path in that folder, such as scripts/status.py
}

// Call is one call of a tool.
type Call struct {
	Tool string          // its name, in the spelling of any host
	Args json.RawMessage // a JSON object
	// Source is "<skill>.<Class>" for a tool of a skill's toolset, and Tool then the name that the toolset has for it. "" means
	// a tool of the engine, of a host or of the program.
	Source string
}

// Problem is a rule that was not understood.
type Problem struct {
	Index   int    // of the rule
	Rule    string // as given
	Message string // what is wrong with it, and what became of it
	Cure    string // what to write instead
	Dropped bool   // the list has no such rule
}

// Error returns the message.
func (p Problem) Error() string { return p.Message }

// List is an allow-list of tools. It does not change and is safe for concurrent use. A nil List allows everything, a list
// without rules allows nothing.
type List struct {
	rules []Rule
	o     Options
}

// Parse reads rules such as Read, Bash(git status:*) and mcp__github__*, one a string. It returns the list of those that
// it understands, and a problem for each of the others. Those are dropped and allow nothing.
func Parse(rules []string, o *Options) (*List, []Problem) {
	l := &List{}
	if o != nil {
		l.o = *o
	}
	var problems []Problem
	for i, text := range rules {
		r, err := parseRule(text, &l.o)
		if i >= maxRules {
			err = unclear(fmt.Sprintf("at most %d rules are read", maxRules), "leave some out")
		}
		if err == nil {
			l.rules = append(l.rules, r)
			continue
		}
		became := "the rule is dropped"
		widened := l.o.Forbids && r.Tool != "" && r.slip() == "" && i < maxRules
		if widened {
			became = "the rule counts for any arguments"
			r.pattern = nil
			l.rules = append(l.rules, r)
		}
		problems = append(problems, Problem{i, text, fmt.Sprintf("%.200q %s: %s", text, err.what, became), err.cure, !widened})
	}
	return l, problems
}

// Rules returns the rules in the order of Parse.
func (l *List) Rules() []Rule {
	if l == nil {
		return nil
	}
	return slices.Clone(l.rules)
}

// Check returns nil if a call is allowed. A shell command is allowed if it consists of plain commands and the rules cover
// each of them. A call whose arguments cannot be read is allowed by rules without a pattern alone.
func (l *List) Check(c Call) *Refusal {
	if l == nil {
		return nil
	}
	q := l.ask(c)
	why := q.allowed()
	if why == "" {
		return nil
	}
	r := &Refusal{Tool: c.Name()}
	for _, rule := range l.rules {
		r.Rules = append(r.Rules, rule.Text)
	}
	if len(q.rules) > 0 {
		r.Why, r.Form = why, q.form
	}
	return r
}

// Names returns a rule that names a call or a part of it, such as one command of several: the reading for lists of what
// is forbidden, or asked about. A rule about a command names it wherever it stands in the text, but a shell can hide a
// command from any reader: only Check binds.
func (l *List) Names(c Call) (Rule, bool) {
	if l == nil {
		return Rule{}, false
	}
	q := l.ask(c)
	for _, r := range l.rules {
		if q.mentions(r) {
			return r, true
		}
	}
	return Rule{}, false
}

// Refusal says why a call is not allowed.
type Refusal struct {
	Tool  string   // as called
	Rules []string // of the list, as written
	Why   string   // what of the arguments no rule covers; "" if no rule names the tool
	Form  bool     // Why is about the form of a command: written in another way, a rule might cover it
}

// Message returns the text for the model: "Tool 'X' not allowed by skill 'Y'. Allowed tools: a, b (not in allowed-tools
// list)", and Why if there is one.
func (r *Refusal) Message(skill string) string {
	rules := strings.Join(r.Rules, ", ")
	if rules == "" {
		rules = "none"
	}
	text := fmt.Sprintf("Tool '%s' not allowed by skill '%s'. Allowed tools: %s (not in allowed-tools list)", r.Tool, skill, rules)
	if r.Why != "" {
		text += ": " + r.Why
	}
	return text
}
