package script

import (
	"path"
	"slices"
	"strings"
)

// standard is the environment of every script (security 1.2, C28).
var standard = []string{
	"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1",
	"PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1", "PYTHONUTF8=1",
}

// network is what a script with a network needs of the operator's environment.
var network = []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "TZ"}

// forbidden never passes, whatever a manifest says: these make interpreters run something else.
var forbidden = []string{
	"LD_*", "DYLD_*", "GLIBC_TUNABLES", "GCONV_PATH", "BASH_ENV", "ENV", "IFS", "PYTHON*", "NODE_OPTIONS", "NODE_PATH",
	"PERL5*", "PERLLIB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "GIT_*", "SSH_*", "UV_*", "PIP_*", "PATH", "HOME", "TMPDIR", "AGENT_*",
}

// environment builds a script's environment: the standard one, the engine's own variables, and of
// the operator's those that the manifest asks for (R34).
func environment(operator, allowed []string, own map[string]string) []string {
	env := slices.Clone(standard)
	for _, kv := range operator {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(network, name) || matches(allowed, name) && !matches(forbidden, name) {
			env = append(env, kv)
		}
	}
	for _, k := range []string{"HOME", "TMPDIR", "AGENT_SKILL_DIR", "AGENT_SKILL_NAME", "AGENT_WORKSPACE", "AGENT_SKILL_WORK_DIR", "AGENT_SKILL_CACHE_DIR"} {
		env = append(env, k+"="+own[k])
	}
	return env
}

func matches(globs []string, name string) bool {
	for _, g := range globs {
		if ok, err := path.Match(g, name); err == nil && ok {
			return true
		}
	}
	return false
}
