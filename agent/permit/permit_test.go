package permit_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/session/allow"
)

func rules(texts ...string) []permit.Rule {
	var out []permit.Rule
	for _, text := range texts {
		out = append(out, permit.Rule{Text: text, Origin: "config.yaml:" + text})
	}
	return out
}

func command(text string) *permit.Call {
	return &permit.Call{Tool: "bash", Kind: permit.Command, Command: text}
}

func confined(text string) *permit.Call {
	c := command(text)
	c.Confined = true
	return c
}

func writing(text string) *permit.Call {
	c := confined(text)
	c.Writes = true
	return c
}

func edit(name string) *permit.Call {
	c := &permit.Call{Tool: "edit_file", Kind: permit.Edit, Path: "/ws/" + name}
	if strings.HasSuffix(name, "AGENTS.md") {
		c.Special = "agents follow AGENTS.md without asking"
	}
	return c
}

func read(name string) *permit.Call {
	return &permit.Call{Tool: "read_file", Kind: permit.Read, Path: "/ws/" + name}
}

func other(name, args string) *permit.Call {
	return &permit.Call{Tool: name, Args: json.RawMessage(args)}
}

func script(name string) *permit.Call {
	return &permit.Call{Tool: "script_run", Kind: permit.Script, Args: json.RawMessage(`{"skill_name":"` + name + `","script_name":"x"}`)}
}

func server(name string, reads bool) *permit.Call {
	return &permit.Call{Tool: "mcp__hub__" + name, Kind: permit.Server, Reads: reads, Args: json.RawMessage(`{"q":"x"}`)}
}

func signing(text string) *permit.Call {
	c := writing(text)
	c.Special = "it signs as you"
	return c
}

