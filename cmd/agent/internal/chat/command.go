package chat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/cmd/agent/internal/markup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/naming"
)

// own returns the commands that need only the conversation on the screen.
func own() []Command {
	return []Command{
		{Name: "help", Help: "Show the commands and keys."},
		{Name: "open", Usage: "[N]", Help: "Show arguments and result of call number N, or of the last one."},
		{Name: "copy", Usage: "[N|all]", Help: "Put block of code number N, or the last one, or the whole last answer on the clipboard."},
		{Name: "tokens", Help: "Show how many tokens each skill has used."},
		{Name: "quit", Help: "Leave."},
		{Name: "exit", Help: "Leave, like /quit."},
	}
}

// commands returns all commands in the order of their names.
func (s *state) commands() []Command {
	all := slices.Clone(s.o.Commands)
	for _, c := range own() {
		if !slices.ContainsFunc(all, func(o Command) bool { return o.Name == c.Name }) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// local reports whether text is a command that may be given while the agent works.
func (s *state) local(text string) bool {
	name, args, ok := CutCommand(text)
	return ok && slices.ContainsFunc(s.commands(), func(c Command) bool {
		return c.Name == name && (c.Run == nil || c.Meanwhile != nil && c.Meanwhile(args))
	})
}

// has reports whether there is a command of that name.
func (s *state) has(name string) bool {
	return slices.ContainsFunc(s.commands(), func(c Command) bool { return c.Name == name })
}

// CutCommand cuts "/NAME ARGUMENTS" into name and arguments. NAME may be LABEL:NAME, of a prompt of a server. It
// reports whether text has that form. Other texts that begin with a slash, such as a path or a comment, do not.
func CutCommand(text string) (name, args string, ok bool) {
	name, ok = strings.CutPrefix(strings.TrimSpace(text), "/")
	if i := strings.IndexFunc(name, unicode.IsSpace); i >= 0 {
		name, args = name[:i], strings.TrimSpace(name[i:])
	}
	label, own, server := strings.Cut(name, ":")
	if !ok || !plain(label, "-_") || server && !plain(own, "-_./") {
		return "", "", false
	}
	return name, args, true
}

// plain reports whether a name has letters, digits and some other characters, and nothing else.
func plain(name, others string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !naming.Letter(r) && !strings.ContainsRune(others, r) })
}

// named returns the skills that the user may name now.
func (s *state) named() []string {
	var names []string
	for _, k := range s.o.Skills() {
		if !k.Refused {
			names = append(names, k.Name)
		}
	}
	return names
}

// isSkill reports whether a name at the beginning of a prompt is that of a skill.
func (s *state) isSkill(name string) bool {
	return slices.ContainsFunc(s.o.Skills(), func(k Skill) bool { return k.Name == naming.Canonical(name) })
}

// submit sends a prompt or a command.
func (s *state) submit(text string) []effect {
	s.echo(text)
	name, args, ok := CutCommand(text)
	if !ok {
		return s.prompt(text)
	}
	for _, c := range s.commands() {
		if c.Name != name {
			continue
		}
		if c.Run != nil && s.busy {
			return []effect{runMeanwhile{startCommand{&c, args}}}
		}
		if c.Run != nil {
			s.work()
			return []effect{startCommand{&c, args}}
		}
		switch name {
		case "help":
			s.help()
		case "open":
			s.open(args)
		case "copy":
			return s.copy(args)
		case "tokens":
			s.tokens()
		case "quit", "exit":
			return s.quit()
		}
		return nil
	}
	if s.isSkill(name) || strings.Contains(name, ":") { // without a server of that label, it is a text
		return s.prompt(text)
	}
	s.unknown(name)
	return nil
}

// prompt sends a text to the model.
func (s *state) prompt(text string) []effect {
	s.said.Reset()
	s.work()
	return []effect{startTurn{text}}
}

func (s *state) work() {
	s.busy, s.begun, s.heard = true, s.now, s.now
}

