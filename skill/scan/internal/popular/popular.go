// Package popular knows the names of packages that many use, so that a name that is nearly one of them is seen.
package popular

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/near"
)

var (
	//go:embed pypi.txt
	pypi string
	//go:embed npm.txt
	npm string
)

// names are the names in each registry, as it compares them.
var names = sync.OnceValue(func() map[string][]string {
	return map[string][]string{"pypi": strings.Fields(fold(pypi)), "npm": strings.Fields(npm)}
})

// separators are what PyPI does not tell apart in a name.
var separators = lazyregexp.New(`[._-]+`)

func fold(s string) string { return separators().ReplaceAllString(strings.ToLower(s), "-") }

// shortest is how many letters a name has at least: shorter ones are near many.
const shortest = 5

// Near returns the popular name of a registry, "pypi" or "npm", that a name differs from by one letter more, less or other, or by two
// that changed places. It returns "" if there is none, and for a popular name itself. It is safe for concurrent use.
func Near(registry, name string) string {
	name = strings.ToLower(name)
	if registry == "pypi" {
		name = fold(name)
	}
	if len(name) < shortest {
		return ""
	}
	found := near.One(name, names()[registry])
	if len(found) < shortest {
		return ""
	}
	return found
}