// R179: one pure function decides about every call, from the mode, the rules and the call.
func TestDecide(t *testing.T) {
	type options = permit.Options
	wide := options{Allow: rules("Bash(go test:*)", "Edit(docs/**)", "Edit(**)", "Bash(ls:*)"), Ask: rules("Bash(go test ./slow)", "Edit(docs/plan/**)"), Deny: rules("Bash(rm:*)", "Read(.env)", "Edit(docs/law.md)", "script_run")}
	with := func(o options, mode permit.Mode) options { o.Mode = mode; return o }
	for _, tt := range []struct {
		name string
		o    options
		call *permit.Call
		want permit.Verdict
		why  string // a part of the reason
	}{
		{"ask: reading", options{}, read("a"), permit.Allowed, "changes nothing"},
		{"ask: a change", options{}, edit("a"), permit.Asked, "changes a file"},
		{"ask: a special file", options{}, edit("AGENTS.md"), permit.Asked, "agents follow"},
		{"ask: a command", options{}, command("ls"), permit.Asked, "outside a sandbox"},
		{"ask: a confined command", options{}, confined("ls"), permit.Allowed, "inside the sandbox"},
		{"ask: a confined command that writes", options{}, writing("ls"), permit.Asked, "changes files"},
		{"accept-edits: a confined command that writes", options{Mode: permit.AcceptEdits}, writing("ls"), permit.Allowed, "sandbox"},
		{"ask: another tool", options{}, other("skill", `{"skill_name":"pdf"}`), permit.Allowed, ""},
		{"ask: a script", options{}, script("pdf"), permit.Allowed, ""},

		{"accept-edits: a change", options{Mode: permit.AcceptEdits}, edit("a"), permit.Allowed, "accept-edits"},
		{"accept-edits: a special file", options{Mode: permit.AcceptEdits}, edit("AGENTS.md"), permit.Asked, "agents follow"},
		{"accept-edits: a command", options{Mode: permit.AcceptEdits}, command("ls"), permit.Asked, ""},
		{"accept-edits: a confined command", options{Mode: permit.AcceptEdits}, confined("ls"), permit.Allowed, ""},

		{"plan: reading", options{Mode: permit.Plan}, read("a"), permit.Allowed, ""},
		{"plan: a change", options{Mode: permit.Plan}, edit("a"), permit.Denied, "plan"},
		{"plan: a command that changes nothing", options{Mode: permit.Plan}, confined("git log"), permit.Allowed, "stays inside"},
		{"plan: a rule lets no command write", with(options{Allow: rules("Bash")}, permit.Plan), confined("git log"), permit.Allowed, "stays inside"},
		{"plan: a command outside", options{Mode: permit.Plan}, command("git log"), permit.Denied, "plan"},
		{"plan: a script", options{Mode: permit.Plan}, script("pdf"), permit.Denied, "plan"},
		{"plan: a tool of a server", options{Mode: permit.Plan}, server("close", false), permit.Denied, "plan"},
		{"plan: no rule helps", with(options{Allow: rules("Edit", "Bash")}, permit.Plan), edit("a"), permit.Denied, "plan"},
		{"read-only: reading", options{Mode: permit.ReadOnly}, read("a"), permit.Allowed, ""},
		{"read-only: a change", options{Mode: permit.ReadOnly}, edit("a"), permit.Denied, "read-only"},
		{"read-only: a command", options{Mode: permit.ReadOnly}, confined("ls"), permit.Denied, "read-only"},
		{"read-only: a script", options{Mode: permit.ReadOnly}, script("pdf"), permit.Denied, "read-only"},
		{"read-only: a skill", options{Mode: permit.ReadOnly}, other("skill", `{}`), permit.Allowed, ""},
		{"read-only: no rule helps", with(options{Allow: rules("Edit", "Bash")}, permit.ReadOnly), edit("a"), permit.Denied, "read-only"},

		{"all: a change", options{Mode: permit.All}, edit("AGENTS.md"), permit.Allowed, "mode is all"},
		{"all: a confined command", options{Mode: permit.All}, confined("rm -rf x"), permit.Allowed, "mode is all"},
		{"all: a command outside the sandbox", options{Mode: permit.All}, command("ls"), permit.Asked, "outside a sandbox"},
		{"all: a command without a sandbox, as the user said", options{Mode: permit.All, Unconfined: true}, command("ls"), permit.Allowed, "mode is all"},

		{"ask: a command that signs", options{}, signing("git commit -S"), permit.Asked, "it signs as you"},
		{"accept-edits: a command that signs", options{Mode: permit.AcceptEdits}, signing("git commit -S"), permit.Asked, "it signs as you"},
		{"all: a command that signs", options{Mode: permit.All, Unconfined: true}, signing("git commit -S"), permit.Asked, "it signs as you"},
		{"a command that signs and a rule for many", options{Allow: rules("Bash(git:*)", "Bash")}, signing("git commit -S"), permit.Asked, "it signs as you"},
		{"a command that signs and a rule for it alone", options{Allow: rules("Bash(git commit -S)")}, signing("git commit -S"), permit.Allowed, "Bash(git commit -S)"},
		{"a rule allows", wide, command("go test ./..."), permit.Allowed, "Bash(go test:*)"},
		{"a rule allows a change", wide, edit("docs/a.md"), permit.Allowed, "Edit("},
		{"a rule for another command", wide, command("go build ./..."), permit.Asked, ""},
		{"rules allow each part", wide, command("ls && go test ."), permit.Allowed, ""},
		{"a part that no rule allows", wide, command("ls && curl x"), permit.Asked, ""},
		{"a text that a shell expands", wide, command("go test $(cat x)"), permit.Asked, ""},
		{"a redirection", wide, command("ls > x"), permit.Asked, "it runs outside a sandbox, and no rule covers it as it is written: the command has a redirection (>)"},
		{"a redirection to nowhere", wide, command("ls 2>&1 >/dev/null"), permit.Allowed, ""},
		{"ask before allow", wide, command("go test ./slow"), permit.Asked, "the rule Bash(go test ./slow) asks"},
		{"ask before allow, a change", wide, edit("docs/plan/a.md"), permit.Asked, "Edit(docs/plan/**)"},
		{"ask before the mode", with(wide, permit.All), edit("docs/plan/a.md"), permit.Asked, "asks"},
		{"ask before the sandbox", wide, confined("go test ./slow"), permit.Asked, "asks"},
		{"deny before allow", wide, edit("docs/law.md"), permit.Denied, "the rule Edit(docs/law.md) denies"},
		{"deny a part", wide, command("ls; rm -rf x"), permit.Denied, "Bash(rm:*)"},
		{"deny before the mode", with(wide, permit.All), command("rm x"), permit.Denied, "Bash(rm:*)"},
		{"deny before the sandbox", wide, confined("rm x"), permit.Denied, ""},
		{"deny reading", wide, read(".env"), permit.Denied, "Read(.env)"},
		{"deny a tool", wide, script("pdf"), permit.Denied, "script_run"},
		{"a wildcard allows no special file", wide, edit("docs/AGENTS.md"), permit.Asked, "agents follow"},
		{"braces allow no special file", options{Allow: rules("Edit({AGENTS.md,x})")}, edit("AGENTS.md"), permit.Asked, "agents follow"},
		{"a class allows no special file", options{Allow: rules("Edit(AGENTS.m[d])")}, edit("AGENTS.md"), permit.Asked, "agents follow"},
		{"one letter allows no special file", options{Allow: rules("Edit(AGENTS.m?)")}, edit("AGENTS.md"), permit.Asked, "agents follow"},
		{"a rule for a special file", options{Allow: rules("Edit(AGENTS.md)")}, edit("AGENTS.md"), permit.Allowed, "Edit(AGENTS.md)"},
		{"Write is Edit", options{Allow: rules("Write(a)")}, edit("a"), permit.Allowed, "Write(a)"},
		{"Write is Edit, denied", options{Mode: permit.All, Deny: rules("Write(a)")}, edit("a"), permit.Denied, "Write(a)"},
		{"a skill", options{Deny: rules("Skill(pdf)")}, other("skill", `{"skill_name":"pdf"}`), permit.Denied, "Skill(pdf)"},
		{"an unreadable rule that allows", options{Allow: rules("Bash(")}, command("ls"), permit.Asked, "outside"},
		{"an unreadable rule that denies", options{Mode: permit.All, Unconfined: true, Deny: rules("Bash(")}, command("ls"), permit.Asked, "a rule cannot be read: Bash( ("},
		{"doubt", options{Doubt: "config.yaml:3", Allow: rules("Bash")}, read("a"), permit.Asked, "a rule cannot be read: config.yaml:3"},
		{"doubt in read-only", options{Doubt: "config.yaml:3", Mode: permit.ReadOnly}, edit("a"), permit.Denied, ""},

		{"ask: a tool of a server", options{}, server("close", false), permit.Asked, "at an MCP server"},
		{"ask: a tool of a server that reads", options{}, server("search", true), permit.Allowed, "changes nothing"},
		{"accept-edits: a tool of a server", options{Mode: permit.AcceptEdits}, server("close", false), permit.Asked, "at an MCP server"},
		{"all: a tool of a server", options{Mode: permit.All}, server("close", false), permit.Allowed, "mode is all"},
		{"read-only: a tool of a server", options{Mode: permit.ReadOnly}, server("close", false), permit.Denied, "read-only"},
		{"read-only: a tool of a server that reads", options{Mode: permit.ReadOnly}, server("search", true), permit.Allowed, ""},
		{"a rule for all tools of a server", options{Allow: rules("mcp__hub__*")}, server("close", false), permit.Allowed, "mcp__hub__*"},
		{"a rule for another server", options{Allow: rules("mcp__hu__*", "mcp__hub2")}, server("close", false), permit.Asked, ""},
		{"a rule that asks about a server", options{Mode: permit.All, Ask: rules("mcp__hub")}, server("search", true), permit.Asked, "mcp__hub"},
		{"a rule that denies a tool of a server", options{Mode: permit.All, Deny: rules("mcp__hub__search")}, server("search", true), permit.Denied, "mcp__hub__search"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Patterns = allow.Options{Roots: []string{"/ws"}}
			p, _ := permit.New(&tt.o)
			d := p.Decide(tt.call)
			if d.Verdict != tt.want || !strings.Contains(d.Reason, tt.why) {
				t.Errorf("got %+v, want %s because of %q", d, tt.want, tt.why)
			}
			if free := tt.o.Mode != permit.AcceptEdits && strings.HasPrefix(d.Reason, "it stays inside"); d.ReadOnly != free {
				t.Errorf("ReadOnly is %t", d.ReadOnly)
			}
			if strings.HasPrefix(d.Reason, "the rule ") != (d.Rule.Origin != "") {
				t.Errorf("the reason is %q, and the rule %+v", d.Reason, d.Rule)
			}
		})
	}
}

