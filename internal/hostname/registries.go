package hostname

import (
	"slices"
	"strings"
)

// registry is where package managers get packages from.
type registry struct {
	name     string // for people
	hosts    []string
	programs string // that fetch a package from it and run that, in words
}

// registries are the public registries of packages, as one group: one question is about all of them.
var registries = []registry{
	{"npm", []string{"registry.npmjs.org", "registry.yarnpkg.com"}, "npx npm pnpm pnpx yarn bunx bun deno"},
	{"PyPI", []string{"pypi.org", "files.pythonhosted.org"}, "uvx uv pipx"},
	{"crates.io", []string{"crates.io", "index.crates.io", "static.crates.io"}, ""},
	{"Go", []string{"proxy.golang.org", "sum.golang.org"}, ""},
	{"GitHub", []string{"github.com", "api.github.com", "codeload.github.com", "raw.githubusercontent.com", "objects.githubusercontent.com",
		"release-assets.githubusercontent.com"}, ""},
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

// RegistryOf returns the hosts of the registry from which a program fetches a package that it then runs, as npx does; nil if it does not.
func RegistryOf(program string) []string {
	for _, r := range registries {
		if slices.Contains(strings.Fields(r.programs), program) {
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
