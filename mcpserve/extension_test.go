package mcpserve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/internal/skilluri"
	"github.com/agent-base/agent-base/skill"
)

// ask calls a method of the extension.
func ask(t *testing.T, c *mcp.ClientSession, method string, p *listParams) (map[string]any, error) {
	t.Helper()
	r, err := mcp.CallCustomMethod[*listParams, *anything](t.Context(), c, method, p)
	if err != nil {
		return nil, err
	}
	return r.All, nil
}

// anything is a result as it is.
type anything struct {
	mcp.ResultBase
	All map[string]any
}

func (a *anything) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &a.All) }

// SEP-2640: what is published, and how.
func TestExtension(t *testing.T) {
	files := map[string]string{
		"greet/SKILL.md":              "---\nname: greet\ndescription: Greets people.\nversion: 1.10\nmetadata:\n  level: \"3\"\n---\nHello.\n",
		"greet/docs/ü b.md":           "words",
		"greet/empty":                 "",
		"greet/a b%20c#d?.md":         "odd",
		"greet/large":                 strings.Repeat("x", skill.MaxResource+1),
		"greet/data.bin":              "\xff\xfe",
		"greet/inner/nested/SKILL.md": "---\nname: nested\ndescription: x\n---\n",
		"Bad_Name/SKILL.md":           "---\nname: Bad_Name\ndescription: The name rule of the standard refuses it.\n---\nBody\n",
		"none/SKILL.md":               "---\nname: none\n---\nIt has no description.\n",
		"grüße/SKILL.md":              "---\nname: grüße\ndescription: Another letter.\n---\nBody\n",
		"open/SKILL.md":               "---\nname: open\ndescription: Is never closed.\nBody\n",
		"keys/SKILL.md":               "---\nname: keys\ndescription: Has a file of secrets.\n---\nBody\n",
		"keys/.env":                   "TOKEN=1",
		"hidden/SKILL.md":             "---\nname: hidden\ndescription: Not for models.\ndisable-model-invocation: true\n---\nBody\n",
	}
	for i := range skilluri.MaxFiles {
		files[fmt.Sprintf("many/docs/%03d.md", i)] = "x"
	}
	files["many/SKILL.md"] = "---\nname: many\ndescription: Has one file too many.\n---\nBody\n"
	files["linked/SKILL.md"] = "---\nname: linked\ndescription: Has a link.\n---\nBody\n"
	w := newWorld(t, files)
	if err := os.Symlink("SKILL.md", filepath.Join(w.dir, "linked", "other.md")); err != nil {
		t.Fatal(err)
	}
	c := w.client(t, nil, "")
	list, err := ask(t, c, "skills/list", &listParams{})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(list)
	sum := sha256.Sum256([]byte(files["greet/SKILL.md"]))
	for _, want := range []string{`"resultType":"complete"`, `"cacheScope":"private"`, `"ttlMs":30000`, `"uri":"skill://greet/SKILL.md"`, `"frontmatter":{"description":"Greets people.","metadata":{"level":"3"},"name":"greet","version":1.1}`,
		`"digest":"sha256:` + hex.EncodeToString(sum[:]) + `"`, fmt.Sprintf(`"size":%d`, len(files["greet/SKILL.md"])), `skill://greet/docs/%C3%BC%20b.md`, `skill://greet/inner/nested/SKILL.md`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is missing: %s", want, b)
		}
	}
	for _, bad := range []string{"Bad_Name", "skill://keys", "hidden", "none/SKILL", "gr%C3", "skill://open", "skill://many", "skill://linked"} {
		if strings.Contains(string(b), bad) {
			t.Errorf("%s is published: %s", bad, b)
		}
	}
	for uri, served := range map[string]bool{"skill://greet/SKILL.md": true, "skill://greet/data.bin": false, "skill://hidden/SKILL.md": false, "skill://keys/SKILL.md": false, "skill://greet": false, "skill://none/SKILL.md": false} {
		if _, err := ask(t, c, "skills/get", &listParams{URI: uri}); (err == nil) != served {
			t.Errorf("skills/get %s: %v", uri, err)
		}
	}
	for uri, want := range map[string]string{"skill://greet/docs/%C3%BC%20b.md": "words", "skill://greet/SKILL.md": files["greet/SKILL.md"], "skill://greet/data.bin": "\xff\xfe", "skill://greet/a%20b%2520c%23d%3F.md": "odd",
		"skill://greet/large": files["greet/large"], "skill://keys/.env": "", "skill://keys/SKILL.md": "",
		"skill://hidden/SKILL.md": "", "skill://greet/%2e%2e/keys/.env": "", "skill://greet/none": "", "skill://GREET/SKILL.md": "", "skill://many/SKILL.md": "", "skill://linked/SKILL.md": "", "file:///etc/passwd": ""} {
		r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if want == "" {
			if err == nil {
				t.Errorf("%s was read", uri)
			}
			continue
		}
		if err != nil || r.Contents[0].Text+string(r.Contents[0].Blob) != want || r.Contents[0].URI != uri {
			t.Errorf("%s: %+v, %v", uri, r, err)
		}
	}
	if r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "skill://greet/empty"}); err != nil || r.Contents[0].Blob == nil {
		t.Errorf("an empty file: %+v, %v", r, err)
	}
	resources, err := c.ListResources(t.Context(), nil)
	if err != nil || len(resources.Resources) != 1 || resources.CacheScope != "private" {
		t.Fatalf("got %+v, %v", resources, err)
	}
	if r := resources.Resources[0]; r.URI != "skill://greet/SKILL.md" || r.Name != "greet" || r.Description != "Greets people." || r.MIMEType != "text/markdown" {
		t.Errorf("got %+v", r)
	}
	folder, err := ask(t, c, "resources/directory/read", &listParams{URI: "skill://greet"})
	b, _ = json.Marshal(folder["resources"])
	if err != nil || !strings.Contains(string(b), `{"mimeType":"inode/directory","name":"docs","uri":"skill://greet/docs"}`) || !strings.Contains(string(b), `"uri":"skill://greet/SKILL.md"`) {
		t.Errorf("got %s, %v", b, err)
	}
	for _, uri := range []string{"skill://greet/SKILL.md", "skill://hidden", "skill://keys", "skill://greet/none", "skill://greet/.."} {
		if _, err := ask(t, c, "resources/directory/read", &listParams{URI: uri}); err == nil {
			t.Errorf("%s is a folder", uri)
		}
	}
}

