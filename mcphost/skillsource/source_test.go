package skillsource_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/skilluri"
	"github.com/agent-base/agent-base/mcphost/skillsource"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltest"
)

// differs begins the error for what is not as the server published it.
const differs = "it is not what the server published"

func TestSource(t *testing.T) {
	skilltest.Source(t, func(t *testing.T) skill.Source { return source(t, pdf(t), skillsource.Options{}) })
}

// Nothing is read before it is asked for, and each file once.
func TestNoPrefetch(t *testing.T) {
	f := pdf(t)
	c := open(t, source(t, f, skillsource.Options{}))
	e := entry(t, c, "pdf")
	if _, err := e.Trust(t.Context()); err != nil {
		t.Fatal(err)
	}
	if place, err := e.Place(t.Context()); err != nil || !strings.HasPrefix(place, "mcp@.docs-") || strings.ContainsAny(place, " \\") {
		t.Errorf("place %q, %v", place, err)
	}
	if got := f.called(); !slices.Equal(got, []string{"skills/list"}) {
		t.Errorf("a list calls %q", got)
	}
	s, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	digest, err := s.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.Files(t.Context())
	if err != nil || len(files) != 3 {
		t.Errorf("files %v, %v", files, err)
	}
	if got := f.called(); !slices.Equal(got, []string{"read skill://office/pdf/SKILL.md"}) {
		t.Errorf("loading calls %q", got)
	}
	for range 2 {
		if r, err := s.Read("references/forms.md"); err != nil || string(r.Data) != "# Forms\n" {
			t.Errorf("%v, %v", r, err)
		}
	}
	if got := f.called(); !slices.Equal(got, []string{"read skill://office/pdf/references/forms.md"}) {
		t.Errorf("reading calls %q", got)
	}
	if _, err := s.Read("references/other.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unlisted file: %v", err)
	}
	sealed, err := s.Seal(t.Context(), skilltest.TempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	defer sealed.Close()
	if again, err := sealed.Digest(t.Context()); err != nil || again != digest {
		t.Errorf("the copy has the digest %s, %v, want %s", again, err, digest)
	}
	dir, err := sealed.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "scripts/fill.sh")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("the script: %v, %v", info, err)
	}
}

// What is not as the list says is not used, and not kept.
func TestDiffers(t *testing.T) {
	const at = "skill://office/pdf/"
	for _, tt := range []struct {
		name, file, text, wrong string
	}{
		{"digest", "SKILL.md", strings.Replace(manifestOf("pdf", "metadata:\n  version: \"2\"\n"), "Do it", "No it", 1), "has the digest sha256:"},
		{"size", "SKILL.md", manifestOf("pdf", "metadata:\n  version: \"2\"\n") + "More.\n", "over "},
		{"short", "SKILL.md", manifestOf("pdf", ""), "bytes, and "},
		{"other file", "references/forms.md", "# Firms\n", "has the digest sha256:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, cache := pdf(t), t.TempDir()
			f.files[at+tt.file] = tt.text
			s, err := entry(t, open(t, source(t, f, skillsource.Options{Cache: cache})), "pdf").Load(t.Context())
			if tt.file != "SKILL.md" {
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				_, err = s.Read(tt.file)
			}
			if err == nil || !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("error %v, want %q", err, tt.wrong)
			}
			filepath.WalkDir(cache, func(p string, d fs.DirEntry, _ error) error {
				if text, err := os.ReadFile(p); err == nil && string(text) == tt.text {
					t.Errorf("%s has it", p)
				}
				return nil
			})
			if got := f.called(); tt.file == "SKILL.md" && slices.Contains(got, "read "+at+"references/forms.md") {
				t.Errorf("it goes on: %q", got)
			}
		})
	}
	t.Run("front matter", func(t *testing.T) {
		f := pdf(t)
		f.list[0] = strings.Replace(f.list[0], "Does the work", "Reads the work", 1)
		_, err := entry(t, open(t, source(t, f, skillsource.Options{})), "pdf").Load(t.Context())
		if !strings.Contains(fmt.Sprint(err), differs) || !strings.Contains(err.Error(), `"description"`) {
			t.Errorf("error %v", err)
		}
	})
}

