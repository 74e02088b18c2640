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
