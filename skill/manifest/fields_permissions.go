package manifest

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/internal/yamlnode"
)

var (
	commandName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)
	amount      = lazyregexp.New(`^([0-9]{1,12})[ \t]*([A-Za-z]*)$`)
)

func (p *parser) envNames(list []listItem) []string {
	return p.kept("permissions.env", list, func(s string) (code, message string) {
		if why := variable.CheckDeclared(s); why != nil {
			return "permissions-env", fmt.Sprintf("%q in permissions.env grants nothing: %v", clip(s), why)
		}
		return "", ""
	})
}

// hosts keeps the hosts that can be read, each once and in its usual form.
func (p *parser) hosts(list []listItem) []string {
	kept := p.kept("permissions.network", list, func(s string) (code, message string) {
		if why := checkHost(s); why != nil {
			return "permissions-network", fmt.Sprintf("the host %q grants nothing: %v", clip(s), why)
		}
		return "", ""
	})
	return usual(kept, func(s string) string {
		h, _ := hostname.Parse(s) // it can be read: checkHost did
		return h.String()
	})
}

// usual returns the items in their usual form, each once.
func usual(list []string, form func(string) string) []string {
	var out []string
	for _, s := range list {
		if s = form(s); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// checkHost returns what is wrong with a host of a manifest.
func checkHost(text string) error {
	switch strings.ToLower(text) {
	case "true", "yes", "all", "any", "full":
		return errors.New("it means every host: name each one")
	case "false", "no", "none":
		return errors.New("it is not a host: without hosts there is no network")
	}
	h, err := hostname.Parse(text)
	if err == nil && hostname.IsForeign(h.Host) {
		err = errors.New("a name that begins with xn-- may look like another: only a user can grant it")
	}
	return err
}

func (p *parser) readFolders(list []listItem) []string { return p.folders("permissions.read", list) }

func (p *parser) writeFolders(list []listItem) []string { return p.folders("permissions.write", list) }

func (p *parser) folders(field string, list []listItem) []string {
	kept := p.kept(field, list, func(s string) (code, message string) {
		if why := checkFolder(s); why != "" {
			return "permissions-folder", fmt.Sprintf("the folder %q grants nothing: %s", clip(s), why)
		}
		return "", ""
	})
	return usual(kept, path.Clean)
}

// checkFolder returns what is wrong with a folder, or "". The whole disk, all homes and the whole home are too much for one
// entry that a person reads among others.
func checkFolder(s string) string {
	clean := path.Clean(s)
	switch {
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "it has a character that cannot be shown"
	case strings.ContainsAny(s, "*?[]$%`\\"):
		return "patterns, variables and backslashes are not read"
	case strings.Contains("/"+s+"/", "/../"):
		return "it leads upwards with .."
	case clean == ".":
		return ""
	case clean == "/" || clean == "~" || clean == "/home" || clean == "/Users" || clean == "/root":
		return "it is too much: name a folder in it"
	case !strings.HasPrefix(clean, "/") && !strings.HasPrefix(clean, "~/"):
		return "write an absolute path, one below the home as ~/notes, or . for where a script is started"
	}
	return ""
}

func (p *parser) commands(list []listItem) []string {
	kept := p.kept("permissions.commands", list, func(s string) (code, message string) {
		if !commandName().MatchString(s) {
			return "permissions-command", fmt.Sprintf("%q is not the name of a program: it grants nothing", clip(s))
		}
		return "", ""
	})
	return kept[:min(len(kept), maxRequires)]
}

// limitsField reads the map of limits. One with a key twice sets none.
func (p *parser) limitsField(f *knownField, n *yamlnode.Node) {
	switch {
	case noValue(n):
		return
	case n.Kind != yamlnode.Mapping:
		p.wrongForm(f, n)
		return
	case p.twice(f, n):
		p.reject(f.key)
		return
	}
	for _, kv := range n.Pairs {
		p.member(f, kv)
	}
}

func (p *parser) timeoutLimit(f *knownField, n *yamlnode.Node) {
	p.limit(f, n, "a time such as 90s or 5m, at most 10m", func(text string) bool {
		d, err := time.ParseDuration(text)
		if seconds, wrong := strconv.ParseUint(text, 10, 16); wrong == nil {
			d, err = time.Duration(seconds)*time.Second, nil
		}
		if err != nil || d < time.Second || d > maxTimeout {
			return false
		}
		p.m.Permissions.Limits.Timeout = d
		return true
	})
}

func (p *parser) memoryLimit(f *knownField, n *yamlnode.Node) {
	p.limit(f, n, "a size such as 512MiB, at most 8GiB", func(text string) bool {
		return size(text, maxMemory, &p.m.Permissions.Limits.Memory)
	})
}

func (p *parser) outputLimit(f *knownField, n *yamlnode.Node) {
	p.limit(f, n, "a size such as 4MiB, at most 16MiB", func(text string) bool {
		return size(text, maxOutput, &p.m.Permissions.Limits.Output)
	})
}

func (p *parser) processesLimit(f *knownField, n *yamlnode.Node) {
	p.limit(f, n, "a number from 1 to 1024", func(text string) bool {
		count, err := strconv.Atoi(text)
		if err != nil || count < 1 || count > maxProcesses {
			return false
		}
		p.m.Permissions.Limits.Processes = count
		return true
	})
}

// limit reads one limit with set, which reports whether the text can be one.
func (p *parser) limit(f *knownField, n *yamlnode.Node, form string, set func(text string) bool) {
	if noValue(n) {
		return
	}
	if n.Kind != yamlnode.Scalar || !set(strings.TrimSpace(n.Value)) {
		p.reject(f.key)
		p.problem("permissions-limit", on(n, f.key), "%s must be %s, not %q: the usual limit holds", f.key, form, clip(nodeText(n)))
	}
}

// size reads a number of bytes, with a unit of 1024 or 1000 in it.
func size(text string, most int64, out *int64) bool {
	m := amount().FindStringSubmatch(text)
	if m == nil {
		return false
	}
	unit := map[string]int64{"": 1, "b": 1, "k": 1 << 10, "kb": 1000, "kib": 1 << 10, "m": 1 << 20, "mb": 1000 * 1000, "mib": 1 << 20,
		"g": 1 << 30, "gb": 1000 * 1000 * 1000, "gib": 1 << 30}[strings.ToLower(m[2])]
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || unit == 0 || n == 0 || n > most/unit {
		return false
	}
	*out = n * unit
	return true
}