// A skill that has changed since it was listed is loaded as it is now, with another digest, so that no approval holds.
func TestChanged(t *testing.T) {
	f := pdf(t)
	c := open(t, source(t, f, skillsource.Options{}))
	e := entry(t, c, "pdf")
	old := f.list[0]
	f.list = nil
	f.serve(t, "skill://office/pdf", map[string]string{"SKILL.md": manifestOf("pdf", "license: MIT\n"), "new.md": "new"})
	f.get = map[string]string{"skill://office/pdf/SKILL.md": f.list[0]}
	s, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r, err := s.Read("new.md"); err != nil || string(r.Data) != "new" {
		t.Errorf("%v, %v", r, err)
	}
	digest, err := s.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.get = nil
	f.list[0] = old
	again := open(t, source(t, f, skillsource.Options{}))
	before, err := entry(t, again, "pdf").Load(t.Context())
	if !strings.Contains(fmt.Sprint(err), differs) {
		t.Errorf("without skills/get: %v", err)
	}
	if err == nil {
		defer before.Close()
		if was, _ := before.Digest(t.Context()); was == digest {
			t.Error("the digest did not change")
		}
	}
	f.get = map[string]string{"skill://office/pdf/SKILL.md": entryOf(t, "skill://other/pdf", map[string]string{"SKILL.md": manifestOf("pdf", "")})}
	if _, err := entry(t, again, "pdf").Load(t.Context()); !strings.Contains(fmt.Sprint(err), differs) {
		t.Errorf("with the entry of another skill: %v", err)
	}
}

// A name that others have, too, is said with the label, whoever has it.
func TestNames(t *testing.T) {
	local := t.TempDir()
	skillIn(t, local, "pdf")
	other := &fake{}
	other.serve(t, "skill://pdf", map[string]string{"SKILL.md": manifestOf("pdf", "")})
	other.serve(t, "skill://sales/refunds", map[string]string{"SKILL.md": manifestOf("refunds", "")})
	other.serve(t, "skill://support/refunds", map[string]string{"SKILL.md": manifestOf("refunds", "")})
	other.serve(t, "skill://alone", map[string]string{"SKILL.md": manifestOf("alone", "")})
	layers := []skill.Layer{
		{Name: "mcp:b", Server: "b", Source: source(t, other, skillsource.Options{Label: "b"})}, // before the folder: it takes no precedence
		{Name: "user", Source: skill.Dir(local, nil)},
	}
	c := open(t, source(t, pdf(t), skillsource.Options{}), layers...)
	var got []string
	for e := range c.All() {
		got = append(got, fmt.Sprintf("%s=%s", e.Name(), e.Server()))
		if len(e.Shadows()) > 0 {
			t.Errorf("%s shadows %v", e.Name(), e.Shadows())
		}
	}
	if want := []string{"alone=b", "b:pdf=b", "b:sales:refunds=b", "b:support:refunds=b", "docs:pdf=docs", "pdf="}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	s, err := entry(t, c, "docs:pdf").Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Name() != "docs:pdf" || s.Manifest().Name != "pdf" {
		t.Errorf("name %q, in the manifest %q", s.Name(), s.Manifest().Name)
	}
	if again, err := c.Refresh(t.Context()); err != nil || again != c {
		t.Errorf("a refresh changes the catalogue: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(local, "pdf")); err != nil {
		t.Fatal(err)
	}
	layers = layers[1:]
	if e := entry(t, open(t, source(t, pdf(t), skillsource.Options{}), layers...), "pdf"); e.Server() != "docs" {
		t.Errorf("without the others: %q", e.Server())
	}
	places := map[string]bool{}
	for _, label := range []string{"a", "A"} { // file systems may not know case
		c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "mcp", Server: label, Source: source(t, pdf(t), skillsource.Options{Label: label, Cache: "/cache"})}}})
		if err != nil {
			t.Fatal(err)
		}
		place, _ := entry(t, c, "pdf").Place(t.Context())
		places[strings.ToLower(place)] = true
	}
	elsewhere := open(t, source(t, pdf(t), skillsource.Options{Label: "a", Cache: "/cache", Scope: "/project"}))
	place, _ := entry(t, elsewhere, "pdf").Place(t.Context())
	places[strings.ToLower(place)] = true
	if len(places) != 3 {
		t.Errorf("places %v", places)
	}
}

