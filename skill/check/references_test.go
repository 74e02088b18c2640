package check

import (
	"fmt"
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/markdown"
)

func TestReferences(t *testing.T) { // R1
	for _, row := range []struct {
		name, body string
		want       []string // what is missing or outside, as "line:column path"
	}{
		{"there", "`scripts/a.py` and `./scripts/a.py --x` and `lib/b.js`", nil},
		{"span", "Run `scripts/no.py`.", []string{"1:6 scripts/no.py"}},
		{"command in a span", "Run `python3 scripts/no.py --in=x` and ``bash ./scripts/no.sh; ls``.", []string{"1:14 scripts/no.py", "1:47 ./scripts/no.sh"}},
		{"folder of the skill", "`lib/no.js` and `src/no.js`", []string{"1:2 lib/no.js"}},
		{"folders of every skill", "`references/no.md` `assets/no.png` `toolsets/no.yaml`", []string{"1:2 references/no.md", "1:21 assets/no.png", "1:37 toolsets/no.yaml"}},
		{"once", "`scripts/no.py` [a](scripts/no.py)\n`./scripts/no.py`", []string{"1:2 scripts/no.py"}},
		{"columns are characters", "für `scripts/no.py`", []string{"1:6 scripts/no.py"}},
		{"patterns", "`scripts/*.py` `scripts/<name>.py` `assets/{a,b}.png` `$X/scripts/no.py` `references/[x].md` `scripts/...`", nil},
		{"any name", "`scripts/script_name.py` `scripts/example.py` `references/your-topic.md` `assets/foo.png` `references/xxx.md`", nil},
		{"no extension", "`scripts/no` `references/`", nil},
		{"elsewhere", "`~/scripts/no.py` `/scripts/no.py` `https://example.com/scripts/no.py` `x/scripts/no.py`", nil},
		{"not in code", "Run scripts/no.py now.", nil},
		{"examples", "- **Example**: `scripts/no.py`\n`a` (e.g. `scripts/no.py`)\nOther files (like `scripts/no.py`)\nA `scripts/no.py` would help.\nCheck whether `scripts/no.py` exists.", nil},
		{"still to be written", "Create `scripts/no.py`.\nSave `scripts/a.py` as `scripts/no.py`.", nil},
		{"before an example", "`scripts/no.py`, for example with `scripts/other.py`", []string{"1:2 scripts/no.py"}},
		{"root of a plugin", "`${CLAUDE_PLUGIN_ROOT}/scripts/*.py`, such as\nUse `$PLUGIN_ROOT`: `scripts/no.py`", nil},
		{"link in a span", "Write `[text](references/no.md)` and ``[`x`](no.md)``.", nil},
		{"link with a span", "[`x`](references/no.md)", []string{"1:7 references/no.md"}},
		{"link around a span", "[`references/no.md`](references/other.md)", []string{"1:3 references/no.md", "1:22 references/other.md"}},
		{"short form of a link", "[`references/no.md`](../y/references/no.md) [`scripts/no.py`](references/no.py)", []string{"1:22 ../y/references/no.md", "1:47 scripts/no.py", "1:63 references/no.py"}},
		{"import of a program", "`import logo from './assets/logo.png'` `require(\"./scripts/no.js\")`\n`cat './assets/no.txt'`", []string{"2:7 ./assets/no.txt"}},
		{"one of each name", "[x](./part-name.md) `scripts/tool_name.py` `references/name.md`", []string{"1:45 references/name.md"}},
		{"to be added", "Better once `scripts/no.py` is added\n`scripts/no.sh` will be added\nThe added `scripts/no.js`", []string{"3:12 scripts/no.js"}},
		{"link after a lone `", "a ` b [x](no.md)", []string{"1:11 no.md"}},
		{"outside", "[x](../y.md) `scripts/../../z.md`", []string{"1:5 ../y.md", "1:15 scripts/../../z.md"}},
		{"another skill", "[x](../pdf/SKILL.md) [y](../pdf/) [z](../../a/b/SKILL.md) [w](../pdf/references/a.md)", []string{"1:63 ../pdf/references/a.md"}},
		{"home", "[x](~/y.md)", nil},
		{"folder of the project", "[x](.wiki/y.md) [y](./no.md)", []string{"1:21 ./no.md"}},
		{"placeholders", "`python {baseDir}/scripts/no.py` `${CLAUDE_SKILL_DIR}/scripts/a.py`\n`${CLAUDE_PLUGIN_ROOT}/scripts/no2.py`", []string{"1:9 scripts/no.py"}},
		{"quoted block", "> ```md\n> [x](no.md)\n> ```\n> [y](gone.md)", []string{"4:7 gone.md"}},
		{"block in a list", "1. ```md\n   [x](no.md)\n   ```\n- ```\n  [x](no.md)\n  ```\n- [y](gone.md)", []string{"7:7 gone.md"}},
		{"block", "```bash\n# a comment: scripts/no.py\n$ X=1 python3 scripts/no.py -o assets/out.png\ncat references/no.md > assets/out.md\nmkdir assets/no.d\n./scripts/no.sh\nscripts/last.sh\n```",
			[]string{"3:15 scripts/no.py", "4:5 references/no.md", "6:1 ./scripts/no.sh", "7:1 scripts/last.sh"}},
		{"block without a language", "~~~\nuv run scripts/no.py\n- scripts/listed.py\n~~~", []string{"2:8 scripts/no.py"}},
		{"block of another language", "```python\nscripts/no.py\n[x](no.md)\n```", nil},
		{"block after a cd", "```sh\ncd ../y\npython scripts/no.py\n```", nil},
		{"working directory", "```sh\n./assets/run.sh\n```", nil},
		{"nested blocks", "```markdown\n```bash\npython scripts/no.py\n```\n[x](no.md)\n```\n`scripts/last.py`", []string{"7:2 scripts/last.py"}},
		{"what is wrong", "- Bad: [x](no.md) `scripts/no.py`\n> **Wrong:** [x](no.md)\nDon't: [x](no.md)\n❌ [x](no.md)\nIncorrect: `scripts/no.py`", nil},
		{"a bad word", "Bad news are in [x](no.md)\nDon't read `scripts/no.py`", []string{"1:21 no.md", "2:13 scripts/no.py"}},
		{"of another", "World Watcher's `scripts/no.py`, pdf-forms skill's `scripts/a2.py`, this skill's `scripts/b.py`\n`scripts/c.py` in the pdf-forms skill", []string{"1:83 scripts/b.py"}},
		{"examples in Chinese", "说明（如 `scripts/no.py`）\n例如 `scripts/a2.py`\n如下 `scripts/b.py`", []string{"3:5 scripts/b.py"}},
		{"made by something", "`references/no.md` will be generated\n`scripts/no.sh` etc.", nil},
		{"no files", "[0](MON) [x](internal/page) [y](docs.example.com/page) [z](lib/no)\n- [a](./a.md) - [Description]\n- [b](b.md) [c](c.md)", []string{"1:33 docs.example.com/page", "1:60 lib/no", "3:7 b.md", "3:17 c.md"}},
		{"commands of a project", "```sh\npython -m pytest tests/ -v\npython scripts/no.py\n```", nil},
		{"span of three", "```scripts/no.py```", []string{"1:4 scripts/no.py"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			files := folder(map[string]string{"SKILL.md": "---\nname: x\ndescription: y\n---\n" + row.body, "scripts/a.py": "", "lib/b.js": ""})
			_, problems := Folder(files, "x", nil)
			var got []string
			for _, p := range problems {
				got = append(got, fmt.Sprintf("%d:%d %s", p.Line-4, p.Col, strings.Split(p.Message, `"`)[1]))
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("got  %q\nwant %q", got, row.want)
			}
		})
	}
}

