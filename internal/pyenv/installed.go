package pyenv

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

const mostPackages = 1000 // listed of one environment

// distInfo matches the folder that an installed package has, with its name and version. Other names are not listed: packages
// choose the names of these folders, and they are shown on a terminal.
var distInfo = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._]{0,99})-(v?[0-9][A-Za-z0-9._+!]{0,99})\.dist-info$`)

// installed lists the packages in an environment, as "name==version" with the name in its normal form, sorted.
func installed(folder string) []string {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil
	}
	defer root.Close()
	var out []string
	for _, site := range sitePackages {
		found, _ := fs.Glob(root.FS(), path.Join(site, "*.dist-info"))
		for _, p := range found {
			m := distInfo().FindStringSubmatch(p[strings.LastIndexByte(p, '/')+1:])
			if m != nil && len(out) < mostPackages {
				out = append(out, normalName(m[1])+"=="+m[2])
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// normalName returns a package's name as in the index: lower case, one dash for each run of dashes, dots and underscores.
func normalName(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-_.", r) }), "-")
}

// sitePackages are where an environment has its packages, as patterns.
var sitePackages = []string{"lib/python3*/site-packages", "Lib/site-packages"}

// hasModule reports whether an environment has a module, such as "yaml" or "google.genai".
func hasModule(folder, module string) bool {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return false
	}
	defer root.Close()
	file := strings.ReplaceAll(module, ".", "/")
	for _, site := range sitePackages {
		for _, form := range []string{"", ".py", ".*.so", ".so", ".*.pyd"} {
			if found, _ := fs.Glob(root.FS(), path.Join(site, file)+form); len(found) > 0 {
				return true
			}
		}
	}
	return false
}
