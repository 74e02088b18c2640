package pyenv

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseBlock(t *testing.T) {
	big := "# /// script\n# dependencies = [\n" + strings.Repeat("#   \"httpx\",\n", 1500) + "# ]\n# ///\n"
	tests := []struct {
		name, src string
		want      *Needs
		err       string
	}{
		{name: "none", src: "print(1)\n"},
		{name: "empty file", src: ""},
		{name: "empty block", src: "# /// script\n# ///\n", want: &Needs{From: inBlock}},
		{name: "whole", src: "#!/usr/bin/env -S uv run --script\n# /// script\n# requires-python = \">=3.9\"\n# dependencies = [\n#   \"httpx>=0.27,<1\",\n#   \"click\",\n# ]\n# ///\nimport httpx\n",
			want: &Needs{RequiresPython: ">=3.9", Dependencies: []string{"httpx>=0.27,<1", "click"}, From: inBlock}},
		{name: "CR LF", src: "# /// script\r\n# dependencies = [\"click\"]\r\n# ///\r\nx\r\n", want: &Needs{Dependencies: []string{"click"}, From: inBlock}},
		{name: "byte order mark", src: "\ufeff# /// script\n# dependencies = [\"click\"]\n# ///\n", want: &Needs{Dependencies: []string{"click"}, From: inBlock}},
		{name: "space after the opening", src: "# /// script \n# dependencies = [\"click\"]\n# ///\n", want: &Needs{Dependencies: []string{"click"}, From: inBlock}},
		{name: "empty comment lines", src: "# /// script\n#\n# dependencies = []\n#\n# ///", want: &Needs{From: inBlock}},
		{name: "closed by the last line of the comment", src: "# /// script\n# requires-python = '''>=3\n# ///\n# '''\n# ///\n", err: "is not a condition"},
		{name: "comment follows", src: "# /// script\n# dependencies = [\"click\"]\n# ///\n# more\n", want: &Needs{Dependencies: []string{"click"}, From: inBlock}},
		{name: "block of another type", src: "# /// other\n# x = 1\n# ///\n"},
		{name: "not closed", src: "# /// script\n# dependencies = []\nprint(1)\n", err: "line 1: the script block is not closed"},
		{name: "not closed at the end", src: "x\n# /// script\n# dependencies = []\n", err: "line 2: the script block is not closed"},
		{name: "two blocks", src: "# /// script\n# ///\n\n# /// script\n# ///\n", err: "line 4: a second script block"}, // UV17
		{name: "one inside another", src: "# /// script\n# /// script\n# ///\n# ///\n", err: "line 2: a second script block"},
		{name: "no TOML", src: "# /// script\n# dependencies = [\n# ///\n", err: "no valid TOML"},
		{name: "no comment sign", src: "# /// script\n#dependencies = []\n# ///\n", err: "not closed"},
		{name: "over 16 KiB", src: big, err: "(max 16384)"},
		{name: "dependencies of another type", src: "# /// script\n# dependencies = \"click\"\n# ///\n", err: "dependencies is not a list"},
		{name: "a number as dependency", src: "# /// script\n# dependencies = [1]\n# ///\n", err: "dependencies is not a list"},
		{name: "requires-python of another type", src: "# /// script\n# requires-python = 3.9\n# ///\n", err: "requires-python is not a string"},
		{name: "requires-python broken", src: "# /// script\n# requires-python = \"3.9\"\n# ///\n", err: "requires-python"},
		{name: "deep", src: "# /// script\n# x = " + strings.Repeat("[", 8000) + "\n# ///\n", err: "no valid TOML"},
		// UV2, UV3, security 2.5 #89
		{name: "tool table", src: "# /// script\n# dependencies = []\n# [tool.uv]\n# compile-bytecode = true\n# ///\n", err: "[tool] table is not allowed"},
		{name: "tool index", src: "# /// script\n# [[tool.uv.index]]\n# url = \"https://evil\"\n# ///\n", err: "[tool] table is not allowed"},
		{name: "tool dotted", src: "# /// script\n# tool.uv.extra-index-url = [\"https://evil\"]\n# ///\n", err: "[tool] table is not allowed"},
		{name: "tool inline", src: "# /// script\n# tool = { uv = { find-links = [\"https://evil\"] } }\n# ///\n", err: "[tool] table is not allowed"},
		{name: "tool quoted", src: "# /// script\n# [\"tool\".uv]\n# link-mode = \"hardlink\"\n# ///\n", err: "[tool] table is not allowed"},
		{name: "tool of another tool", src: "# /// script\n# [tool.black]\n# line-length = 99\n# ///\n", err: "[tool] table is not allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseBlock([]byte(tt.src))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v, %v, want error %q", got, err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("blocks differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckDependency(t *testing.T) {
	for _, good := range []string{
		"click", "a", "Foo.Bar_baz-1", "httpx>=0.27,<1", "httpx >= 0.27 , < 1", "httpx (>=0.27)", "uvicorn[standard]", "a[b, c]==1.0.*", "a~=1.4.2",
		"a==1!2.0.post1", "a===1.0", "a>=1.0a1", "a==1.0+local.1", "a!=1.5,", "a; python_version < '3.11'", `a>=1; python_version < "3.11" and sys_platform == 'win32'`,
		"a ; (os_name == 'nt' or 'linux' in sys_platform) and extra not in 'x'",
	} {
		if err := checkDependency(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{ // security 2.5 #89, UV6
		"", " ", "-e .", "--index-url https://evil", "a @ https://evil/x.whl", "a@file:///etc", "a @ git+ssh://evil", "git+https://evil/x", "https://evil/x.whl",
		"./local", "/abs", "file:///x", "a\nb", "a\x00", "é", "a\\b", "a>=", "a=>1", "a==1 b", "a==1.*.*", ">=1", "a>=1.*", "a~=1", "a[b", "a(>=1", "a; evil", "a;",
		"a; python_version", "a; python_version < '3' extra", "a; ('x' == 'y'", "a; os.system('x') == 'y'", "a" + strings.Repeat("b", 2000),
		"a; " + strings.Repeat("(", 500), "a #comment", "a==1 --hash=sha256:00",
	} {
		if err := checkDependency(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestSatisfies(t *testing.T) {
	tests := []struct {
		version, required string
		want              bool
	}{
		{"3.11.7", "", true}, {"3.11.7", ">=3.9", true}, {"3.11.7", ">=3.12", false}, {"3.9.0", ">=3.9", true}, {"3.9.0", ">3.9", false},
		{"3.11.7", ">=3.9,<3.12", true}, {"3.12.0", ">=3.9,<3.12", false}, {"3.11.7", "==3.11.*", true}, {"3.12.1", "==3.11.*", false},
		{"3.11.7", "==3.11", false}, {"3.11.0", "==3.11", true}, {"3.11.7", "!=3.11.*", false}, {"3.11.7", "!=3.11.6", true}, {"3.11.7", "~=3.9", true},
		{"4.0.0", "~=3.9", false}, {"3.11.7", "~=3.11.2", true}, {"3.12.0", "~=3.11.2", false}, {"3.11.7", "<=3.11.7", true}, {"3.11.7", "===3.11.7", true},
		{"nonsense", ">=3", false}, {"3.10.1", ">=3.9.1", true},
	}
	for _, tt := range tests {
		specs, err := parseSpecifiers(tt.required)
		if err != nil {
			t.Errorf("%q: %v", tt.required, err)
		}
		if got := satisfies(tt.version, specs); got != tt.want {
			t.Errorf("%s %s: got %v, want %v", tt.version, tt.required, got, tt.want)
		}
	}
}

// A block that is accepted comes back the same from what uv is shown, and nothing in it is more than
// names, versions and markers.
func FuzzParseBlock(f *testing.F) {
	f.Add([]byte("# /// script\n# requires-python = \">=3.9\"\n# dependencies = [\"httpx>=0.27; python_version < '3.11'\", \"click\"]\n# ///\n"))
	f.Add([]byte("# /// script\r\n# tool.uv.x = 1\r\n# ///\r\n"))
	f.Add([]byte("# /// script\n# /// script\n# ///\n# ///\n"))
	f.Add([]byte("# /// script\n# dependencies = [\"a @ https://x\"]\n# ///\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		b, err := ParseBlock(src)
		if err != nil || b == nil {
			return
		}
		stub := b.canonical()
		for _, d := range b.Dependencies {
			if name, _, _ := strings.Cut(d, ";"); strings.ContainsAny(name, "@/:\\\n") {
				t.Fatalf("%q is accepted", d)
			}
		}
		again, err := ParseBlock([]byte(stub))
		if err != nil {
			t.Fatalf("%v: %s", err, stub)
		}
		if again.canonical() != stub {
			t.Fatalf("got %s, want %s", again.canonical(), stub)
		}
	})
}

// What a program said begins with a line, or else with a whole character.
func TestTail(t *testing.T) {
	for _, tt := range [][2]string{
		{"short\n", "short"},
		{"the first line\nthe second\n", "the second"},
		{"one line that is far too long", "hat is far too long"},
		{"a line with an end that is not early\nx", "that is not early\nx"},
		{"ééééééééééééééé", "ééééééééé"},
	} {
		if got := tail([]byte(tt[0]), 19); got != tt[1] {
			t.Errorf("tail(%q) = %q, want %q", tt[0], got, tt[1])
		}
	}
}