// What the commands of a skill of one file run is not a file of the skill. R1
func TestReferencesOfOneFile(t *testing.T) {
	manifest := "---\nname: x\ndescription: y\n---\n```sh\npython scripts/no.py\n```\n`scripts/gone.py`\n"
	_, problems := Folder(folder(map[string]string{"SKILL.md": manifest}), "x", nil)
	if len(problems) != 1 || problems[0].Line != 8 {
		t.Errorf("got %v, want one problem on line 8", problems)
	}
}

// A link to another skill of the same root is not a problem if the file is there.
func TestReferencesToOtherSkills(t *testing.T) {
	root := folder(map[string]string{"skills/x/SKILL.md": "---\nname: x\ndescription: y\n---\n" +
		"[a](../y/SKILL.md) [b](../y/references/a.md) [c](../y) [d](../y/no.md) [e](../z/SKILL.md) [f](../../tools/a.md) [g](../../../out.md)",
		"skills/y/SKILL.md": "", "skills/y/references/a.md": "", "tools/a.md": ""})
	own, err := fs.Sub(root, "skills/x")
	if err != nil {
		t.Fatal(err)
	}
	_, problems := Folder(own, "x", &Options{Root: root, Rel: "skills/x"})
	var got []string
	for _, p := range problems {
		got = append(got, p.Code+" "+p.Message)
	}
	want := []string{`reference-missing "../y/no.md" does not exist`, `reference-missing "../z/SKILL.md" does not exist`,
		`reference-outside "../../tools/a.md" lies outside the skill: it is missing where the skill is installed alone`,
		`reference-outside "../../../out.md" lies outside the skill`}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each of these lines, 256 KiB long, would take minutes if reading it took the square of its length.
func TestReferencesOfLongLines(t *testing.T) {
	for _, unit := range []string{"`", "` ``", "](", "[a](b", "`scripts/a.b` ", "`scripts/a.b e.g. ", "scripts/", "`scripts/_/", "x=y ", "``` ", "\xff`", "=`,"} {
		r := referenceReader{own: map[string]bool{"scripts": true}}
		line := strings.Repeat(unit, 1<<18/len(unit))
		for range 2 { // in the second turn within a code block
			for _, ref := range r.read(line) {
				if ref.at < 0 || ref.at >= len(line) {
					t.Fatalf("%q: a reference at byte %d of %d", unit, ref.at, len(line))
				}
			}
			r.fence, r.depth, r.shell = "~~~", 1, true
		}
	}
	var runs strings.Builder // one of each length: none closes another
	for i := range 1400 {
		runs.WriteString(strings.Repeat("`", i+1) + " ")
	}
	if got := (&markdown.Spans{}).Append(nil, runs.String()); got != nil {
		t.Errorf("got %v, want no span", got)
	}
}

func FuzzReferences(f *testing.F) {
	for _, s := range []string{"`scripts/a.py` [x](y.md)", "```sh\npython scripts/a.py\n```", "a `b``c` ](<x", "~~~\n```x\n~~~"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r := referenceReader{own: map[string]bool{"scripts": true}}
		quick := referenceReader{own: r.own}
		skipped, begin := quick.next(body, 0), 0
		for line := range strings.SplitSeq(body, "\n") {
			last, refs := 0, r.read(line)
			if begin == skipped && begin < len(body) { // next leaves out no line that matters
				if got := quick.read(line); !slices.Equal(got, refs) {
					t.Fatalf("%q: got %v, want %v", line, got, refs)
				}
				skipped = quick.next(body, min(begin+len(line)+1, len(body)))
			} else if len(refs) > 0 {
				t.Fatalf("%q in %q: was skipped", line, body)
			}
			if r.depth != quick.depth || r.fence != quick.fence || r.shell != quick.shell {
				t.Fatalf("after %q in %q: got %d %q %v, want %d %q %v", line, body, quick.depth, quick.fence, quick.shell, r.depth, r.fence, r.shell)
			}
			begin += len(line) + 1
			for _, ref := range refs {
				if ref.at < last || ref.at >= len(line) || ref.target == "" {
					t.Fatalf("%q: %q at byte %d after %d", line, ref.target, ref.at, last)
				}
				last = ref.at
			}
			if r.depth < 0 {
				t.Fatalf("%q: depth %d", line, r.depth)
			}
		}
	})
}

