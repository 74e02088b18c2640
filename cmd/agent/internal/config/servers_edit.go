package config

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/want"
)

// SetServer puts a server into the user's file at path, in place of one with its label. Everything else in the file stays as it is. It
// works like Enable.
func SetServer(ctx context.Context, path string, s *Server) (bool, error) {
	entry, err := s.lines()
	if err != nil {
		return false, err
	}
	return editPlugins(ctx, path, func(text string) (string, error) { return withServer(path, text, s.Label, entry) })
}

// RemoveServer takes a server out of the user's file at path. It works like Enable.
func RemoveServer(ctx context.Context, path, label string) (bool, error) {
	return editPlugins(ctx, path, func(text string) (string, error) { return withServer(path, text, label, nil) })
}

// withServer returns the text with the lines of a server in place of those of the one with its label. Without lines that one goes.
func withServer(path, text, label string, entry []string) (string, error) {
	root, err := parse([]byte(text))
	if err != nil {
		return "", fmt.Errorf("%s:%w: fix the file first", path, err)
	}
	section := slices.IndexFunc(root.Pairs, func(p yamlnode.Pair) bool { return p.Key.Value == serversSection })
	if section < 0 && entry == nil {
		return text, nil
	}
	lines, eol := split(text)
	at, indent := len(lines), 2
	if section < 0 {
		lines, at = append(lines, serversSection+":"), at+1
	} else {
		p := root.Pairs[section]
		at = p.Key.Line
		for _, e := range p.Value.Pairs {
			at, indent = lastLine(e.Value), e.Key.Col-1
		}
		i := slices.IndexFunc(p.Value.Pairs, func(e yamlnode.Pair) bool { return e.Key.Value == label })
		switch {
		case i >= 0 && isBlock(p.Value.Pairs[i]) && entry != nil:
			edited, err := withFields(lines, p.Value.Pairs[i], entry)
			if err == nil {
				err = onlyServer(root, joined(edited, len(edited), eol), label, entry)
			}
			if err == nil {
				return joined(edited, len(edited), eol), nil
			}
			fallthrough // the whole entry is written anew
		case i >= 0:
			e := p.Value.Pairs[i]
			at = e.Key.Line - 1
			lines = slices.Delete(lines, min(at, len(lines)), min(max(lastLine(e.Value), e.Key.Line), len(lines)))
		case entry == nil:
			return text, nil
		}
	}
	var more []string
	for _, line := range entry {
		more = append(more, strings.Repeat(" ", indent)+line)
	}
	edited := joined(lines, at, eol, more...)
	if err := onlyServer(root, edited, label, entry); err != nil {
		return "", fmt.Errorf("%s: the file cannot be changed safely: change %q below \"%s:\" by hand", path, label, serversSection)
	}
	return edited, nil
}

// isBlock reports whether each field of an entry begins a line of its own.
func isBlock(e yamlnode.Pair) bool {
	line := e.Key.Line
	for _, f := range e.Value.Pairs {
		if f.Key.Line <= line {
			return false
		}
		line = lastLine(f.Value)
	}
	return e.Value.Kind == yamlnode.Mapping && len(e.Value.Pairs) > 0
}

// withFields returns the lines of a file with the fields of an entry as its new lines say. A field that stays, and comments between fields,
// are not touched.
func withFields(lines []string, old yamlnode.Pair, entry []string) ([]string, error) {
	root, err := parse([]byte(strings.Join(entry, "\n")))
	if err != nil {
		return nil, err
	}
	lines, fresh := slices.Clone(lines), slices.Clone(root.Pairs[0].Value.Pairs)
	indent := strings.Repeat(" ", old.Value.Pairs[0].Key.Col-1)
	written := func(f yamlnode.Pair) (out []string) {
		for _, line := range entry[f.Key.Line-1 : max(lastLine(f.Value), f.Key.Line)] {
			out = append(out, indent+strings.TrimPrefix(line, "  "))
		}
		return out
	}
	var more []string
	for _, f := range fresh {
		if !slices.ContainsFunc(old.Value.Pairs, func(o yamlnode.Pair) bool { return o.Key.Value == f.Key.Value }) {
			more = append(more, written(f)...)
		}
	}
	lines = slices.Insert(lines, min(max(lastLine(old.Value), old.Key.Line), len(lines)), more...)
	for _, o := range slices.Backward(old.Value.Pairs) {
		from, to := o.Key.Line-1, max(lastLine(o.Value), o.Key.Line)
		i := slices.IndexFunc(fresh, func(f yamlnode.Pair) bool { return o.Key.Value == f.Key.Value })
		switch {
		case i < 0:
			lines = slices.Delete(lines, from, to)
		case !same(o.Value, fresh[i].Value):
			now := written(fresh[i])
			if note := remark(lines[from:to]); note != "" && len(now) == 1 {
				now[0] += note
			}
			lines = slices.Replace(lines, from, to, now...)
		}
	}
	return lines, nil
}

