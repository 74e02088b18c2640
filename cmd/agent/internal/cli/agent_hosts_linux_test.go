package cli_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// A host that no list has is a question: once, for the conversation, for the project, or no. The registries of packages are one. What is
// denied, and what is on this machine, is not asked about; the results say what was refused.
func TestConversationAsksAboutHosts(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is missing")
	}
	get := func(url string) fakemodel.Step { return callStep("bash", `{"command":"curl -ksS `+url+`"}`) }
	s := fakemodel.New(t, get("https://docs.example.com/a"), get("https://docs.example.com/b"), get("https://docs.example.com/c"),
		get("https://pypi.org/p https://files.pythonhosted.org/q"), get("https://keep.example.com/d"), get("https://keep.example.com/e"), get("https://no.example.com/f"),
		get("https://denied.example.com/g"), get("http://127.0.0.1:9/h"), fakemodel.Step{Text: "All done."})
	proxy := internet(t)
	w := newWorld(t, append(s.Env(), "HTTPS_PROXY="+proxy, "HTTP_PROXY="+proxy)...)
	w.write("home/.agent/config.yaml", "permissions:\n  deny: ['WebFetch(domain:denied.example.com)']\n")
	k := w.sit()
	k.sees("help.")
	k.press("look\r")
	k.asked("Let this command reach docs.example.com?", "curl -ksS https://docs.example.com/a")
	k.answers("y")
	k.asked("Let this command reach docs.example.com?", "curl -ksS https://docs.example.com/b")
	k.answers("c")
	k.sees("Press y, c, p, o or n") // one question about both; a machine with mirrors of them refuses their addresses all the same
	k.answers("y")
	k.asked("Let this command reach keep.example.com?", "curl -ksS https://keep.example.com/d")
	k.answers("p")
	k.asked("Let this command reach no.example.com?", "curl -ksS https://no.example.com/f")
	k.answers("n")
	k.sees("All done.")
	k.leaves()
	q := s.Requests()
	for i, want := range []string{"served docs.example.com/a", "served docs.example.com/b", "served docs.example.com/c", "",
		"served keep.example.com/d", "served keep.example.com/e", "the user did not allow no.example.com", `"refused":["denied.example.com"]`, ""} {
		if got := q[i+1].LastResult(); !strings.Contains(got, want) {
			t.Errorf("result %d is %s, want %s in it", i+1, got, want)
		}
	}
	out, _, code := w.run("", "permissions", "list", "--json")
	if code != 0 || !strings.Contains(out, "WebFetch(domain:keep.example.com)") || !strings.Contains(out, `"this project"`) || strings.Contains(out, "docs.example.com") {
		t.Errorf("the rules are %s", out)
	}

	// It holds in the next conversation, where nobody can be asked; another host is refused with its cure.
	s = fakemodel.New(t, get("https://keep.example.com/i"), get("https://docs.example.com/j"), fakemodel.Step{Text: "Done."})
	w.env = append(w.env, s.Env()...)
	if _, stderr, code := w.run("", "-p", "go"); code != 0 {
		t.Fatal(stderr)
	}
	q = s.Requests()
	if got := q[1].LastResult(); !strings.Contains(got, "served keep.example.com/i") {
		t.Errorf("with a rule: %s", got)
	}
	if got := q[2].LastResult(); !strings.Contains(got, `"refused":["docs.example.com"]`) || !strings.Contains(got, "--allow 'WebFetch(domain:docs.example.com)'") {
		t.Errorf("without a rule: %s", got)
	}
	if _, stderr, code := w.run("", "permissions", "remove", "WebFetch(domain:keep.example.com)"); code != 0 {
		t.Error(stderr)
	}
	if _, _, code := w.run("", "permissions", "remove", "WebFetch(domain:keep.example.com)"); code != 3 {
		t.Errorf("removed again: exit code %d", code)
	}
}

// A script of a skill has the same question; "always" is a grant for the skill as it is.
func TestConversationAsksAboutHostsOfScripts(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is missing")
	}
	get := func(path string) fakemodel.Step {
		return callStep("script_run", `{"skill_name":"net","script_name":"get","args":["https://docs.example.com/`+path+`"]}`)
	}
	s := fakemodel.New(t, get("n"), get("o"), get("p"), fakemodel.Step{Text: "All done."}, get("a"), get("b"), get("c"), fakemodel.Step{Text: "Done again."})
	w := newWorld(t, append(s.Env(), "HTTPS_PROXY="+internet(t))...)
	w.skill("net", "Gets pages.", "Go on.\n")
	w.write("home/.agent/skills/net/scripts/get.sh", "curl -ksS \"$1\"\n")
	if _, stderr, code := w.run("", "skill", "trust", "net", "--yes"); code != 0 {
		t.Fatal(stderr)
	}
	k := w.sit()
	k.sees("help.")
	k.press("look\r")
	k.asked("Let the script get of net reach docs.example.com?", "https://docs.example.com/n")
	k.answers("n")
	k.asked("Let the script get of net reach docs.example.com?", "https://docs.example.com/o")
	k.answers("c")
	k.sees("All done.")
	k.leaves()

	// The conversation goes on with what was allowed, if the user says so.
	k = w.sitAt("xterm-256color", "-c")
	k.until("the input", func() bool { return strings.Contains(k.raw, pasteMode) })
	k.press("look\r")
	k.asked("Allow again what you had allowed for this conversation?", "scripts of net reach docs.example.com")
	k.answers("y")
	k.sees("Done again.")
	k.leaves()
	q := s.Requests()
	for i, want := range []string{"it may not reach docs.example.com", "served docs.example.com/o", "served docs.example.com/p", "", "served docs.example.com/a",
		"served docs.example.com/b", "served docs.example.com/c"} {
		if got := q[min(i+1, len(q)-1)].LastResult(); !strings.Contains(got, want) {
			t.Errorf("result %d is %s, want %s in it", i+1, got, want)
		}
	}

	// "always" is a grant.
	s = fakemodel.New(t, get("x"), get("y"), fakemodel.Step{Text: "All done."})
	w.env = append(w.env, s.Env()...)
	k = w.sit()
	k.sees("help.")
	k.press("look\r")
	k.asked("Let the script get of net reach docs.example.com?", "https://docs.example.com/x")
	k.answers("a")
	k.sees("All done.")
	k.leaves()
	if out, _, _ := w.run("", "skill", "info", "net"); !strings.Contains(out, "docs.example.com") {
		t.Errorf("the grant is not shown: %s", out)
	}
}
