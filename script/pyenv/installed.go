package pyenv

import (
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

const mostPackages = 1000 // that are listed of one environment

// distInfo is a folder that an installed package has: its name and version. Others are not listed: packages bring these
// folders, and their names end on a reader's terminal.
var distInfo = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._]{0,99})-(v?[0-9][A-Za-z0-9._+!]{0,99})\.dist-info$`)

// installed lists the packages in an environment, as "name==version" with the name in its normal form, sorted.
func installed(folder string) []string {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil
	}
	defer root.Close()
	var out []string
	for _, pattern := range []string{"lib/python3*/site-packages/*.dist-info", "Lib/site-packages/*.dist-info"} {
		found, _ := fs.Glob(root.FS(), pattern)
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

// normalName is a package's name as the index has it: lower case, one dash for each run of dashes, dots and underscores.
func normalName(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-_.", r) }), "-")
}
