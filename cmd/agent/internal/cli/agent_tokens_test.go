package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/tokentest"
	"github.com/agent-base/agent-base/skills"
	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// sent is what a request has in addition to the prompt, in tokens.
type sent struct{ system, tools, turn int }

func (s sent) all() int { return s.system + s.tools + s.turn }

const question = "What time is it?"

// firstRequest asks a question that needs no skill and returns the only request that comes of it, and what it costs with
// a home of usual length.
func firstRequest(t *testing.T, count func(string) int, env ...string) (*fakemodel.Request, sent) {
	t.Helper()
	s := fakemodel.New(t, fakemodel.Step{Text: "I cannot know."})
	w := newWorld(t, append(s.Env(), env...)...)
	w.succeeds("", "-p", question)
	requests := s.Requests()
	if len(requests) != 1 {
		t.Fatalf("%d requests, want 1", len(requests))
	}
	q := requests[0]
	n := sent{system: count(w.usual(q.System)), turn: count(w.usual(strings.TrimSuffix(q.Prompt(), question)))}
	for _, tl := range q.Tools {
		n.tools += count(tl.Name) + count(w.usual(tl.Description)) + count(string(tl.Input))
	}
	return q, n
}

// R85, R190: what the whole command sends with a first request. The rows ask for less than 2,000, 3,000 and 5,000; the
// limits here are nearer to what there is. Nothing of a skill's body or scripts is among it.
func TestFirstRequest(t *testing.T) {
	count := tokentest.Counter(t)
	for _, mode := range []string{"system-xml", "tool-description", "triggers"} {
		for _, row := range []struct {
			skills string
			most   int
		}{{"none", 1_200}, {"kalshi-markets", 2_300}, {"kalshi-markets,hello-extended", 2_600}, {"all", 2_700}} {
			t.Run(mode+" "+row.skills, func(t *testing.T) {
				q, n := firstRequest(t, count, "AGENT_SKILLS="+row.skills, "AGENT_DISCLOSURE="+mode)
				t.Logf("%4d tokens: system %d, %d tools %d, turn %d; all bytes of the request %d", n.all(), n.system, len(q.Tools), n.tools, n.turn, count(string(q.Body)))
				if n.all() >= row.most {
					t.Errorf("%d tokens, want under %d", n.all(), row.most)
				}
				for _, never := range []string{"Reading the numbers", "import ", "orderbook", "advanced_greeting"} {
					if strings.Contains(string(q.Body), never) {
						t.Errorf("%q is disclosed too early", never)
					}
				}
				listed := strings.Contains(string(q.Body), "kalshi-markets")
				if want := row.skills != "none"; listed != want {
					t.Errorf("kalshi-markets is named: %t, want %t", listed, want)
				}
			})
		}
	}
}

// R84: with tool-description the skills stand in the description of the tool, and the system text has the rules alone.
func TestListInTheTool(t *testing.T) {
	q, _ := firstRequest(t, tokentest.Counter(t), "AGENT_SKILLS=all", "AGENT_DISCLOSURE=tool-description")
	i := slices.IndexFunc(q.Tools, func(tl fakemodel.Tool) bool { return tl.Name == "skill" })
	if i < 0 || !strings.Contains(q.Tools[i].Description, "\"kalshi-markets\": ") {
		t.Fatalf("the tool skill lists no skills: %+v", q.Tools)
	}
	for _, name := range []string{"kalshi-markets", "hello-extended", "hello-world", "available_skills"} {
		if strings.Contains(q.System, name) {
			t.Errorf("the system text has %q", name)
		}
	}
	if !strings.Contains(q.System, "base_path") {
		t.Errorf("the system text does not say how to use a skill:\n%s", q.System)
	}
}

