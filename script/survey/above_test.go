package survey

import "testing"

func TestLooksAbove(t *testing.T) {
	for text, want := range map[string]bool{
		"ROOT = Path(__file__).resolve().parent.parent.parent / 'other'":                          true,
		"ROOT = Path(__file__).resolve().parent.parent / 'assets'":                                false,
		"x = Path(__file__).parents[2]":                                                           true,
		"x = Path(__file__).parents[1]":                                                           false,
		"sys.path.insert(0, os.path.join(os.path.dirname(__file__), \"..\", \"..\", \"shared\"))": true,
		"sys.path.insert(0, os.path.join(os.path.dirname(__file__), \"..\", \"lib\"))":            false,
		"DIR=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")/../..\" && pwd)\"":                         true,
		"DIR=$(dirname \"$0\")/..":                                                                false,
		"const root = path.join(__dirname, '../../lib')":                                          true,
		"const root = path.join(__dirname, '..')":                                                 false,
		"new URL('../../../x.json', import.meta.url)":                                             true,
		"open('../../../x')\nprint(__file__)":                                                     false,
		"HERE = Path(__file__).parent\nROOT = HERE.parent\nX = ROOT.parent / 'x'":                 true,
		"HERE = Path(__file__).parent\nROOT = HERE.parent\nX = ROOT / 'x'":                        false,
		"HERE = Path(__file__).parent\nX = out.parent.parent.parent.parent":                       false,
		"DIR=\"$(cd \"$(dirname \"$0\")\" && pwd)\"\n. \"$DIR/../../lib/common.sh\"":              true,
		"const here = __dirname\nimport(here + '/../../x.js')":                                    true,
		"": false,
	} {
		if got := LooksAbove("scripts/a.py", []byte(text)); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

// A text of any kind is read within bounds.
func FuzzLooksAbove(f *testing.F) {
	f.Add("scripts/a.py", "Path(__file__).parents[2]")
	f.Add("a.sh", "$(dirname \"$0\")/..")
	f.Fuzz(func(t *testing.T, file, text string) {
		if LooksAbove(file, []byte(text)) && !ownPlace().MatchString(text) {
			t.Errorf("%q looks nowhere", text)
		}
	})
}
