package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/source"
)

// pages is a site: the content of each path.
type pages struct {
	mu    sync.Mutex
	page  map[string]string
	asked []string
	other func(http.ResponseWriter, *http.Request) // for what is not there; nil answers 404
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r.URL.Path)
	text, ok := p.page[r.URL.Path]
	switch {
	case ok:
		w.Write([]byte(text))
	case p.other != nil:
		p.other(w, r)
	default:
		http.NotFound(w, r)
	}
}

func fetchSite(t testing.TB, p *pages, path, known string) (*install.Snapshot, error) {
	t.Helper()
	s, o := serve(t, p.ServeHTTP)
	for name := range p.page {
		p.page[name] = strings.ReplaceAll(p.page[name], "SITE", s.URL)
	}
	f, err := Index(o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Fetch(t.Context(), &install.Request{Source: source.Ref{Kind: source.Index, URL: s.URL + path}, Dir: t.TempDir(), Known: known})
	if err == nil {
		t.Cleanup(func() { got.Close() })
	}
	return got, err
}

// entry is an entry of an index of version 0.2.0.
func entry(name, kind, url, content string) string {
	text, _ := json.Marshal(map[string]string{"name": name, "type": kind, "description": "Does " + name + ": \"things\".", "url": url, "digest": digestOf([]byte(content)), "extra": "ignored"})
	return string(text)
}

func index020(entries ...string) string {
	return fmt.Sprintf(`{"$schema": %q, "skills": [%s], "more": 1}`, schema020, strings.Join(entries, ","))
}

func wantSkill(name string) func(string) bool {
	return func(path string) bool { return strings.HasPrefix(path, name+"/") }
}

func TestIndex(t *testing.T) {
	root, wrapped := string(tarGz(t, "SKILL.md", skillText, "scripts/run.py", "print()")), string(zipOf(t, "zipped/SKILL.md", skillText, "zipped/a.md", "a"))
	p := &pages{page: map[string]string{
		"/docs/.well-known/agent-skills/index.json": index020(entry("text", "skill-md", "text/SKILL.md", skillText), entry("packed", "archive", "/files/packed.tar.gz", root),
			entry("zipped", "archive", "SITE/zipped.bin", wrapped), entry("later", "mcp-server", "x", ""), entry("text", "skill-md", "again", "x"), entry("Bad_Name", "skill-md", "x", "")),
		"/docs/.well-known/agent-skills/text/SKILL.md": skillText, "/files/packed.tar.gz": root, "/zipped.bin": wrapped,
	}}
	s, err := fetchSite(t, p, "/docs/", "")
	if err != nil {
		t.Fatal(err)
	}
	standIn := func(name string) string {
		return fmt.Sprintf("---\nname: %q\ndescription: \"Does %s: \\\"things\\\".\"\n---\n", name, name)
	}
	want := map[string]string{"text/SKILL.md": standIn("text"), "packed/SKILL.md": standIn("packed"), "zipped/SKILL.md": standIn("zipped")}
	if diff := cmp.Diff(want, files(t, s)); diff != "" {
		t.Error(diff)
	}
	left := []string{`skill 4 of the index, "later": its type "mcp-server" is not known`, `skill 5 of the index, "text": another one has this name`, `skill 6 of the index, "Bad_Name": its name is not valid`}
	if diff := cmp.Diff(left, s.LeftOut()); diff != "" {
		t.Error(diff)
	}
	if text := p.page["/docs/.well-known/agent-skills/index.json"]; s.Origin.Commit != digestOf([]byte(text)) || !strings.HasSuffix(s.Origin.URL, "/docs/.well-known/agent-skills/index.json") {
		t.Errorf("origin %+v", s.Origin)
	}
	if err := s.Need(t.Context(), func(path string) bool { return strings.HasSuffix(path, "/SKILL.md") }); err != nil || len(p.asked) != 1 {
		t.Errorf("descriptions: %v, asked for %v", err, p.asked)
	}
	for range 2 {
		if err := s.Need(t.Context(), wantSkill("packed")); err != nil || len(p.asked) != 2 {
			t.Errorf("one skill: %v, asked for %v", err, p.asked)
		}
	}
	want["packed/SKILL.md"], want["packed/scripts/run.py"] = skillText, "print()"
	if diff := cmp.Diff(want, files(t, s)); diff != "" {
		t.Error(diff)
	}
	if err := s.Need(t.Context(), func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	want["text/SKILL.md"], want["zipped/SKILL.md"], want["zipped/a.md"] = skillText, skillText, "a"
	if diff := cmp.Diff(want, files(t, s)); diff != "" {
		t.Error(diff)
	}
	again, err := fetchSite(t, p, "/docs", s.Origin.Commit)
	if err != nil || again.FS != nil {
		t.Errorf("known: %+v, %v", again, err)
	}
}

func TestIndex010(t *testing.T) {
	text := `{"skills": [{"name": "demo", "description": "Does things.", "files": ["SKILL.md", "references/a b#c.md"]},
		{"name": "out", "description": "x", "files": ["SKILL.md", "../../x"]}, {"name": "empty", "description": "x", "files": []}]}`
	p := &pages{page: map[string]string{"/.well-known/skills/index.json": text, "/.well-known/skills/demo/SKILL.md": skillText, "/.well-known/skills/demo/references/a b#c.md": "a"}}
	s, err := fetchSite(t, p, "", digestOf([]byte(text)))
	if err != nil || s.FS == nil {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := s.Need(t.Context(), wantSkill("demo")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"demo/SKILL.md": skillText, "demo/references/a b#c.md": "a"}, files(t, s)); diff != "" {
		t.Error(diff)
	}
	if left := s.LeftOut(); len(left) != 2 || !strings.Contains(left[0], "has no valid path") || !strings.Contains(left[1], "has no SKILL.md") {
		t.Errorf("left out %q", left)
	}
}

func TestIndexSearch(t *testing.T) {
	const good = "/.well-known/skills/index.json"
	page := func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<!doctype html><title>Home</title>")) }
	status := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	all := []string{"/docs/.well-known/agent-skills/index.json", "/docs/.well-known/skills/index.json", "/.well-known/agent-skills/index.json", good}
	for name, tt := range map[string]struct {
		path  string
		other func(http.ResponseWriter, *http.Request)
		asked []string
		err   string
	}{
		"in order":     {"/docs", nil, all, ""},
		"at the root":  {"/", nil, all[2:], ""},
		"page for all": {"/docs/", page, all, ""},
		"forbidden":    {"/docs", status(403), all, ""},
		"named":        {good, nil, []string{good}, ""},
		"broken":       {"/docs", status(500), []string{all[0], all[0], all[0]}, "500"},
		"not there":    {"/docs/x.json", nil, []string{"/docs/x.json"}, "no index of skills"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &pages{other: tt.other, page: map[string]string{good: index020(entry("demo", "skill-md", "x", ""))}}
			_, err := fetchSite(t, p, tt.path, "")
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) || !slices.Equal(p.asked, tt.asked) {
				t.Errorf("%v, asked for %v", err, p.asked)
			}
		})
	}
}

