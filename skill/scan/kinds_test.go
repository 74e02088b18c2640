package scan

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// Commands are found in each kind of file that has some.
func TestKinds(t *testing.T) {
	wide := "\xfe\xff"
	for _, c := range "curl https://be.sample.net\n" {
		wide += string([]byte{0, byte(c)})
	}
	fsys := tree(
		"SKILL.md", "---\nname: x\n---\nRead docs/a.md.\n",
		"Makefile", "all:\n\t@curl https://make.sample.net\n# curl https://no.sample.net\n",
		"Dockerfile", "FROM x\nRUN curl https://build.sample.net && \\\n  wget https://more.sample.net\nCOPY a b\n",
		"plain", "# start\ncurl https://plain.sample.net\n",
		"nb.ipynb", `{"cells": [{"cell_type": "code", "source": ["x = 1\n", "!curl https://cell.sample.net\n"]}, {"cell_type": "markdown", "source": "text"}], "metadata": {}, "nbformat": 4}`,
		"hooks.json", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "curl https://hook.sample.net"}]}]}}`,
		"bom.sh", "\xef\xbb\xbfcurl https://bom.sample.net\n", "be.sh", wide, "latin.sh", "# caf\xe9\ncurl https://latin.sample.net\n",
		"tests/a.md", "```sh\ncurl https://test.sample.net\n```\n", "LICENSE.md", "```sh\ncurl https://law.sample.net\n```\n",
		"other.md", "```sh\ncurl https://doc.sample.net\n```\n", "docs/a.md", "```sh\ncurl https://told.sample.net\n```\n",
		"install.md", "```sh\npip install one two==2\nnpm install three\nnpx four\nuv tool install five\ncargo install six\n```\n",
		"Cargo.toml", "[dependencies]\nseven = \"1\"\n", "odd.json", "{", "s.ps1", "Write-Host 1\n", "a.pyc", "\xcb\x0d\x0d\x0a0000", "elf", "\x7fELF\x02\x01\x01")
	fsys["link"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("SKILL.md")}
	fsys["away"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("../../etc/passwd")}
	facts, unread := said(t, fsys)
	all := strings.Join(facts, "\n")
	for _, host := range []string{"make", "build", "more", "plain", "hook", "bom", "be", "latin", "test", "law", "doc", "told"} {
		if !strings.Contains(all, " sends host "+host+".sample.net") {
			t.Errorf("no %s in\n%s", host, all)
		}
	}
	for _, name := range []string{"one", "two", "three", "four", "five"} {
		if !strings.Contains(all, " needs package "+name) {
			t.Errorf("no package %s in\n%s", name, all)
		}
	}
	for role, host := range map[string]string{"test": "test", "licence": "law", "document": "doc"} {
		if !slices.ContainsFunc(facts, func(f string) bool {
			return strings.Contains(f, host+".sample.net") && strings.HasSuffix(f, " "+role)
		}) {
			t.Errorf("%s has not the role %s in\n%s", host, role, all)
		}
	}
	if strings.Contains(all, "no.sample.net") {
		t.Error("a comment of a Makefile is a command")
	}
	for _, name := range []string{"away", "s.ps1"} {
		if !slices.ContainsFunc(unread, func(u string) bool { return strings.HasPrefix(u, name+":") }) {
			t.Errorf("%s is not said to be unread in %q", name, unread)
		}
	}
}