// The words that make paths unsure are those of two patterns.
func FuzzUnsure(f *testing.F) {
	words := regexp.MustCompile(`(?i)(?:\(like|\b(?:examples?\**:|e\.g\.|for example|for instance|such as|create|write|save|add|put))(?:\W|$)`)
	never := regexp.MustCompile(`(?i)\b(?:would|exists?|etc|created|deployed|generated|written|\w*plugin_root)\b`)
	for _, s := range []string{"a Create b", "**Examples**: x", "example:x", "e.g. x", "(E.G.)", "for  example", "FOR INSTANCE,", "such as", "such ask",
		"output", "put", "it exists", "$X_PLUGIN_ROOT/a", "plugin_roots", "add_x add", "e.g.x", "é add", "would", "(like a", "like a", "(likely"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if !isASCII(line) { // a pattern takes ſ for s
			return
		}
		want := len(line)
		if m := words.FindStringIndex(line); m != nil {
			want = m[0] + strings.Count(line[m[0]:m[0]+1], "(")
		}
		if never.MatchString(line) {
			want = 0
		}
		if got := unsure(line); got != want {
			t.Errorf("unsure(%q) = %d, want %d", line, got, want)
		}
	})
}

func FuzzIsPath(f *testing.F) {
	pattern := regexp.MustCompile(`^[\w./-]+\.[A-Za-z]\w{0,9}$`)
	for _, s := range []string{"scripts/a.py", "./a-b/c.tar.gz", ".py", "a.", "a.1x", "a._x", "a.abcdefghij", "a.abcdefghijk", "é.py", "a b.py", "a.p\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if got, want := isPath(word), pattern.MatchString(word); got != want {
			t.Errorf("isPath(%q) = %v, want %v", word, got, want)
		}
	})
}

