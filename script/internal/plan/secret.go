package plan

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/internal/variable"
)

// Secrets returns what replaces the secrets of a run in its output: the values of the variables that the script got from the
// operator, whose environment is env, or as given by the caller, and the keys of model providers that the operator has.
func Secrets(p *Passing, env []string, given map[string]string) *redact.Redactor {
	var list []redact.Secret
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case FromOperator(name):
		case p.Allows(name) && IsSecret(name, value), variable.IsKey(name) && IsProviderKey(name):
			list = append(list, redact.Secret{Name: name, Value: value})
			list = append(list, passwords(name, value)...)
		}
	}
	for name, value := range given {
		if IsSecret(name, value) {
			list = append(list, redact.Secret{Name: name, Value: value})
			list = append(list, passwords(name, value)...)
		}
	}
	slices.SortFunc(list, func(a, b redact.Secret) int { return strings.Compare(a.Name, b.Name) })
	return redact.New(list)
}

// passwords returns the password in a value that is an address: programs print it alone too.
func passwords(name, value string) []redact.Secret {
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return nil
	}
	password, _ := u.User.Password()
	return []redact.Secret{{Name: name, Value: password}}
}

// IsSecret reports whether a variable holds what must not be printed. A name such as GITHUB_TOKEN shows that. With another
// name the value counts, unless it is plainly a setting: a number, words, a path, or an address without a password.
func IsSecret(name, value string) bool {
	if variable.IsKey(name) {
		return true
	}
	if u, err := url.Parse(value); err == nil && u.Scheme != "" && u.Host != "" {
		return u.User != nil || u.RawQuery != ""
	}
	return !strings.ContainsAny(value, "/ \\.@") && len(value) >= 20 && mixed(value)
}

// mixed reports whether a text has letters and three digits or more, as keys have and words do not.
func mixed(text string) bool {
	letters, digits := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return letters > 0 && digits >= 3
}