// A form that no rule covers is told only where a rule is about the command.
func TestForm(t *testing.T) {
	p, _ := permit.New(&permit.Options{Allow: []permit.Rule{{Text: "Bash(ls:*)"}}})
	for text, told := range map[string]bool{"ls > x": true, "ls | wc > x": true, "wc > x": false, "wc": false} {
		if d := p.Decide(command(text)); d.Verdict != permit.Asked || strings.Contains(d.Reason, "as it is written: the command has a redirection") != told {
			t.Errorf("%s: %+v", text, d)
		}
	}
}

// A rule of deny that cannot be read counts for its tool alone; one whose tool is not clear puts every call in doubt.
func TestBrokenDeny(t *testing.T) {
	for _, tt := range []struct {
		rule                  string
		command, write, reads permit.Verdict
	}{
		{"Bash(rm; ls)", permit.Denied, permit.Asked, permit.Allowed},
		{"Bash(:*)", permit.Denied, permit.Asked, permit.Allowed},
		{"Edit(../x)", permit.Asked, permit.Denied, permit.Allowed},
		{"web_search(x)", permit.Asked, permit.Asked, permit.Allowed},
		{"Edti(docs/**)", permit.Asked, permit.Asked, permit.Asked},
		{"Bash(", permit.Asked, permit.Asked, permit.Asked},
	} {
		p, problems := permit.New(&permit.Options{Deny: rules(tt.rule)})
		got := [3]permit.Verdict{p.Decide(command("ls")).Verdict, p.Decide(edit("a")).Verdict, p.Decide(read("a")).Verdict}
		if want := [3]permit.Verdict{tt.command, tt.write, tt.reads}; got != want || len(problems) != 1 {
			t.Errorf("%s: got %v, want %v; %v", tt.rule, got, want, problems)
		}
	}
}