// The targets of links are those of a pattern.
func FuzzLinkTarget(f *testing.F) {
	pattern := regexp.MustCompile(`\]\(<?([^)<>\s]+)>?[^)]*\)`)
	for _, s := range []string{"[a](b)", "[a](<b c>) [d](e)", "](", "[a](b](c)", "[a]()(x)", "[a](<)", `[a](b "](c) d)`, "](a ](b) ](c", "[é](\xff)", "](a\v)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var got, want [][]int
		for at, end, next := linkTarget(line, 0); at < end; at, end, next = linkTarget(line, next) {
			got = append(got, []int{at, end})
		}
		for _, m := range pattern.FindAllStringSubmatchIndex(line, -1) {
			want = append(want, m[2:])
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("targets of %q: %v, want %v", line, got, want)
		}
	})
}

// A plain path is a URL that means itself.
func FuzzIsPlainPath(f *testing.F) {
	for _, s := range []string{"a/b.md", "a//b-c", ".", "a:b", "a%20b", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" || s[0] == '/' || !isPlainPath(s) {
			return
		}
		if u, err := url.Parse(s); err != nil || u.Scheme != "" || u.Host != "" {
			t.Errorf("%q: %v, %v", s, u, err)
		}
		if plain, err := url.PathUnescape(s); err != nil || plain != s {
			t.Errorf("%q: got %q, %v", s, plain, err)
		}
	})
}

// The paths that stand for any file are those of a pattern.
func FuzzMeansAny(f *testing.F) {
	pattern := regexp.MustCompile(`(?i)(?:^|[/_.-])(?:script_?name|file_?name|your|my|foo|xxx+)(?:$|[/_.-])|/(?:example|guide|tool)\.|[_-]name\.|\.\.\.`)
	for _, s := range []string{"scripts/script_name.py", "a/FileName.md", "script-name.py", "my.py", "mine.py", "x/xx.md", "x/xXx.md", "a/example.py",
		"example.py", "a/example/b.py", "a/b...c", "scripts/file_name", "file__name", "name", "_name", "/", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if !isASCII(path) {
			return
		}
		if got, want := meansAny(path), pattern.MatchString(path); got != want {
			t.Errorf("meansAny(%q) = %v, want %v", path, got, want)
		}
	})
}

// A path of code that the skill does not have may be one of the repository, or of a skill beside it that the text names. R1
func TestReferencesElsewhere(t *testing.T) {
	body := "Run `scripts/sync.sh` and `scripts/plugin.py`.\n\nSee the pdf-forms skill's\n`references/fields.md`.\n\n`references/fields2.md`\n\nIn `pdf-forms` " + strings.Repeat("there is one more ", 30) + "`references/fields3.md`\n\n[x](scripts/sync.sh)\n"
	root := folder(map[string]string{
		"scripts/sync.sh": "", "plug/scripts/plugin.py": "", "plug/skills/pdf-forms/references/fields.md": "", "plug/skills/pdf-forms/references/fields2.md": "", "plug/skills/pdf-forms/references/fields3.md": "",
		"plug/skills/x/SKILL.md": "---\nname: x\ndescription: y\n---\n" + body,
	})
	at, err := fs.Sub(root, "plug/skills/x")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		root fs.FS
		want []string
	}{
		{root, []string{"references/fields2.md"}},
		{nil, []string{"scripts/sync.sh", "scripts/plugin.py", "references/fields.md", "references/fields2.md", "references/fields3.md"}},
	} {
		_, problems := Folder(at, "x", &Options{Root: row.root, Rel: "plug/skills/x"})
		var got []string
		for _, p := range problems {
			got = append(got, strings.Split(p.Message, `"`)[1])
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("got %q, want %q", got, row.want)
		}
	}
}
