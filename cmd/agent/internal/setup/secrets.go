package setup

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/lockfile"
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

// Credentials is the variable that names the folder of what a service was given, see systemd.exec(5).
const Credentials = "CREDENTIALS_DIRECTORY"

// maxSecret is the most bytes of a file of secrets.
const maxSecret = 1 << 20

// Secret reads a file that only the user may read; nil for "". It takes any file in the folder credentials: the manager of the service protects
// those, and their modes do not show it, as with LoadCredential of systemd. "" means that there is no such folder.
func Secret(path, credentials string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	b, err := lockfile.ReadPrivate(path, maxSecret)
	if err != nil {
		return nil, err
	}
	if credentials != "" && filepath.Dir(path) == filepath.Clean(credentials) {
		return b, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others: chmod 600 %s", path, path)
	}
	return b, nil
}
