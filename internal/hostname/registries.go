package hostname

import "slices"

// registry is where package managers get packages from.
type registry struct {
	name  string // for people
	hosts []string
}

// registries are the public registries of packages, as one group: one question is about all of them.
var registries = []registry{
	{"npm", []string{"registry.npmjs.org", "registry.yarnpkg.com"}},
	{"PyPI", []string{"pypi.org", "files.pythonhosted.org"}},
	{"crates.io", []string{"crates.io", "index.crates.io", "static.crates.io"}},
	{"Go", []string{"proxy.golang.org", "sum.golang.org"}},
	{"GitHub", []string{"github.com", "api.github.com", "codeload.github.com", "raw.githubusercontent.com", "objects.githubusercontent.com",
		"release-assets.githubusercontent.com"}},
}

// IsRegistry reports whether a canonical host belongs to a public registry of packages.
func IsRegistry(host string) bool { return slices.Contains(Registries(), host) }

// Registries returns the hosts of all public registries of packages.
func Registries() []string {
	var out []string
	for _, r := range registries {
		out = append(out, r.hosts...)
	}
	return out
}

// Registry returns the hosts of one public registry of packages: "npm", "PyPI", "crates.io", "Go" or "GitHub".
func Registry(name string) []string {
	for _, r := range registries {
		if r.name == name {
			return slices.Clone(r.hosts)
		}
	}
	return nil
}

// RegistryNames returns the names of the public registries, for people.
func RegistryNames() []string {
	var out []string
	for _, r := range registries {
		out = append(out, r.name)
	}
	return out
}
