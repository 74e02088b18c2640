package pyenv

import (
	"net/url"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/hostname"
)

// fileHosts has the hosts on which well-known indexes keep their files, where that is another one.
var fileHosts = map[string]string{"pypi.org": "files.pythonhosted.org", "test.pypi.org": "test-files.pythonhosted.org"}

// pythonHosts are the hosts from which uv gets a Python, unless the operator names a mirror.
var pythonHosts = []string{"github.com", "release-assets.githubusercontent.com", "objects.githubusercontent.com", "releases.astral.sh"}

// indexHosts returns the hosts that uv may reach for packages: those of the operator's settings of uv, or else of the public index,
// and those of Options.Hosts.
func (s *Store) indexHosts(settings map[string]string) []string {
	out := slices.Clone(s.o.Hosts)
	if settings["UV_DEFAULT_INDEX"] == "" {
		out = append(out, hostname.Registry("PyPI")...)
	}
	for _, name := range []string{"UV_DEFAULT_INDEX", "UV_INDEX", "UV_FIND_LINKS"} {
		for _, host := range hostsIn(settings[name]) {
			if out = append(out, host); fileHosts[host] != "" {
				out = append(out, fileHosts[host])
			}
		}
	}
	return distinct(out)
}

// sourceHosts returns the hosts from which uv may get a Python.
func (s *Store) sourceHosts(env map[string]string) []string {
	own := append(hostsIn(env["UV_PYTHON_INSTALL_MIRROR"]), hostsIn(env["UV_PYTHON_DOWNLOADS_JSON_URL"])...)
	if env["UV_PYTHON_INSTALL_MIRROR"] == "" {
		own = append(own, pythonHosts...)
	}
	return distinct(append(own, s.o.Hosts...))
}

// hostsIn returns the hosts in a list of addresses, which may have names before them, as in work=https://host/simple.
func hostsIn(list string) []string {
	var out []string
	for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' }) {
		if name, address, ok := strings.Cut(item, "="); ok && !strings.Contains(name, "://") {
			item = address
		}
		if u, err := url.Parse(item); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
			out = append(out, u.Host)
		}
	}
	return out
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// FilesOf returns the host from which an index of Python packages has its files; "" if it is not known that another one has them.
func FilesOf(index string) string { return fileHosts[index] }