// echo prints what was typed. Without a terminal it only begins a block: the input is not shown.
func (s *state) echo(text string) {
	if s.width == 0 {
		s.begin(prompts)
		s.last = nothing
		return
	}
	s.begin(prompts)
	e := editor{text: s.refold(text)}
	rows, _, _ := e.layout(s.inputRoom())
	if n := len(rows); n > 1 && rows[n-1].text == "" {
		rows = rows[:n-1]
	}
	for i, r := range rows {
		mark := "  "
		if i == 0 {
			mark = "> "
		}
		s.out = append(s.out, strings.TrimRight(s.paint.cyan(mark)+s.paint.bold(r.text), " "))
	}
}

func (s *state) unknown(name string) {
	var names []string
	for _, c := range s.commands() {
		names = append(names, c.Name)
	}
	names = append(names, s.named()...)
	text := "unknown command /" + name + ": "
	if near := s.o.Suggest(name, names); near != "" {
		text += "did you mean /" + near + "? "
	}
	s.notice(text + "/help lists all")
}

// help lists commands and keys with their meaning, which goes below them on a narrow screen.
func (s *state) help() {
	var rows [][2]string
	for _, c := range s.commands() {
		rows = append(rows, [2]string{strings.TrimSpace("/" + c.Name + " " + c.Usage), c.Help})
	}
	if len(s.named()) > 0 {
		rows = append(rows, [2]string{"/SKILL [ARGUMENTS]", "Activate a skill yourself."})
	}
	if s.o.Labels != nil && len(s.o.Labels()) > 0 {
		rows = append(rows, [2]string{"/LABEL:PROMPT [ARGUMENTS]", "Use a prompt of an MCP server; @LABEL:URI in a prompt attaches a resource."})
	}
	if s.o.Files != nil {
		rows = append(rows, [2]string{"@FILE", "Attach a file, or the list of a folder: @\"A FILE\" if it has spaces."})
	}
	s.begin(outputs)
	s.table(rows)
	if s.width == 0 {
		return
	}
	s.out = append(s.out, "")
	s.table([][2]string{
		{"Enter", "Send; what is sent while it works is queued."},
		{"!COMMAND", "Run a command yourself, in the sandbox; !!COMMAND runs it outside."},
		{"Alt-Enter", "Start a new line, like Ctrl-J."},
		{"Tab", "Complete a command, a skill or a file."},
		{"Up, Down", "Take back what is queued; show earlier input."},
		{"Esc", "Stop the turn; twice, with nothing typed: go back to an earlier prompt."},
		{"Ctrl-R", "Look for earlier input."},
		{"Ctrl-G", "Edit the prompt in $VISUAL or $EDITOR."},
		{"Ctrl-O", "Open the last call."},
		{"Ctrl-L", "Clear the screen."},
		{"Ctrl-C", "Stop the turn, or empty the input."},
		{"Ctrl-D", "Leave."},
	})
}

func (s *state) table(rows [][2]string) {
	first := 0
	for _, r := range rows {
		first = max(first, ui.Columns(ui.Line(r[0])))
	}
	for _, r := range rows {
		name := ui.Line(r[0])
		if s.width == 0 {
			s.out = append(s.out, name+strings.Repeat(" ", first-ui.Columns(name)+2)+ui.Line(r[1]))
			continue
		}
		indent := first + 2
		if s.room()-indent < 24 {
			s.out = append(s.out, s.paint.bold(ui.Cut(name, s.room())))
			indent, name = 2, ""
		}
		lead := s.paint.bold(name) + strings.Repeat(" ", indent-ui.Columns(name))
		for _, part := range markup.Rows(ui.Line(r[1]), max(s.room()-indent, 1)) {
			s.out = append(s.out, lead+part)
			lead = strings.Repeat(" ", indent)
		}
	}
}

// open shows a whole call: the last one, or the one with a number.
func (s *state) open(args string) {
	if len(s.calls) == 0 {
		s.notice("no call to open yet")
		return
	}
	c := s.calls[len(s.calls)-1]
	if args != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(args, "#"))
		i := slices.IndexFunc(s.calls, func(c *call) bool { return c.number == n })
		if err != nil || i < 0 {
			s.notice(fmt.Sprintf("no call %q: use #%d to #%d", args, s.calls[0].number, c.number))
			return
		}
		c = s.calls[i]
	}
	s.begin(outputs)
	s.out = append(s.out, c.details(s.paint, s.clock(), s.room())...)
}

