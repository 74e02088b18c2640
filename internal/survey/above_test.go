package survey

import (
	"strings"
	"testing"
)

func TestLooksAbove(t *testing.T) {
	for text, want := range map[string]int{
		"ROOT = Path(__file__).resolve().parent.parent.parent / 'other'":                          1,
		"ROOT = Path(__file__).resolve().parent.parent / 'assets'":                                0,
		"x = Path(__file__).parents[2]":                                                           1,
		"x = Path(__file__).parents[1]":                                                           0,
		"sys.path.insert(0, os.path.join(os.path.dirname(__file__), \"..\", \"..\", \"shared\"))": 1,
		"sys.path.insert(0, os.path.join(os.path.dirname(__file__), \"..\", \"lib\"))":            0,
		"DIR=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")/../..\" && pwd)\"":                         1,
		"DIR=$(dirname \"$0\")/..":                                                                0,
		"const root = path.join(__dirname, '../../lib')":                                          1,
		"const root = path.join(__dirname, '..')":                                                 0,
		"new URL('../../../x.json', import.meta.url)":                                             2,
		"open('../../../x')\nprint(__file__)":                                                     0,
		"HERE = Path(__file__).parent\nROOT = HERE.parent\nX = ROOT.parent / 'x'":                 1,
		"HERE = Path(__file__).parent\nROOT = HERE.parent\nX = ROOT / 'x'":                        0,
		"HERE = Path(__file__).parent\nX = out.parent.parent.parent.parent":                       0,
		"DIR=\"$(cd \"$(dirname \"$0\")\" && pwd)\"\n. \"$DIR/../../lib/common.sh\"":              1,
		"const here = __dirname\nimport(here + '/../../x.js')":                                    1,
		"": 0,
	} {
		file := "scripts/a.py"
		if strings.HasPrefix(text, "DIR") {
			file = "scripts/a.sh"
		}
		if got := LooksAbove(file, []byte(text)); got != want {
			t.Errorf("%q: got %d", text, got)
		}
	}
}

// An import goes from the script's own place.
func TestLooksAboveByImport(t *testing.T) {
	for text, want := range map[string]int{
		"const lib = require('../../lib')":              1,
		"const all = require('../../..')":               2,
		"import { a } from \"../../../shared/a.js\"":    2,
		"const x = await import('../../x.mjs')":         1,
		"export * from '../../index.js'":                1,
		"import a from '../lib/a.js'":                   0,
		"import a from './../scripts/../a.js'":          0,
		"// const lib = require('../../lib')":           0,
		"console.log('taken from ../../lib')":           0,
		"import fs from 'fs'\nimport a from './a.js'\n": 0,
	} {
		if got := LooksAbove("scripts/a.js", []byte(text)); got != want {
			t.Errorf("%q: got %d", text, got)
		}
	}
	if got := LooksAbove("scripts/a.py", []byte("x = require('../../lib')")); got != 0 {
		t.Errorf("in Python: got %d", got)
	}
}

// A text of any kind is read within bounds.
func FuzzLooksAbove(f *testing.F) {
	f.Add("scripts/a.py", "Path(__file__).parents[2]")
	f.Add("a.sh", "$(dirname \"$0\")/..")
	f.Fuzz(func(t *testing.T, file, text string) {
		if LooksAbove(file, []byte(text)) > 0 && !ownPlace().MatchString(text) && !ownFile().MatchString(text) {
			t.Errorf("%q looks nowhere", text)
		}
	})
}