func TestChanges(t *testing.T) {
	p, problems := permit.New(&permit.Options{Deny: rules("Bash(rm:*)"), Allow: rules("nonsense(")})
	if len(problems) != 1 || p.Mode() != permit.Ask {
		t.Errorf("got %v and %s", problems, p.Mode())
	}
	if _, err := p.WithAllow(permit.Rule{Text: "Bash("}); err == nil {
		t.Error("a rule that cannot be read was added")
	}
	q, err := p.WithAllow(permit.Rule{Text: "Bash(ls)"})
	if err != nil || q.Decide(command("ls")).Verdict != permit.Allowed || p.Decide(command("ls")).Verdict != permit.Asked {
		t.Errorf("got %v: the rule must hold in the new policy alone", err)
	}
	if r := q.WithMode(permit.ReadOnly); r.Decide(command("ls")).Verdict != permit.Denied || q.Mode() != permit.Ask {
		t.Error("the mode must hold in the new policy alone")
	}
	if a, _, d := q.Rules(); !slices.Equal(d, rules("Bash(rm:*)")) || len(a) != 2 {
		t.Errorf("got %v and %v", a, d)
	}
}

// A proposed rule allows the call, and is as narrow as the call lets it be.
func TestPropose(t *testing.T) {
	for _, tt := range []struct {
		call  *permit.Call
		want  string
		reach string
	}{
		{command("go test ./..."), "Bash(go test:*)", "builds and runs"},
		{command("git status"), "Bash(git status:*)", ""},
		{command("ls -la"), "Bash(ls:*)", ""},
		{command("ls"), "Bash(ls:*)", ""},
		{command("python3 x.py --all"), "Bash(python3 x.py --all)", ""},
		{command("bash deploy"), "Bash(bash deploy)", ""},
		{command("sudo rm x"), "Bash(sudo rm x)", ""},
		{command("rm notes"), "Bash(rm notes)", ""},
		{command("cp notes backup"), "Bash(cp notes backup)", ""},
		{command("curl https://example.com"), "Bash(curl https://example.com)", ""},
		{command("cat notes"), "Bash(cat notes)", ""},
		{command("cat $(ls)"), "", ""},
		{command("ls > x"), "", ""},
		{command("ls && curl x"), "", ""},
		{command("echo (\nrm x"), "", ""},
		{edit("docs/guide/a.md"), "Edit(docs/guide/**)", ""},
		{edit("README.md"), "Edit(README.md)", ""},
		{edit("docs/AGENTS.md"), "Edit(docs/AGENTS.md)", ""},
		{edit("docs/a*b/x"), "", ""},
		{read("a"), "", ""},
		{server("close", false), "mcp__hub__close", ""},
	} {
		p, _ := permit.New(&permit.Options{Patterns: allow.Options{Roots: []string{"/ws"}}})
		got, ok := p.Propose(tt.call)
		if got.Rule != tt.want || ok != (tt.want != "") || !strings.Contains(got.Reach, tt.reach) || (tt.reach == "") != (got.Reach == "") {
			t.Errorf("%s%s: got %+v %t, want %q", tt.call.Command, tt.call.Path, got, ok, tt.want)
		}
		if !ok {
			continue
		}
		q, err := p.WithAllow(permit.Rule{Text: got.Rule})
		if err != nil || q.Decide(tt.call).Verdict != permit.Allowed {
			t.Errorf("%s does not allow the call: %v", got.Rule, err)
		}
	}
}

