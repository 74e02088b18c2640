package pyenv

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// A dependency as PEP 508 writes it, without the form `name @ address`. RE2 keeps this linear.
var (
	nameAndExtras = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]|[A-Za-z0-9])[ \t]*(\[[A-Za-z0-9._, \t-]*\])?[ \t]*`)
	markerToken   = lazyregexp.New(`^[ \t]*("[^"\\]*"|'[^'\\]*'|<=|>=|===|==|!=|~=|<|>|\(|\)|[a-z_.]+)`)
)

// markerNames are what a marker may ask about.
var markerNames = []string{
	"python_version", "python_full_version", "os_name", "sys_platform", "platform_release", "platform_system",
	"platform_version", "platform_machine", "platform_python_implementation", "implementation_name", "implementation_version", "extra",
}

const maxDependency = 1024 // bytes of one dependency

// checkDependency accepts a name with extras, versions and a marker, in printable ASCII.
func checkDependency(dep string) error {
	if len(dep) > maxDependency {
		return fmt.Errorf("it has %d bytes (max %d): shorten it", len(dep), maxDependency)
	}
	if i := strings.IndexFunc(dep, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' || r == '\\' }); i >= 0 {
		return fmt.Errorf("the character at byte %d is not allowed: write a name and a version"+`, such as "httpx>=0.27"`, i+1)
	}
	found := nameAndExtras().FindString(dep)
	if found == "" {
		return errors.New(`it does not begin with a package's name, such as "httpx>=0.27"`)
	}
	rest := dep[len(found):]
	if strings.HasPrefix(rest, "@") {
		return errors.New("an address is not allowed: name the package and its version, the operator's index has it")
	}
	versions, marker, marked := strings.Cut(rest, ";")
	versions = strings.TrimSpace(versions)
	if inner, ok := strings.CutPrefix(versions, "("); ok {
		if versions, ok = strings.CutSuffix(inner, ")"); !ok {
			return errors.New("a bracket is not closed: close it")
		}
	}
	if _, err := parseSpecifiers(versions); err != nil {
		return err
	}
	if !marked {
		return nil
	}
	return checkMarker(marker)
}

// marker reads the condition after ";": comparisons joined by and, or and brackets.
type marker struct {
	tokens []string
	depth  int
}

func checkMarker(s string) error {
	m := &marker{}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		found := markerToken().FindStringSubmatch(s)
		if found == nil {
			return fmt.Errorf("the marker after the semicolon cannot be read at %q: write it as in python_version < \"3.12\"", s)
		}
		m.tokens, s = append(m.tokens, found[1]), s[len(found[0]):]
	}
	if err := m.expression(); err != nil {
		return err
	}
	if len(m.tokens) > 0 {
		return fmt.Errorf("the marker has %q too much", m.tokens[0])
	}
	return nil
}

func (m *marker) next() string {
	if len(m.tokens) == 0 {
		return ""
	}
	t := m.tokens[0]
	m.tokens = m.tokens[1:]
	return t
}

func (m *marker) expression() error {
	for {
		if err := m.term(); err != nil {
			return err
		}
		if len(m.tokens) == 0 || m.tokens[0] != "and" && m.tokens[0] != "or" {
			return nil
		}
		m.next()
	}
}

// term is a comparison or an expression in brackets.
func (m *marker) term() error {
	if len(m.tokens) > 0 && m.tokens[0] == "(" {
		m.next()
		if m.depth++; m.depth > 16 {
			return errors.New("the marker has more than 16 brackets inside each other: write it with fewer")
		}
		if err := m.expression(); err != nil {
			return err
		}
		m.depth--
		if t := m.next(); t != ")" {
			return errors.New("a bracket of the marker is not closed: close it")
		}
		return nil
	}
	left, op := m.next(), m.next()
	if op == "not" {
		op += " " + m.next()
	}
	right := m.next()
	if !markerValue(left) || !markerValue(right) || !slices.Contains([]string{"<", "<=", ">", ">=", "==", "===", "!=", "~=", "in", "not in"}, op) {
		return fmt.Errorf("the marker has no comparison at %q", strings.TrimSpace(left+" "+op+" "+right))
	}
	return nil
}

func markerValue(t string) bool {
	return strings.HasPrefix(t, `"`) || strings.HasPrefix(t, "'") || slices.Contains(markerNames, t)
}