// copy puts a block of code, or the last answer, on the clipboard exactly as the model wrote it.
func (s *state) copy(args string) []effect {
	_, _, count := s.flow.Block(0)
	n := count
	if args != "" {
		n, _ = strconv.Atoi(args) // 0 is none
	}
	text, ok, _ := s.flow.Block(n)
	what := fmt.Sprintf("block %d", n)
	if args == "all" {
		text, ok, what = s.said.String(), s.said.Len() > 0, "the last answer"
	}
	switch {
	case !s.o.Clipboard:
		s.notice("copying needs a terminal that has a clipboard")
	case ok:
		hidden := ""
		if ui.Prose(text) != text {
			hidden = "; it has characters that do not show"
		}
		s.notice(what + " is on the clipboard, if the terminal allows that" + hidden)
		return []effect{copyText{text}}
	case s.said.Len() == 0:
		s.notice("no answer yet")
	case count == 0:
		s.notice("no block of code yet; /copy all copies the last answer")
	default:
		s.notice(fmt.Sprintf("no block %q is kept: the last one is %d; /copy all copies the last answer", args, count))
	}
	return nil
}

// tokens shows how many tokens each skill has cost, and the whole conversation.
func (s *state) tokens() {
	s.status = s.o.Status()
	var rows [][2]string
	for _, t := range s.status.Tokens {
		rows = append(rows, [2]string{t.Name, Number(t.Tokens)})
	}
	u := s.status.Usage
	input := Number(u.Input)
	if u.CacheRead > 0 {
		input += fmt.Sprintf(" (%s cached)", Number(u.CacheRead))
	}
	rows = append(rows, [2]string{"input, total", input}, [2]string{"output, total", Number(u.Output)})
	s.begin(outputs)
	s.table(rows)
}

// Number writes a number with commas: 12,345.
func Number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// complete is the Tab key where no popup is open: it opens one for a word that has one, and takes what alone it offers. Else it completes the
// argument of a command as far as it is certain, and lists the choices where nothing more is.
func (s *state) complete() []effect {
	s.dismissed = -1
	text := s.input.text
	effects := s.offer(nil)
	if p := s.popup; p != nil {
		if len(p.offers) == 1 {
			s.choose(p)
		}
		return effects
	}
	if s.input.at != len(text) || !strings.HasPrefix(text, "/") || strings.Contains(text, "\n") {
		return effects
	}
	name, args, _ := strings.Cut(text[1:], " ")
	i := slices.IndexFunc(s.commands(), func(c Command) bool { return c.Name == name && c.Complete != nil })
	if i < 0 {
		s.hint = "no completion"
		return nil
	}
	found, lead := s.commands()[i].Complete(strings.TrimLeft(args, " ")), "/"+name+" "
	switch len(found) {
	case 0:
		s.hint = "no completion"
	case 1:
		s.input.set(lead + found[0] + " ")
	default:
		if common := lead + commonPrefix(found); len(common) > len(text) {
			s.input.set(common)
			return nil
		}
		s.hint = strings.Join(found, "  ")
	}
	return nil
}

// prompts returns what begins as a name does: labels of servers, or prompts of one.
func (s *state) prompts(begun string) []string {
	if s.o.Labels == nil {
		return nil
	}
	var out []string
	for _, label := range s.o.Labels() {
		names := []string{""}
		if strings.HasPrefix(begun, label+":") && s.o.Prompts != nil {
			names = s.o.Prompts(label)
		}
		for _, name := range names {
			if all := label + ":" + name; strings.HasPrefix(all, begun) && plain(name+"x", "-_./") {
				out = append(out, all)
			}
		}
	}
	return out
}

func commonPrefix(words []string) string {
	prefix := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, prefix) {
			_, size := utf8.DecodeLastRuneInString(prefix)
			prefix = prefix[:len(prefix)-size]
		}
	}
	return prefix
}