func skillIn(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name, "SKILL.md"), []byte(manifestOf(name, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A server that says nothing keeps nobody waiting twice, and is named.
func TestSilent(t *testing.T) {
	f := pdf(t)
	f.wait = make(chan struct{})
	s := source(t, f, skillsource.Options{Wait: time.Millisecond})
	c := open(t, s)
	if got := problems(c); !strings.Contains(got, "server-skills: its skills cannot be listed: it has not answered within 1ms") {
		t.Errorf("problems %s", got)
	}
	if c, _ = c.Refresh(t.Context()); c.Len() != 0 {
		t.Error("it has skills")
	}
	close(f.wait)
	for c.Len() == 0 && t.Context().Err() == nil {
		c, _ = c.Refresh(t.Context())
	}
	if got := problems(c); got != "" {
		t.Errorf("problems after its answer: %s", got)
	}

	f.gone, f.wait = true, nil
	s = source(t, f, skillsource.Options{Wait: time.Hour})
	c = open(t, s)
	f.wait, f.gone = make(chan struct{}), false
	s.Changed()
	if again, err := c.Refresh(t.Context()); err != nil || again.Len() != 0 { // at once
		t.Errorf("%d skills, %v", again.Len(), err)
	}
}

// What was listed and read is there without the server, if it is still what it was.
func TestOffline(t *testing.T) {
	f, cache := pdf(t), t.TempDir()
	now := time.Now()
	o := skillsource.Options{Cache: cache, Now: func() time.Time { return now }}
	s, err := entry(t, open(t, source(t, f, o)), "pdf").Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	f.called()
	open(t, source(t, f, o)) // its list is fresh
	if got := f.called(); len(got) > 0 {
		t.Errorf("a fresh list is asked for: %q", got)
	}
	f.gone, now = true, now.Add(time.Hour)
	c := open(t, source(t, f, o))
	if got := problems(c); !strings.Contains(got, "it is gone; those are used that it had at") {
		t.Errorf("problems %s", got)
	}
	s, err = entry(t, c, "pdf").Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Read("references/forms.md"); err == nil || !strings.Contains(err.Error(), "it is gone") {
		t.Errorf("a file that was never read: %v", err)
	}
	kept, _ := filepath.Glob(filepath.Join(cache, ".docs-*", "*", "*"))
	for _, file := range kept {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, bytes.Replace(text, []byte("Do it"), []byte("No it"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept) != 1 {
		t.Errorf("kept %q", kept)
	}
	if _, err := entry(t, c, "pdf").Load(t.Context()); err == nil {
		t.Error("a file of the cache that was changed is used")
	}
	if found := open(t, source(t, &fake{}, skillsource.Options{}), skill.Layer{Name: "user", Source: skill.Dir(cache, nil)}); found.Len() > 0 {
		t.Error("a search finds skills in the cache")
	}
	if err := skillsource.Remove(cache, "docs", ""); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// Lists that are hostile or too long are cut, and the rest is there.
func TestLists(t *testing.T) {
	many := &fake{}
	for i := range 10_100 {
		many.list = append(many.list, entryOf(t, fmt.Sprintf("skill://s%d", i), map[string]string{"SKILL.md": manifestOf(fmt.Sprintf("s%d", i), "")}))
	}
	endless := pdf(t)
	endless.next = func(cursor string) string { return cursor + "x" }
	again := pdf(t)
	again.next = func(string) string { return "same" }
	bad := pdf(t)
	bad.list = append(bad.list, `{}`, `{"uri":"skill://x/%2e%2e/y/SKILL.md"}`, bad.list[0], `{"uri":"skill://y/SKILL.md","frontmatter":{"name":"y","description":"Y."}}`,
		entryOf(t, "skill://-rf", map[string]string{"SKILL.md": manifestOf("-rf", "")}))
	for _, tt := range []struct {
		name  string
		f     *fake
		n     int
		wrong []string
	}{
		{"many", many, 10_000, []string{"more than 10000 skills"}},
		{"endless", endless, 1, []string{"its pages have no end"}},
		{"again", again, 1, []string{"its pages have no end"}},
		{"bad", bad, 1, []string{"is there twice", "neither a list nor", "'-rf'"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := open(t, source(t, tt.f, skillsource.Options{}))
			got := problems(c)
			for _, wrong := range tt.wrong {
				if !strings.Contains(got, wrong) {
					t.Errorf("problems %s, want %q", got, wrong)
				}
			}
			if c.Len() != tt.n {
				t.Errorf("%d skills, want %d", c.Len(), tt.n)
			}
		})
	}
}

func problems(c *skill.Catalog) string {
	var out strings.Builder
	for _, p := range c.Notes() {
		fmt.Fprintf(&out, "%s: %s\n", p.Code, p.Message)
	}
	return out.String()
}

// A skill whose content is made at each read can be read, and never approved.
func TestDynamic(t *testing.T) {
	f := pdf(t)
	f.list[0] = f.list[0][:strings.Index(f.list[0], `"resources"`)] + `"resources":"dynamic"}`
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "mcp:docs", Server: "docs", Source: source(t, f, skillsource.Options{})}},
		Trust: func(ctx context.Context, s skill.Subject) (skill.Trust, error) {
			_, err := s.Digest(ctx)
			return skill.TrustApproved, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := entry(t, c, "pdf").Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Digest(t.Context()); !strings.Contains(fmt.Sprint(err), "no digest that could be approved") {
		t.Errorf("digest: %v", err)
	}
	if trust, _ := s.Trust(t.Context()); trust.Runs() || s.Heeded(t.Context()) {
		t.Errorf("trust %v", trust)
	}
	if _, err := s.Read("references/forms.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file: %v", err)
	}
	f.files["skill://office/pdf/SKILL.md"] = manifestOf("pdf", "license: MIT\n")
	if _, err := entry(t, c, "pdf").Load(t.Context()); !strings.Contains(fmt.Sprint(err), differs) {
		t.Errorf("with another front matter: %v", err)
	}
}

// Whatever a server lists, a catalogue reads it as the list has it.
func FuzzHead(f *testing.F) {
	f.Add(`{"name":"pdf","description":"Fills \"forms\": all.","metadata":{"a":[1.10,null,true,"\ud83d\ude00"]},"#x":"-"}`)
	f.Fuzz(func(t *testing.T, front string) {
		uri := "skill://pdf/SKILL.md"
		text := fmt.Sprintf(`{"uri":%q,"frontmatter":%s,"resources":"dynamic"}`, uri, front)
		if _, err := skilluri.ParseEntry([]byte(text)); err != nil {
			return
		}
		c := open(t, source(t, &fake{list: []string{text}}, skillsource.Options{Cache: os.DevNull}))
		if c.Len() != 1 {
			t.Errorf("%d skills of %s: %s", c.Len(), front, problems(c))
		}
	})
}

// A copy has all files as the server has them now, and needs the server.
func TestCopy(t *testing.T) {
	f, cache := pdf(t), t.TempDir()
	f.serve(t, "skill://other/pdf", map[string]string{"SKILL.md": manifestOf("pdf", "")})
	f.serve(t, "skill://one", map[string]string{"SKILL.md": manifestOf("one", ""), "run": "#!/bin/sh\n"})
	s := source(t, f, skillsource.Options{Cache: cache})
	into := func() *os.Root {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		return root
	}
	to := into()
	digest, err := s.Copy(t.Context(), "one", "", to)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := to.Stat("run"); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("the program: %v, %v", info, err)
	}
	empty := into()
	if again, err := s.Copy(t.Context(), "one", digest, empty); err != nil || again != digest {
		t.Errorf("again: %s, %v", again, err)
	}
	if list, _ := fs.ReadDir(empty.FS(), "."); len(list) > 0 {
		t.Errorf("what is known is written: %v", list)
	}
	for name, wrong := range map[string]string{"two": "publishes no such skill", "pdf": "one of several: office/pdf, other/pdf"} {
		if _, err := s.Copy(t.Context(), name, "", into()); !errors.Is(err, skillsource.ErrUnknown) || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Copy(t.Context(), "office/pdf", "", into()); err != nil {
		t.Error(err)
	}
	f.gone = true
	if _, err := source(t, f, skillsource.Options{Cache: cache}).Copy(t.Context(), "one", "", into()); err == nil || !strings.Contains(err.Error(), "it is gone") {
		t.Errorf("without the server: %v", err)
	}
}