// A site without an index may be the page of a repository. R147
func TestOrRepository(t *testing.T) {
	failed := errors.New("no such repository")
	for name, tt := range map[string]struct {
		path  string
		other func(http.ResponseWriter, *http.Request)
		fails error
		want  string // the repository that is asked; "" is none
	}{
		"a repository": {"/o/r", nil, nil, "/o/r.git"},
		"neither":      {"/o/r", nil, failed, "/o/r.git"},
		"one part":     {"/docs", nil, nil, ""},
		"broken":       {"/o/r", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := &pages{other: tt.other}
			s, o := serve(t, p.ServeHTTP)
			site, err := Index(o)
			if err != nil {
				t.Fatal(err)
			}
			asked := ""
			f := OrRepository(site, install.FetcherFunc(func(_ context.Context, r *install.Request) (*install.Snapshot, error) {
				asked = strings.TrimPrefix(r.Source.URL, s.URL)
				return &install.Snapshot{Origin: install.Origin{Source: r.Source}}, tt.fails
			}))
			got, err := f.Fetch(t.Context(), &install.Request{Source: source.Ref{Kind: source.Index, URL: s.URL + tt.path}, Dir: t.TempDir()})
			if asked != tt.want || (err == nil) != (tt.want != "" && tt.fails == nil) {
				t.Errorf("asked %q, %v", asked, err)
			}
			if err == nil && got.Origin.Source.Kind != source.Git || tt.fails != nil && (!errors.Is(err, tt.fails) || !strings.Contains(err.Error(), "no index")) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestIndexRefused(t *testing.T) {
	long, _ := json.Marshal(strings.Repeat("d", 8193))
	for name, tt := range map[string]struct{ text, want string }{
		"schema":      {`{"$schema": "https://schemas.agentskills.io/discovery/0.3.0/schema.json", "skills": []}`, "unknown version"},
		"empty":       {`{}`, "not an index"},
		"array":       {`[]`, "not an index"},
		"many":        {index020(strings.Repeat(`{},`, 5000) + `{}`), "5001 skills"},
		"description": {index020(`{"name":"demo","type":"skill-md","description":` + string(long) + `,"url":"x","digest":"` + digestOf(nil) + `"}`), ""},
		"digest":      {index020(`{"name":"demo","type":"skill-md","description":"x","url":"x","digest":"sha256:AB"}`), ""},
		"http":        {index020(entry("demo", "archive", "http://example.com/x", "")), ""},
		"file":        {index020(entry("demo", "archive", "file:///etc/passwd", "")), ""},
		"user":        {index020(entry("demo", "archive", "https://a:b@example.com/x", "")), ""},
		"no url":      {index020(entry("demo", "archive", "", "")), ""},
		"number":      {index020(`{"name":1}`), ""},
		"device":      {index020(entry("con", "archive", "x", "")), ""},
		"dots":        {index020(entry("..", "archive", "x", "")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := fetchSite(t, &pages{page: map[string]string{"/x.json": tt.text}}, "/x.json", "")
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				return
			}
			if err != nil || len(s.LeftOut()) != 1 || len(files(t, s)) > 0 {
				t.Errorf("%v, left out %v", err, s.LeftOut())
			}
		})
	}
}

// What is fetched must have the digest of the index; what it must not have leaves the folder as it was.
func TestIndexNeedRefused(t *testing.T) {
	for name, tt := range map[string]struct{ kind, content, served, want string }{
		"digest":    {"archive", string(zipOf(t, "SKILL.md", skillText)), string(zipOf(t, "SKILL.md", "x")), "it is not used"},
		"no skill":  {"archive", string(zipOf(t, "README.md", "x")), "", "no SKILL.md at its root"},
		"two":       {"archive", string(zipOf(t, "a/SKILL.md", "x", "b/SKILL.md", "x")), "", "no SKILL.md at its root"},
		"traversal": {"archive", string(tarGz(t, "SKILL.md", skillText, "../x", "x")), "", "not a path below"},
		"no zip":    {"archive", skillText, "", "an archive is"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.served == "" {
				tt.served = tt.content
			}
			p := &pages{page: map[string]string{"/x.json": index020(entry("demo", tt.kind, "demo.zip", tt.content)), "/demo.zip": tt.served}}
			s, err := fetchSite(t, p, "/x.json", "")
			if err != nil {
				t.Fatal(err)
			}
			before := files(t, s)
			for range 2 {
				if err := s.Need(t.Context(), wantSkill("demo")); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `skill "demo"`) {
					t.Errorf("got %v, want %s", err, tt.want)
				}
			}
			if diff := cmp.Diff(before, files(t, s)); diff != "" {
				t.Error(diff)
			}
		})
	}
	other, _ := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("another server of this machine was asked") })
	s, err := fetchSite(t, &pages{page: map[string]string{"/x.json": index020(entry("demo", "archive", other.URL, ""))}}, "/x.json", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Need(t.Context(), wantSkill("demo")); !errors.Is(err, ErrPrivate) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Need(ctx, wantSkill("demo")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add(index020(entry("demo", "archive", "../x.zip?a#b", ""), entry("other", "skill-md", "//host/x", "")))
	f.Add(`{"skills":[{"name":"demo","description":"x","files":["SKILL.md","a/b c"]}]}`)
	f.Add(`{"$schema":null,"skills":[{}]}`)
	at, _ := url.Parse("https://acme.example/docs/.well-known/agent-skills/index.json")
	f.Fuzz(func(t *testing.T, text string) {
		x, err := readIndex([]byte(text), at)
		if err != nil {
			return
		}
		for _, s := range x.skills {
			urls := []string{s.url}
			if s.files != nil {
				urls = nil
				for name, u := range s.files {
					if urls = append(urls, u); !fs.ValidPath(name) || !strings.HasPrefix(u, "https://acme.example/docs/.well-known/agent-skills/"+s.name+"/") {
						t.Errorf("file %q at %q", name, u)
					}
				}
			}
			for _, u := range urls {
				if u, err := url.Parse(u); err != nil || checkURL(u) != nil {
					t.Errorf("URL %q, %v", u, err)
				}
			}
			if !fs.ValidPath(s.name) || strings.Contains(s.name, "/") || s.description == "" {
				t.Errorf("skill %+v", s)
			}
		}
	})
}
