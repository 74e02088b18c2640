package servers

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
)

// filledServer is a server with the values of its variables.
type filledServer struct {
	config.Server
	path    string // of the program of a local one, absolute
	secrets []redact.Secret
}

// fill returns a server with the values of the variables that its entry names, and the path of its program. A project's entry gets no
// key of a model's provider.
func (m *Servers) fill(e *Entry) (*filledServer, error) {
	out := &filledServer{Server: e.Server}
	var missing, refused []string
	expand := func(text string) string {
		return variable.Expand(text, func(name string) (string, bool) {
			if strings.HasPrefix(strings.ToUpper(name), "AGENT_") || e.State != Own && script.IsProviderKey(name) {
				refused = append(refused, name)
				return "", true
			}
			value, ok := m.Sys.Lookup(name)
			if ok && script.IsSecret(name, value) {
				out.secrets = append(out.secrets, redact.Secret{Name: name, Value: value})
			}
			return value, ok
		}, func(name string) { missing = append(missing, name) })
	}
	pairs := func(in map[string]string) map[string]string {
		all := map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(in)) {
			if all[name] = expand(in[name]); all[name] != "" && (e.URL != "" || script.IsSecret(name, all[name])) {
				out.secrets = append(out.secrets, redact.Secret{Name: name, Value: all[name]})
			}
		}
		return all
	}
	out.Args = slices.Clone(e.Args)
	for i := range out.Args {
		out.Args[i] = expand(out.Args[i])
	}
	out.Env, out.Headers, out.URL = pairs(e.Env), pairs(e.Headers), expand(e.URL)
	if o := e.OAuth; o != nil {
		filled := *o
		filled.ClientSecret = expand(o.ClientSecret)
		out.OAuth = &filled
	}
	switch {
	case len(refused) > 0:
		return nil, failure.Denied(fmt.Errorf("it names %s, which it does not get", refused[0]), "leave it out of the entry")
	case len(missing) > 0:
		slices.Sort(missing)
		return nil, &failure.Error{Exit: failure.ExitFailure, Code: "failed", Hint: "export " + missing[0] + "=…, or write ${" + missing[0] + ":-DEFAULT}",
			Err: fmt.Errorf("it needs variables that are not set: %s", strings.Join(slices.Compact(missing), ", "))}
	}
	if err := m.Settings.Policy().Server(out.asked()).Refuse("the server %q is not used", e.Label); err != nil {
		return nil, err
	}
	if e.URL != "" {
		return out, checkFilled(out)
	}
	var err error
	out.path, err = m.program(e)
	return out, err
}

// asked returns what the organisation decides about.
func (s *filledServer) asked() *policy.Server {
	if s.URL != "" {
		return &policy.Server{Name: s.Label, URL: s.URL}
	}
	return &policy.Server{Name: s.Label, Command: append([]string{s.Command}, s.Args...)}
}

// checkFilled checks the values of a server that is reached over HTTP.
func checkFilled(s *filledServer) error {
	if mcphost.CheckURL(s.URL) != nil {
		return errors.New("its url does not begin with https once its variables are filled in")
	}
	for name, value := range s.Headers {
		if strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf("the value of its header %s has a line break", name)
		}
	}
	return nil
}

// program returns the path of the program of a server.
func (m *Servers) program(e *Entry) (string, error) {
	switch {
	case filepath.IsAbs(e.Command):
		return e.Command, nil
	case strings.HasPrefix(e.Command, "~/"):
		return filepath.Join(m.Sys.Home, e.Command[2:]), nil
	case strings.ContainsAny(e.Command, `/\`):
		return filepath.Join(m.dir(&e.Server), e.Command), nil
	}
	path, err := m.Settings.FindProgram(e.Command)
	if err != nil {
		return "", failure.NotFound(fmt.Errorf("there is no program %s", e.Command), "install it, or name it by its path; agent doctor shows the folders that are searched")
	}
	return path, nil
}

// redactor replaces the secrets of a server.
func (s *filledServer) redactor() *redact.Redactor { return redact.New(s.secrets) }