// Clients refuse a whole list for one skill that they read otherwise, so such a skill is not in it.
func TestUnpublished(t *testing.T) {
	for _, tt := range []struct{ front, file, why string }{
		{"license: MIT\nmetadata:\n  a: b\nallowed-tools: [Read]\nown: [1, {a: b}]\nversion: 1.10\nnone:\nday: 2026-01-02\nyes: on", "", ""},
		{"compatibility: " + strings.Repeat("x", 500), "", ""},
		{"compatibility: |\n  " + strings.Repeat("x", 500), "", "has more than 500 characters"},
		{"compatibility: \"\"", "", "compatibility"},
		{"compatibility:", "", "compatibility"},
		{"license: 2", "", "its license is not a text"},
		{"license:", "", "its license is not a text"},
		{"allowed-tools: [Read, 1]", "", "its allowed-tools is not a text or a list of texts"},
		{"allowed-tools:", "", "allowed-tools"},
		{"metadata:\n  a: 1", "", "its metadata is not a map of texts"},
		{"metadata:\n  a:\n    b: c", "", "its metadata is not a map of texts"},
		{"metadata: [a]", "", "metadata"},
		{"own: True", "", `"True" is without quotes`},
		{"own:\n  - a: 0x1F", "", `"0x1F" is without quotes`},
		{"own: +1", "", `"+1" is without quotes`},
		{"own: .inf", "", `".inf" is without quotes`},
		{"own: 007", "", `"007" is without quotes`},
		{"own: \"007\"", "", ""},
		{"1: x", "", `"1" is without quotes`},
		{"own: {~: x}", "", `"~" is without quotes`},
		{"license: MIT", `a\b`, "not possible on every system"},
		{"license: MIT", "nul", "not possible on every system"},
	} {
		t.Run(tt.front+tt.file, func(t *testing.T) {
			files := map[string]string{"odd/SKILL.md": "---\nname: odd\ndescription: Odd.\n" + tt.front + "\n---\nBody\n"}
			if tt.file != "" {
				files["odd/"+tt.file] = "x"
			}
			w := newWorld(t, files)
			if why, err := Unpublished(t.Context(), w.load(t, "odd")); err != nil || !strings.Contains(why, tt.why) || (why == "") != (tt.why == "") {
				t.Errorf("got %q, %v", why, err)
			}
		})
	}
}

// A file that changes while it is read is not given as what was published.
func TestChangedFile(t *testing.T) {
	w := newWorld(t, greet)
	k := w.load(t, "greet")
	as, err := publish(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	o := &opened{k, "scripts/hello.sh", as}
	if b, err := o.read("skill://greet/scripts/hello.sh"); err != nil || len(b) == 0 {
		t.Errorf("got %q, %v", b, err)
	}
	w.write(t, "greet/scripts/hello.sh", "other")
	if b, err := o.read("skill://greet/scripts/hello.sh"); !errors.Is(err, errChanged) {
		t.Errorf("got %q, %v", b, err)
	}
}

// load returns a skill, open until the end of the test.
func (w *world) load(t *testing.T, name string) *skill.Skill {
	t.Helper()
	c, err := w.o.Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	k, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Close() })
	return k
}
