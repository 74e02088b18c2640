package scan

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func tree(files ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		out[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return out
}

// said returns the facts as "FILE[!MEMBER]:LINE KIND OBJECT NAME ROLE".
func said(t *testing.T, fsys fstest.MapFS) (facts, unread []string) {
	t.Helper()
	r, err := Scan(t.Context(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Facts {
		maybe := ""
		if f.Maybe {
			maybe = "?"
		}
		facts = append(facts, strings.TrimSpace(fmt.Sprintf("%s:%d %s %s %s%s %s", strings.Join(append([]string{f.Place.File}, f.Place.Inside...), "!"), f.Place.Line, f.Kind, f.Object, f.Name, maybe, f.Role)))
	}
	for _, f := range r.Files {
		if f.Unread != "" {
			unread = append(unread, strings.Join(append([]string{f.Path}, f.Inside...), "!")+": "+f.Unread)
		}
	}
	return facts, unread
}

func contains(t *testing.T, got []string, want ...string) {
	t.Helper()
	for _, w := range want {
		no, absent := strings.CutPrefix(w, "!")
		if slices.ContainsFunc(got, func(g string) bool { return g == no || absent && strings.Contains(g, no) }) == absent {
			t.Errorf("want %q in\n%s", w, strings.Join(got, "\n"))
		}
	}
}

func TestMarkdown(t *testing.T) {
	body := strings.Join([]string{
		"---", "name: x", "allowed-tools: Bash(git:*) Read", "hooks:", "  Stop:", "    - hooks:", "        - type: command", "          command: curl https://h.sample.net", "---",
		"# Use", "Run `curl -s https://a.sample.net/<id>` and `jq` or see https://doc.sample.net.",
		"```bash", "wget https://b.sample.net", "```", "",
		"    ```", "    $ git clone https://c.sample.net/x", "    output wget", "    ```",
		"Never do this:", "```sh", "nc d.sample.net 1", "```",
		"## Examples", "```console", "$ ssh e.sample.net", "text", "```", "```json", "curl https://f.sample.net", "```",
		"## Else", "```", "make sure that it works", "brew install gone", "```",
	}, "\n")
	facts, _ := said(t, tree("SKILL.md", body))
	contains(t, facts, "SKILL.md:11 sends host a.sample.net", "SKILL.md:13 sends host b.sample.net", "SKILL.md:17 sends host c.sample.net", "SKILL.md:22 sends host d.sample.net against",
		"SKILL.md:26 sends host e.sample.net example", "SKILL.md:35 needs package gone", "SKILL.md:8 sends host h.sample.net", "SKILL.md:3 runs program git?", "!doc.sample.net", "!f.sample.net", "!program make")
}

func zipped(files ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, _ := w.Create(files[i])
		io.WriteString(f, files[i+1])
	}
	w.Close()
	return b.String()
}

func tarred(name, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o644})
	io.WriteString(w, text)
	w.Close()
	z.Close()
	return b.String()
}

// Every file is read: hidden ones, those in archives, and texts in UTF-16.
func TestEveryFile(t *testing.T) {
	inner := zipped("deep.sh", "curl https://d.sample.net")
	wide := "\xff\xfe"
	for _, c := range "curl https://w.sample.net\n" {
		wide += string([]byte{byte(c), 0})
	}
	locked := []byte(zipped("p.sh", "x"))
	for _, sign := range []string{"PK\x03\x04", "PK\x01\x02"} {
		at := bytes.Index(locked, []byte(sign))
		if sign[2] == 3 {
			locked[at+6] |= 1
		} else {
			locked[at+8] |= 1
		}
	}
	facts, unread := said(t, tree(
		".git/hooks/pre.sh", "curl https://g.sample.net", "node_modules/x/a.sh", "curl https://n.sample.net", "run", "#!/usr/bin/env bash\ncurl https://s.sample.net",
		"a.zip", zipped("x/a.sh", "curl https://z.sample.net", "in.docx", inner), "b.tar.gz", tarred("c.sh", "curl https://t.sample.net"), "w.sh", wide,
		"locked.zip", string(locked), "x.7z", "7z\xbc\xaf\x27\x1c", "bad.zip", "PK\x03\x04xxxx", "a.rb", "puts 1", "b.bin", "a\x00b"))
	contains(t, facts, ".git/hooks/pre.sh:1 sends host g.sample.net", "node_modules/x/a.sh:1 sends host n.sample.net", "run:2 sends host s.sample.net", "run:1 runs program bash",
		"a.zip!x/a.sh:1 sends host z.sample.net", "a.zip!in.docx!deep.sh:1 sends host d.sample.net", "b.tar.gz!c.sh:1 sends host t.sample.net", "w.sh:1 sends host w.sample.net",
		"locked.zip:0 holds opaque an archive with a password", "!sends host ?")
	contains(t, unread, "locked.zip!p.sh: a password protects it", "x.7z: it is a 7z archive, which is not opened", "a.rb: it is Ruby, which is not read", "b.bin: it is no text")
	if !slices.ContainsFunc(unread, func(s string) bool { return strings.HasPrefix(s, "bad.zip: it cannot be read as an archive") }) {
		t.Errorf("got %q", unread)
	}
}

func TestManifests(t *testing.T) {
	facts, _ := said(t, tree(
		"package.json", `{"scripts": {"postinstall": "curl https://p.sample.net", "x": "wget https://q.sample.net"}, "dependencies": {"left": "^1"}}`,
		".mcp.json", `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "serverx"]}, "b": {"url": "https://m.sample.net/mcp"}}}`,
		"requirements.txt", "one==1\n# no\n--index-url https://i.sample.net/simple\n", "pyproject.toml", "[project]\ndependencies = [\n  \"two>=1\",\n]\nx = \"three\"\n"))
	contains(t, facts, "package.json:1 sends host p.sample.net", "package.json:1 sends host q.sample.net?", "package.json:1 needs package left", ".mcp.json:1 runs program npx?", ".mcp.json:1 needs package serverx?",
		".mcp.json:1 sends host m.sample.net", "requirements.txt:1 needs package one", "requirements.txt:3 sends host i.sample.net", "pyproject.toml:3 needs package two", "!three")
}
