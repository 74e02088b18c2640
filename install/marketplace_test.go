package install

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

func marketplaceOf(text string) (marketplace, []string) {
	return readMarketplace(fstest.MapFS{marketplaceFile: {Data: []byte(text), Mode: fs.FileMode(0o644)}})
}

// A list of a stranger's may name any number of plugins elsewhere, and none of them at length.
func TestMarketplaceElsewhere(t *testing.T) {
	one := fmt.Sprintf(`{"name":%q,"source":{"repo":%q}},`, strings.Repeat("n", 5000), strings.Repeat("r", 5000))
	_, notes := marketplaceOf(`{"plugins":[` + strings.TrimSuffix(strings.Repeat(one, maxElsewhere+5), ",") + `]}`)
	if len(notes) != maxElsewhere || len(notes[0]) > 400 {
		t.Errorf("%d notes, the first of %d bytes", len(notes), len(notes[0]))
	}
}

// No list makes the reader fail, or a folder that is not in the repository belong to a plugin.
func FuzzMarketplace(f *testing.F) {
	for _, text := range []string{
		`{"plugins":[{"name":"a","source":"./plugins/a"},{"name":"b","source":{"source":"github","repo":"x/y"}}]}`,
		`{"metadata":{"pluginRoot":"./p"},"plugins":[{"name":"a","source":"a","skills":["./s","../../t"]}]}`, `{"plugins":[{"source":null,"skills":5}]}`, `[`,
	} {
		f.Add(text, "plugins/a/skills/x")
	}
	f.Fuzz(func(t *testing.T, text, dir string) {
		plugins, notes := marketplaceOf(text)
		if len(notes) > maxElsewhere || len(strings.Join(notes, "")) > maxElsewhere*1000 {
			t.Fatalf("%d notes", len(notes))
		}
		if !json.Valid([]byte(text)) && len(plugins) > 0 && len(notes) == 0 && json.NewDecoder(strings.NewReader(text)).Decode(new(any)) != nil {
			t.Fatalf("%q has plugins", text)
		}
		if !fs.ValidPath(dir) {
			return
		}
		below := dir + "/below"
		if name := plugins.of(dir); plugins[below] == "" && plugins.of(below) != name {
			t.Fatalf("%q is of %q, what is below it is not", dir, name)
		}
	})
}
