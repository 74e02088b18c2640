package cli_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// A person in a conversation uses what a server has: its tools after a question, a form that it asks them to fill in, a resource and a prompt.
// What the server says cannot look like what the agent says.
func TestConversationServer(t *testing.T) {
	order := callStep("mcp__hub__order", `{}`)
	s := fakemodel.New(t, order, fakemodel.Step{Text: "It is ordered."}, order, fakemodel.Step{Text: "It is not."},
		fakemodel.Step{Text: "I saw the note."}, fakemodel.Step{Text: "I reviewed."}, fakemodel.Step{Text: "A text."})
	w := newWorld(t, s.Env()...)
	demo, err := exec.LookPath("mcpdemo")
	if err != nil {
		t.Fatal(err)
	}
	w.write("home/.agent/config.yaml", "mcpServers:\n  hub: {command: "+demo+", sandbox: false}\npermissions: {allow: [mcp__hub__order]}\n")
	k := w.sit()
	k.sees("help.")
	k.press("order it\r")
	k.asked("The MCP server hub asks you something. Answer it?", "Who orders?[2J", "  name: your name", "  sure [may be left out]")
	k.answers("y")
	k.sees("┇ name, for the MCP server hub?")
	k.press("Ada\r")
	k.shows("┇ sure, for the MCP server hub?")
	k.answers("y")
	k.asked("Send this to the MCP server hub?", "name: Ada", "sure: true")
	k.answers("y")
	k.sees("It is ordered.")
	k.press("order it\r")
	k.sees("Answer it?")
	k.answers("n")
	k.sees("It is not.")
	k.press("look at @hub:note://one, please\r")
	k.sees("I saw the note.")
	k.press("/hub:review main.go and be strict\r")
	k.sees("I reviewed.")
	k.press("/hub:nothing\r")
	k.sees(`the MCP server hub has no prompt "nothing"`)
	k.press("/mcp\r")
	k.sees("hub     running  3")
	k.press("/other:x is a text\r")
	k.sees("A text.")
	k.leaves()

	results := func(i int) string { return string(s.Requests()[i].Body) }
	for i, want := range []string{1: `accept {\"name\":\"Ada\",\"sure\":true}`, 3: "decline", 4: "the first note", 5: "Review main.go and be strict", 6: "/other:x is a text"} {
		if want != "" && !strings.Contains(strings.ReplaceAll(results(i), `\\\"`, `\"`), want) {
			t.Errorf("request %d has no %q:\n%s", i, want, results(i))
		}
	}
}
