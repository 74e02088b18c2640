package survey

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestUsesAbove(t *testing.T) {
	there := strings.Fields("../lib ../lib/common.py ../lib/util.js ../common.sh ../../shared ../../shared/core.py ../../config ../../config/__init__.py ../scripts ../x.json")
	has := func(name string) bool { return slices.Contains(there, name) }
	for _, row := range []struct{ file, text, want string }{
		{"a.py", "ROOT = Path(__file__).resolve().parents[2] / 'lib' / 'common.py'", "../lib/common.py"},
		{"a.py", "open(Path(__file__).parent.parent.parent / 'x.json', encoding='lib')", "../x.json"},
		{"a.py", "sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..', 'lib'))\nimport common", "../lib/common.py"},
		{"a.py", "ROOT = Path(__file__).resolve().parents[3]\nsys.path.insert(0, str(ROOT))\nfrom config.paths import x\nimport yaml", "../../config/__init__.py"},
		{"a.py", "HERE = os.path.dirname(__file__)\nLIB = os.path.join(HERE, '../..', 'lib')\nprint(os.path.join(LIB, 'common.py'))", "../lib/common.py"},
		{"a.py", "print(f'{Path(__file__).parent}/../../x.json')", "../x.json"},
		{"a.py", "R = Path(__file__).parents[2]\nprint(f\"{R}/x.json\")", "../x.json"},
		{"a.js", "fs.read(`${__dirname}/../../x.json`)", "../x.json"},
		{"a.js", "fs.read(`${__dirname}/../../${name}/x.json`)", ""},
		{"a.sh", "DIR=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\"\nsource \"$DIR/../../common.sh\"", "../common.sh"},
		{"a.sh", ". $(dirname $0)/../../common.sh", "../common.sh"},
		{"a.js", "const u = require('../../lib/util')", "../lib/util.js"},
		{"a.mjs", "import u from '../../lib/util.js'", "../lib/util.js"},
		{"a.mjs", "new URL('../../x.json', import.meta.url)", "../x.json"},
		{"a.mjs", "const d = path.dirname(fileURLToPath(import.meta.url))\nread(path.join(d, '..', '..', 'x.json'))", "../x.json"},
		{"a.js", "const d = path.join(__dirname, '..', '..', 'lib')", "../lib"},
		// what is in the skill, not there, not written out, or only said
		{"a.py", "X = Path(__file__).parent.parent / 'lib'", ""},
		{"a.py", "X = Path(__file__).parents[2] / 'other'", ""},
		{"a.py", "X = Path(__file__).parents[2]", ""},
		{"a.py", "R = Path(__file__).parents[2]\nS = R / name / 'scripts'\nsys.path.insert(0, S)", ""},
		{"a.sh", "R=\"$(dirname \"$0\")/../..\"\nls \"$R/$1/scripts\"", ""},
		{"a.py", "# Path(__file__).parents[2] / 'lib'", ""},
		{"a.py", "open('../lib')", ""},
	} {
		if got := strings.Join(UsesAbove(fstest.MapFS{}, "scripts/"+row.file, []byte(row.text), has), " "); got != row.want {
			t.Errorf("%s: %q: got %q, want %q", row.file, row.text, got, row.want)
		}
	}
}

// A text of any kind is read within bounds, and only what is above and there is named.
func FuzzUsesAbove(f *testing.F) {
	f.Add("scripts/a.py", "R = Path(__file__).parents[2]\nsys.path.insert(0, R / 'lib')\nimport common")
	f.Add("a.sh", ". \"$(dirname \"$0\")/../common.sh\"")
	f.Add("x/a.js", "require('../../lib/util')")
	f.Fuzz(func(t *testing.T, file, text string) {
		asked := map[string]bool{}
		has := func(name string) bool {
			asked[name] = len(name)%2 == 0
			return asked[name]
		}
		found := UsesAbove(fstest.MapFS{}, file, []byte(text), has)
		if len(found) > 3*mostUsed {
			t.Errorf("%d paths", len(found))
		}
		for _, name := range found {
			if !strings.HasPrefix(name, "../") || !asked[name] {
				t.Errorf("%q", name)
			}
		}
	})
}