// A rule that was added for the sandbox does not let a command out of it.
func TestRuleInSandbox(t *testing.T) {
	p, _ := permit.New(&permit.Options{})
	in, err := p.WithAllow(permit.Rule{Text: "Bash(make build:*)", Confined: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := in.Decide(writing("make build")); d.Verdict != permit.Allowed || d.ReadOnly {
		t.Errorf("in the sandbox: %+v", d)
	}
	if d := in.Decide(command("make build")); d.Verdict != permit.Asked {
		t.Errorf("outside: %+v", d)
	}
	out, _ := in.WithAllow(permit.Rule{Text: "Bash(make build:*)"})
	if d := out.Decide(command("make build")); d.Verdict != permit.Allowed {
		t.Errorf("with a rule for both: %+v", d)
	}
}

// A rule that names a host is about its ports 443 and 80 if it allows, and about each if it denies; one that names none is about pages, and
// not about commands.
func TestPage(t *testing.T) {
	for _, test := range []struct {
		o           permit.Options
		url         string
		page, alone permit.Verdict // alone: of the host, for a command
	}{
		{permit.Options{}, "https://a.com/", permit.Asked, permit.Asked},
		{permit.Options{Mode: permit.All}, "https://a.com/", permit.Asked, permit.Asked},
		{permit.Options{Mode: permit.ReadOnly}, "https://a.com/", permit.Asked, permit.Asked},
		{permit.Options{Allow: rules("WebFetch(domain:a.com)")}, "https://a.com/x", permit.Allowed, permit.Allowed},
		{permit.Options{Allow: rules("WebFetch(domain:a.com)")}, "http://a.com:80/x", permit.Allowed, permit.Allowed},
		{permit.Options{Allow: rules("WebFetch(domain:a.com)")}, "https://a.com:8443/x", permit.Asked, permit.Asked},
		{permit.Options{Allow: rules("WebFetch(domain:a.com)")}, "https://b.a.com/", permit.Asked, permit.Asked},
		{permit.Options{Allow: rules("WebFetch")}, "https://a.com:8443/", permit.Allowed, permit.Asked},
		{permit.Options{Ask: rules("WebFetch"), Allow: rules("WebFetch(domain:a.com)")}, "https://a.com/", permit.Asked, permit.Asked},
		{permit.Options{Deny: rules("WebFetch(domain:a.com)"), Allow: rules("WebFetch")}, "https://a.com:99/", permit.Denied, permit.Denied},
		{permit.Options{Deny: rules("WebFetch")}, "https://a.com/", permit.Denied, permit.Asked},
	} {
		p, problems := permit.New(&test.o)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		u, _ := url.Parse(test.url)
		if page, alone := p.Page(test.url).Verdict, p.Host(u.Host).Verdict; page != test.page || alone != test.alone {
			t.Errorf("%+v: %s is %s, and its host %s, want %s and %s", test.o, test.url, page, alone, test.page, test.alone)
		}
	}
}
