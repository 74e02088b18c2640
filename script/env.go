package script

import (
	"maps"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const fixedPath = "/usr/local/bin:/usr/bin:/bin"

// standard is the environment of every script (security 1.2, C28).
var standard = map[string]string{
	"PATH": fixedPath, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
	"PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1", "PYTHONUTF8": "1",
}

// network is what a program with a network needs of the operator's environment.
var network = []string{
	"SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "all_proxy", "no_proxy",
}

// system is what programs of Windows cannot do without.
var system = []string{"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"}

// choosing is what shims (pyenv, asdf, mise, rbenv, nodenv, plenv) and uv find their versions by.
var choosing = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP",
	"PYENV_*", "ASDF_*", "RBENV_*", "NODENV_*", "PLENV_*", "MISE_DATA_DIR", "MISE_CONFIG_DIR", "MISE_*_VERSION", "UV_PYTHON_INSTALL_DIR",
}

// dangerous never passes, whatever a manifest asks for: these make programs load or run something else,
// or are the engine's own (security 1.2).
var dangerous = []string{
	"LD_*", "DYLD_*", "GLIBC_TUNABLES", "GCONV_PATH", "BASH_ENV", "BASH_FUNC_*", "BASHOPTS", "SHELLOPTS", "ENV", "IFS", "PS4",
	"PYTHON*", "NODE_OPTIONS", "NODE_PATH", "PERL5*", "PERLLIB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
	"JDK_JAVA_OPTIONS", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "SSLKEYLOGFILE", "GIT_*", "SSH_*", "UV_*", "PIP_*",
	"PATH", "HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "AGENT_*",
}

// allows reports whether a manifest's permissions.env name the variable and it is not dangerous.
func allows(permissions []string, name string) bool {
	return name != "" && !matchesAny(dangerous, strings.ToUpper(name)) &&
		slices.ContainsFunc(permissions, func(g string) bool { return namesVariables(g) && matchesAny([]string{g}, name) })
}

// namesVariables reports whether a pattern of permissions.env is one: a name, or a prefix with wildcards
// after it. "*" and "*_TOKEN" would forward what nobody had in mind.
func namesVariables(glob string) bool {
	_, err := path.Match(glob, "")
	return err == nil && glob != "" && !strings.ContainsAny(glob[:1], "*?[\\") && !matchesAny(dangerous, strings.ToUpper(glob))
}

func matchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		ok, err := path.Match(g, name)
		return err == nil && ok
	})
}

// environment is a script's whole environment by name: the standard one, of the operator's what the
// network needs and what the manifest asks for (R34), and the engine's own variables.
func (h *Host) environment(permissions []string, own map[string]string) map[string]string {
	env := maps.Clone(standard)
	for _, kv := range h.Env {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains(network, name) || name == "TZ" || allows(permissions, name) ||
			runtime.GOOS == "windows" && slices.Contains(system, strings.ToUpper(name)) {
			env[name] = value
		}
	}
	if runtime.GOOS == "windows" {
		own["USERPROFILE"], own["TEMP"], own["TMP"] = own["HOME"], own["TMPDIR"], own["TMPDIR"]
		env["PATH"] = filepath.Join(env["SYSTEMROOT"], "System32") + ";" + env["SYSTEMROOT"]
	}
	maps.Copy(env, own)
	return env
}

// questionEnvironment is the whole environment of a program that is asked what it is (see ask), in dir.
func (h *Host) questionEnvironment(dir string) []string {
	env := map[string]string{"PATH": fixedPath, "LANG": "C.UTF-8", "NO_COLOR": "1", "UV_CACHE_DIR": filepath.Join(dir, "uv")}
	for _, kv := range h.Env {
		name, value, _ := strings.Cut(kv, "=")
		if matchesAny(choosing, name) || runtime.GOOS == "windows" && slices.Contains(system, strings.ToUpper(name)) {
			env[name] = value
		}
	}
	return pairs(env)
}

// withCommands adds the folders of the commands that the skill requires (R66) to PATH: what makes it
// available must be there when it runs.
func (h *Host) withCommands(searchPath string, commands []string) string {
	for _, name := range commands {
		p, err := h.LookPath(name)
		if err != nil || !filepath.IsAbs(p) {
			continue
		}
		if dir := filepath.Dir(p); !slices.Contains(filepath.SplitList(searchPath), dir) {
			searchPath += string(filepath.ListSeparator) + dir
		}
	}
	return searchPath
}

// pairs is an environment as a process takes it, in a stable order.
func pairs(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}
