package setup

import (
	"io"
	"strings"

	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/script"
)

// WithoutProviderKeys returns functions that replace the keys of model providers that an environment has: in a text, and in what a
// writer passes on to another one.
func WithoutProviderKeys(environ []string) (text func(string) string, writer func(io.Writer) io.Writer) {
	r := redact.New(secretsOf(environ, func(name string) bool { return script.IsProviderKey(name) && script.IsKey(name) }))
	return r.String, r.Writer
}

// secretsOf returns the values of the variables that are chosen.
func secretsOf(environ []string, chosen func(name string) bool) []redact.Secret {
	var secrets []redact.Secret
	for _, kv := range environ {
		if name, value, _ := strings.Cut(kv, "="); chosen(name) {
			secrets = append(secrets, redact.Secret{Name: name, Value: value})
		}
	}
	return secrets
}

// Redactor returns a function that replaces the values of the operator's variables with secrets.
func Redactor(environ []string) func(string) string {
	return redact.New(secretsOf(environ, script.IsKey)).String
}