// remark returns the comment at the end of a field of one line, with the blanks before it.
func remark(field []string) string {
	if len(field) != 1 {
		return ""
	}
	whole, err := parse([]byte(strings.TrimSpace(field[0])))
	for i := range field[0] {
		if rest := field[0][i:]; err == nil && i > 0 && rest[0] == '#' && (field[0][i-1] == ' ' || field[0][i-1] == '\t') {
			if cut, wrong := parse([]byte(strings.TrimSpace(field[0][:i]))); wrong == nil && same(whole, cut) {
				return field[0][len(strings.TrimRight(field[0][:i], " \t")):]
			}
		}
	}
	return ""
}

// onlyServer returns an error if a text differs from a tree in more than one server, which must be what the lines say.
func onlyServer(before *yamlnode.Node, edited, label string, entry []string) error {
	after, err := parse([]byte(edited))
	if err != nil {
		return err
	}
	want, err := parse([]byte(strings.Join(entry, "\n")))
	if err != nil {
		return err
	}
	without := func(root *yamlnode.Node) (rest *yamlnode.Node, one []*yamlnode.Node) {
		rest = &yamlnode.Node{Kind: yamlnode.Mapping}
		for _, p := range root.Pairs {
			if p.Key.Value != serversSection {
				rest.Pairs = append(rest.Pairs, p)
				continue
			}
			for _, e := range p.Value.Pairs {
				if e.Key.Value == label {
					one = append(one, e.Value)
				} else {
					rest.Pairs = append(rest.Pairs, e)
				}
			}
		}
		return rest, one
	}
	was, _ := without(before)
	is, one := without(after)
	if !same(was, is) || len(one) != len(want.Pairs) || len(one) == 1 && !same(one[0], want.Pairs[0].Value) {
		return fmt.Errorf("more would change than %q", label)
	}
	return nil
}

// lines returns the server as it is written below the section, without the indentation of that.
func (s *Server) lines() ([]string, error) {
	out := []string{s.Label + ":"}
	add := func(name, value string) { out = append(out, "  "+name+": "+value) }
	text := func(name, value string) {
		if value != "" {
			add(name, quoted(value))
		}
	}
	list := func(name string, items []string) {
		if items != nil {
			var all []string
			for _, item := range items {
				all = append(all, quoted(item))
			}
			add(name, "["+strings.Join(all, ", ")+"]")
		}
	}
	pairs := func(name string, m map[string]string) {
		if len(m) > 0 {
			out = append(out, "  "+name+":")
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			out = append(out, "    "+k+": "+quoted(m[k]))
		}
	}
	text("command", s.Command)
	list("args", s.Args)
	pairs("env", s.Env)
	text("cwd", s.Cwd)
	text("url", s.URL)
	pairs("headers", s.Headers)
	if o := s.OAuth; o != nil {
		out = append(out, "  oauth:")
		for _, f := range [][2]string{{"clientId", o.ClientID}, {"clientSecret", o.ClientSecret}} {
			if f[1] != "" {
				out = append(out, "    "+f[0]+": "+quoted(f[1]))
			}
		}
		if o.CallbackPort > 0 {
			out = append(out, "    callbackPort: "+strconv.FormatInt(o.CallbackPort, 10))
		}
		for i, scope := range o.Scopes {
			if i == 0 {
				out = append(out, "    scopes:")
			}
			out = append(out, "      - "+quoted(scope))
		}
	}
	list("tools", s.Tools)
	list("ask", s.Ask)
	if s.Timeout > 0 {
		add("timeout", s.Timeout.String())
	}
	if s.Open {
		add("sandbox", "off")
	}
	if s.Skills {
		add("skills", "true")
	}
	for _, k := range s.Opens.Kinds() {
		names := s.Opens.Named(k)
		if i := slices.Index(names, want.Any); i >= 0 && k == want.Host {
			names = []string{allHosts}
		}
		list(opensKey(k), names)
	}
	for _, line := range out {
		if strings.ContainsFunc(line, unicode.IsControl) {
			return nil, fmt.Errorf("server %q has a line break or another control character in a value", s.Label)
		}
	}
	return out, nil
}

// quoted returns a text as YAML.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