// R81: the bundled skills cost at most 100 tokens each in the list, on average, and less than 5,000 when they are activated, and their
// resources nothing until they are read.
func TestThreeTiers(t *testing.T) {
	count := tokentest.Counter(t)
	w := newWorld(t, "AGENT_SKILLS=all")
	var list struct {
		Prompt struct {
			Skills []struct {
				Name   string
				Tokens int
			}
		}
	}
	if err := json.Unmarshal([]byte(w.succeeds("", "skill", "prompt", "--json")), &list); err != nil || len(list.Prompt.Skills) < 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	listed := 0
	for _, s := range list.Prompt.Skills {
		listed += s.Tokens
		text := w.succeeds("", "skill", "activate", s.Name)
		if n := count(text); s.Tokens < 20 || n < 50 || n >= 5_000 {
			t.Errorf("%s: %d tokens in the list, %d when activated", s.Name, s.Tokens, n)
		}
		err := fs.WalkDir(skills.Core(), s.Name+"/references", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := fs.ReadFile(skills.Core(), p)
			if line := strings.TrimSpace(string(b)); strings.Contains(text, line) {
				t.Errorf("%s has the text of %s", s.Name, p)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	if mean := listed / len(list.Prompt.Skills); mean > 100 {
		t.Errorf("%d tokens a skill in the list, want at most 100", mean)
	}
}

// R85, R190: ten scripts cost what the skill's line in the list costs, and their own list once somebody asks for it:
// under 500 tokens together. The same as ten tools of an MCP server are in every request.
func TestTenScriptsBesideTenTools(t *testing.T) {
	count := tokentest.Counter(t)
	tools := mcpTools(t)
	whole, short, text := 0, 0, ""
	for _, tl := range tools {
		b, err := json.Marshal(tl)
		if err != nil {
			t.Fatal(err)
		}
		whole += count(string(b))
		text += string(b)
		tl.Description, _, _ = strings.Cut(tl.Description, "\n")
		if b, err = json.Marshal(tl); err != nil {
			t.Fatal(err)
		}
		short += count(string(b))
	}
	t.Logf("ten tools of an MCP server: %d tokens, or %d with one sentence for each", whole, short)
	if whole < 1_500 || short > whole || !strings.Contains(text, `"enum":["only","exclude"]`) {
		t.Errorf("the ten tools cost %d and %d tokens: are their arguments read right?", whole, short)
	}
	for _, mode := range []string{"system-xml", "tool-description", "triggers"} {
		all := func(skills string) int {
			_, n := firstRequest(t, count, "AGENT_DISCLOSURE="+mode, "AGENT_SKILLS="+skills)
			return n.all()
		}
		none, without, with := all("none"), all("hello-extended"), all("hello-extended,kalshi-markets")
		list, body := asked(t, count, "AGENT_DISCLOSURE="+mode)
		t.Logf("%-16s kalshi-markets listed %d, its script_list %d, its SKILL.md when it is activated %d; the tools for skills, once for all of them, %d",
			mode, with-without, list, body, without-none)
		less := func(n int) float64 { return 100 * (1 - float64(n)/float64(whole)) }
		t.Logf("%-16s against the ten tools: %.0f %% less for each skill like this one, %.0f %% less when it is the only one", mode,
			less(with-without), less(with-without+without-none))
		if with-without+list >= 500 {
			t.Errorf("%s: %d + %d tokens, want under 500", mode, with-without, list)
		}
		if with-without > whole/10 {
			t.Errorf("%s: %d tokens in every request, want at most a tenth of the %d of ten tools", mode, with-without, whole)
		}
	}
}

// asked returns what the results of script_list and of the tool skill cost for kalshi-markets.
func asked(t *testing.T, count func(string) int, env string) (list, body int) {
	t.Helper()
	args := `{"skill_name":"kalshi-markets"}`
	s := fakemodel.New(t, fakemodel.Step{Calls: []fakemodel.Call{{Name: "script_list", Args: args}, {Name: "skill", Args: args}}}, fakemodel.Step{Text: "Done."})
	w := newWorld(t, append(s.Env(), env)...)
	w.succeeds("", "-p", question)
	results := s.Requests()[1].Results()
	if !strings.Contains(results[0].Text, "series_list") || !strings.Contains(results[1].Text, "Reading the numbers") {
		t.Fatalf("got %+v", results)
	}
	return count(w.usual(results[0].Text)), count(w.usual(results[1].Text))
}

// mcpTool is a tool as an MCP server lists it.
type mcpTool struct {
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Input       mcpSchema `json:"inputSchema"`
}

type mcpSchema struct {
	Type       string                 `json:"type"`
	Properties map[string]mcpProperty `json:"properties"`
	Required   []string               `json:"required,omitempty"`
}

type mcpProperty struct {
	Type        string          `json:"type"`
	Enum        []string        `json:"enum,omitempty"`
	Minimum     json.RawMessage `json:"minimum,omitempty"`
	Maximum     json.RawMessage `json:"maximum,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Description string          `json:"description,omitempty"`
}

// mcpTools are the ten scripts of kalshi-markets as tools: each with its docstring, without the examples of a command
// line, and with its arguments and options but --json, which a tool has no use for.
func mcpTools(t *testing.T) []mcpTool {
	t.Helper()
	files, err := fs.Glob(skills.Core(), "kalshi-markets/scripts/*.py")
	if err != nil || len(files) != 10 {
		t.Fatalf("%d scripts, %v; want 10", len(files), err)
	}
	var tools []mcpTool
	for _, f := range files {
		src, err := fs.ReadFile(skills.Core(), f)
		if err != nil {
			t.Fatal(err)
		}
		_, head, found := strings.Cut(string(src), "@click.command(")
		head, rest, found2 := strings.Cut(head, "\ndef main(")
		_, doc, found3 := strings.Cut(rest, `"""`)
		doc, _, found4 := strings.Cut(doc, `"""`)
		if !found || !found2 || !found3 || !found4 {
			t.Fatalf("%s is not written as it was", f)
		}
		name := strings.TrimSuffix(f[strings.LastIndex(f, "/")+1:], ".py")
		tools = append(tools, mcpTool{Name: "kalshi_" + name, Description: prose(doc), Input: schemaOf(t, f, head)})
	}
	return tools
}

// prose is a docstring without its examples, unindented.
func prose(doc string) string {
	var lines []string
	for line := range strings.Lines(doc) {
		line = strings.TrimSpace(line)
		if line == "Examples:" {
			break
		}
		if line != `\b` {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func schemaOf(t *testing.T, file, head string) mcpSchema {
	t.Helper()
	s := mcpSchema{Type: "object", Properties: map[string]mcpProperty{}}
	for _, kind := range []string{"argument", "option"} {
		for _, text := range strings.Split(head, "@click."+kind+"(")[1:] {
			d := decoratorOf(text)
			if d.name == "json" {
				continue
			}
			if d.name == "" || kind == "option" && d.property.Description == "" {
				t.Fatalf("%s: nothing is known of %s", file, text)
			}
			s.Properties[d.name] = d.property
			if kind == "argument" && d.named["required"] != "False" {
				s.Required = append(s.Required, d.name)
			}
		}
	}
	slices.Sort(s.Required)
	return s
}

// decorator is what one decorator of click tells of a parameter.
type decorator struct {
	name     string
	named    map[string]string
	property mcpProperty
}

func decoratorOf(text string) decorator {
	d := decorator{named: map[string]string{}}
	for _, part := range arguments(text) {
		key, value, found := strings.Cut(part, "=")
		switch {
		case found && !strings.HasPrefix(part, `"`):
			d.named[key] = value
		case d.name == "":
			d.name = strings.ReplaceAll(strings.TrimLeft(strings.Trim(part, `"`), "-"), "-", "_")
		}
	}
	p := mcpProperty{Type: "string", Default: json.RawMessage(d.named["default"]), Description: strings.Trim(d.named["help"], `"`)}
	kind, inner, _ := strings.Cut(d.named["type"], "(")
	inner = strings.TrimSuffix(inner, ")")
	switch kind {
	case "click.IntRange", "click.FloatRange":
		p.Type = map[string]string{"click.IntRange": "integer", "click.FloatRange": "number"}[kind]
		low, high, _ := strings.Cut(inner, ", ")
		p.Minimum, p.Maximum = json.RawMessage(strings.TrimPrefix(low, "min=")), json.RawMessage(high)
	case "click.Choice":
		for _, v := range strings.Split(strings.Trim(inner, "[]"), ", ") {
			p.Enum = append(p.Enum, strings.Trim(v, `"`))
		}
	}
	if d.named["is_flag"] == "True" {
		p.Type = "boolean"
	}
	d.property = p
	return d
}

// arguments cuts the arguments of a call in Python, up to the bracket that ends it, at the commas that are no part of
// them.
func arguments(text string) []string {
	var out []string
	depth, quoted, from := 0, false, 0
	add := func(to int) {
		if part := strings.TrimSpace(text[from:to]); part != "" {
			out = append(out, part)
		}
		from = to + 1
	}
	for i, r := range text {
		switch {
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == ')' && depth == 0:
			add(i)
			return out
		case r == ',' && depth == 0:
			add(i)
		case r == '(' || r == '[':
			depth++
		case r == ')' || r == ']':
			depth--
		}
	}
	return out
}

// C41: with many skills and a small budget every name is still there, or the list says how many are not.
func TestSmallBudget(t *testing.T) {
	for _, mode := range []string{"system-xml", "tool-description"} {
		for _, budget := range []int{0, 500, 150, 60} {
			t.Run(fmt.Sprintf("%s %d", mode, budget), func(t *testing.T) {
				s := fakemodel.New(t, fakemodel.Step{Text: "Yes."})
				w := newWorld(t, append(s.Env(), "AGENT_DISCLOSURE="+mode, fmt.Sprintf("AGENT_BUDGET=%d", budget),
					"AGENT_DISABLED_BUNDLED=gh,hello-extended,hello-world,kalshi-markets")...)
				for i := range 25 {
					w.skill(fmt.Sprintf("report-%02d", i), fmt.Sprintf("Writes the report of kind %d, with its tables and its figures. Use when one of kind %d is asked for.", i, i), "Write it.\n")
				}
				w.succeeds("", "-p", question)
				q := s.Requests()[0]
				text := q.System
				for _, tl := range q.Tools {
					text += "\n" + tl.Name + " " + tl.Description
				}
				named := 0
				for i := range 25 {
					if strings.Contains(text, fmt.Sprintf("report-%02d", i)) {
						named++
					}
				}
				said := fmt.Sprintf("%d more", 25-named)
				t.Logf("%d of 25 named", named)
				if named < 25 && !strings.Contains(text, said) {
					t.Errorf("%d of 25 are named, and %q is not said:\n%s", named, said, text)
				}
				if budget == 0 && named != 25 || budget == 60 && named == 25 {
					t.Errorf("%d are named with the budget %d", named, budget)
				}
			})
		}
	}
}