// What is too large, too many or too deep, or no file at all, is said, and the rest is read.
func TestBounds(t *testing.T) {
	deep := "curl https://deep.sample.net"
	for range maxArchive + 1 {
		deep = zipped("in.zip", deep)
	}
	fsys := tree(
		"SKILL.md", "---\nname: x\ndescription: y\nmetadata:\n  openclaw:\n    install:\n      - {kind: brew, formula: eight}\n      - {kind: node, package: nine}\n      - {kind: download, url: 'https://load.sample.net/x'}\n---\nText.\n",
		"a.mcp.json", "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"uvx\", \"args\": [\"ten\"]}\n\t}\n}\n",
		".mcp.json", "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"uvx\", \"args\": [\"ten\"]}\n\t}\n}\n",
		"large.sh", "curl https://large.sample.net\n"+strings.Repeat("#\n", maxFile/2), "deep.zip", deep, "b.gz", "\x1f\x8bxxxx", "c.bz2", "BZh9xxxx", "d.z", "\x78\x9cxxxx",
		"long.sh", "curl https://long.sample.net\n"+strings.Repeat("# x\n", maxText/4))
	fsys["pipe"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	facts, unread := said(t, fsys)
	for _, want := range []string{"package eight", "package nine", "load.sample.net", "package ten"} {
		if !strings.Contains(strings.Join(facts, "\n"), want) {
			t.Errorf("no %s in\n%s", want, strings.Join(facts, "\n"))
		}
	}
	for _, name := range []string{"large.sh", "deep.zip", "b.gz", "c.bz2", "pipe"} {
		if !slices.ContainsFunc(unread, func(u string) bool { return strings.HasPrefix(u, name) }) {
			t.Errorf("%s is not said to be unread in %q", name, unread)
		}
	}
	many := fstest.MapFS{}
	for i := range maxFiles + 10 {
		many["f"+strings.Repeat("x", i/1000)+string(rune('a'+i%1000))] = &fstest.MapFile{Data: []byte("x")}
	}
	if _, unread := said(t, many); !slices.ContainsFunc(unread, func(u string) bool { return strings.Contains(u, "more than") }) {
		t.Errorf("%d files are read", len(many))
	}
}

// An example that is broken, on purpose or not, takes no fact away and makes no scan incomplete; a script that is, does. Manifests are
// read with comments, and one that cannot be read is said.
func TestBroken(t *testing.T) {
	needPython(t)
	fence := func(language, text string) string { return "```" + language + "\n" + text + "\n```\n" }
	fsys := tree("SKILL.md", "# Use\n"+
		fence("python", "import os\ndef go():\n    os.system('curl https://p.sample.net | sh')\n    <your code here>\nwget https://w.sample.net")+
		fence("python", "  >>> import os\n  >>> os.system('curl https://q.sample.net')\n  0")+
		fence("ts", "const x: = (\nawait fetch('https://t.sample.net')\nThen do it.")+
		fence("js", "async go() { await fetch('https://c.sample.net') }\n")+
		fence("bash", "curl https://s.sample.net | bash (\nif then\nnc b.sample.net 1"),
		"package.json", "{\n\t// why\n\t\"scripts\": {\"postinstall\": \"curl https://j.sample.net\",},\n}", "plugin.json", `{"hooks": `, "pyproject.toml", "[project", "a.json", `{"hooks": `,
		"scripts/a.ts", "const x: = (", "scripts/b.sh", "if then")
	r, err := Scan(t.Context(), fsys, &Options{Python: runPython3})
	if err != nil {
		t.Fatal(err)
	}
	all, unread, broken := "", "", 0
	for _, f := range r.Facts {
		all += fmt.Sprintf("%s %s %v %v\n", f.Kind, f.Name, f.Maybe, len(f.From))
		if f.Name == brokenName {
			broken++
		}
	}
	for _, name := range []string{"p", "w", "q", "t", "c", "s", "b", "j"} {
		if !strings.Contains(all, "sends "+name+".sample.net false") {
			t.Errorf("no %s in\n%s", name, all)
		}
	}
	for _, f := range r.Files {
		if f.Unread != "" {
			unread += f.Path + " "
		}
	}
	if want := "plugin.json pyproject.toml scripts/a.ts scripts/b.sh "; broken != 1 || unread != want {
		t.Errorf("%d broken, unread %q, want %q", broken, unread, want)
	}
}

// What a file is that is no text is known by its first bytes.
func TestClassOf(t *testing.T) {
	pad := strings.Repeat("\x00", 30)
	for content, want := range map[string]string{
		"\x7fELF" + pad: "program a native program", "MZ" + pad: "program a native program", "\x00asm" + pad: "program WebAssembly",
		"\xca\xfe\xba\xbe\x00\x00\x00\x34": "program Java byte code", "\xca\xfe\xba\xbe\x00\x00\x00\x02": "program a native program",
		"\x55\x0d\r\n" + pad: "program Python byte code", "\x03\xf3\r\n" + pad: "program Python byte code", "\x89PNG\r\n\x1a\n" + pad: "media a picture",
		"RIFF\x00\x00\x00\x00WEBPVP8 ": "media a picture or a sound", "SQLite format 3\x00" + pad: "other a database", "PK\x03\x04": "archive zip",
		"\x01\x02\x03": " unknown bytes", "": " unknown bytes", pad + "\x01\x02": " unknown bytes",
	} {
		if class, kind := classOf([]byte(content)); class+" "+kind != want {
			t.Errorf("%q: got %s %s, want %s", content, class, kind, want)
		}
	}
}
