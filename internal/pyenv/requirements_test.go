package pyenv

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// files makes a file system of a tree.
func files(tr tree) fs.FS {
	out := fstest.MapFS{}
	for name, content := range tr {
		out[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	}
	return out
}

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// C68: requirements files as people write them.
func TestReadRequirements(t *testing.T) {
	long := strings.Repeat("click\n", maxDependencies+1)
	tests := []struct {
		name  string
		files tree
		want  *Needs
		err   string
	}{
		{name: "plain", files: tree{"requirements.txt": "requests>=2.31\r\n\r\nPyYAML == 6.0 # for the front matter\n# all\npillow\n"},
			want: &Needs{Dependencies: []string{"requests>=2.31", "PyYAML == 6.0", "pillow"}}},
		{name: "byte order mark, extras and markers", files: tree{"requirements.txt": "\ufeffuvicorn[standard]>=0.20 ; python_version >= \"3.9\" and sys_platform != 'win32'\n"},
			want: &Needs{Dependencies: []string{`uvicorn[standard]>=0.20 ; python_version >= "3.9" and sys_platform != 'win32'`}}},
		{name: "only comments", files: tree{"requirements.txt": "# nothing beyond the standard library\n"}, want: &Needs{}},
		{name: "empty", files: tree{"requirements.txt": ""}, want: &Needs{}},
		{name: "continued lines and hashes", files: tree{"requirements.txt": "click==8.1 \\\n    --hash=" + digest + " \\\n    --hash " + digest + "\nPy_YAML --hash=" + digest + "  # as pip-compile writes it\n"},
			want: &Needs{Dependencies: []string{"click==8.1", "Py_YAML"}, Hashes: map[string][]string{"click": {digest, digest}, "py-yaml": {digest}}}},
		{name: "a comment does not continue", files: tree{"requirements.txt": "# see \\\nclick\n"}, want: &Needs{Dependencies: []string{"click"}}},
		{name: "the last line continues", files: tree{"requirements.txt": "click \\"}, want: &Needs{Dependencies: []string{"click"}}},
		{name: "included and constrained", files: tree{"requirements.txt": "-r reqs/base.txt\n--constraint=reqs/limits.txt\n-creqs/more.txt\nclick\n", "reqs/base.txt": "-r ../extra.txt\nidna\n",
			"extra.txt": "six", "reqs/limits.txt": "click<9\n", "reqs/more.txt": "six<2"},
			want: &Needs{Dependencies: []string{"six", "idna", "click"}, Constraints: []string{"click<9", "six<2"}}},
		{name: "what always holds", files: tree{"requirements.txt": "--require-hashes\n--only-binary :all:\n--prefer-binary\nclick"}, want: &Needs{Dependencies: []string{"click"}}},

		{name: "an index", files: tree{"requirements.txt": "click\n\n--extra-index-url https://download.example/cpu\n"}, err: "requirements.txt:3: --extra-index-url is not allowed, since a skill does not choose where packages come from: remove it"},
		{name: "an index in short", files: tree{"requirements.txt": "-i https://x\n"}, err: "requirements.txt:1: -i is not allowed"},
		{name: "an index without a space", files: tree{"requirements.txt": "-ihttps://x\n"}, err: "requirements.txt:1: -i is not allowed"},
		{name: "links", files: tree{"requirements.txt": "--find-links=https://x\n"}, err: "requirements.txt:1: --find-links is not allowed"},
		{name: "a trusted host", files: tree{"requirements.txt": "--trusted-host x\n"}, err: "requirements.txt:1: --trusted-host is not allowed"},
		{name: "an index in an included file", files: tree{"requirements.txt": "-r b.txt\n", "b.txt": "\n--index-url https://x\n"}, err: "b.txt:2: --index-url is not allowed"},
		{name: "editable", files: tree{"requirements.txt": "-e .\n"}, err: "requirements.txt:1: -e is not allowed, since a package is not built from its source"},
		{name: "another option", files: tree{"requirements.txt": "--pre\n"}, err: `requirements.txt:1: the option "--pre" is not allowed: remove it`},
		{name: "an option of a package", files: tree{"requirements.txt": "click --global-option=x\n"}, err: `the option "--global-option" is not allowed`},
		{name: "an address", files: tree{"requirements.txt": "https://x.example/a-1-py3-none-any.whl\n"}, err: "requirements.txt:1: \"https://x.example/a-1-py3-none-any.whl\" is an address or a path, which is not allowed: name the package"},
		{name: "version control", files: tree{"requirements.txt": "git+https://github.com/a/b\n"}, err: "is an address"},
		{name: "a name with an address", files: tree{"requirements.txt": "a @ git+https://github.com/a/b\n"}, err: "is an address"},
		{name: "a path", files: tree{"requirements.txt": "./wheels/a.whl\n"}, err: "is an address or a path"},
		{name: "a file", files: tree{"requirements.txt": "wheels/a-1-py3-none-any.whl\n"}, err: "is an address or a path"},
		{name: "a path of Windows", files: tree{"requirements.txt": "C:\\wheels\\a.whl\n"}, err: "is an address or a path"},
		{name: "a variable", files: tree{"requirements.txt": "click${X}\n"}, err: "requirements.txt:1:"},
		{name: "no condition", files: tree{"requirements.txt": "click\nfoo=1.0\n"}, err: `requirements.txt:2: "foo=1.0": "=1.0" is not a condition on a version`},
		{name: "a weak hash", files: tree{"requirements.txt": "click --hash=md5:00\n"}, err: "is not a hash that can be checked"},
		{name: "outside the skill", files: tree{"requirements.txt": "-r ../../etc/passwd\n"}, err: `requirements.txt:1: "../../etc/passwd" is not a file of the skill`},
		{name: "an absolute file", files: tree{"requirements.txt": "-r /etc/passwd\n"}, err: "is not a file of the skill"},
		{name: "an included address", files: tree{"requirements.txt": "-r https://x/r.txt\n"}, err: "is not a file of the skill"},
		{name: "a missing file", files: tree{"requirements.txt": "-r base.txt\n"}, err: "requirements.txt:1: base.txt is not there: add it, or remove the line"},
		{name: "itself", files: tree{"requirements.txt": "-r requirements.txt\n"}, err: "more than 8 files include each other"},
		{name: "too many", files: tree{"requirements.txt": long}, err: "more than 500 packages"},
		{name: "too large", files: tree{"requirements.txt": strings.Repeat("#", maxDeclaration+1)}, err: "more than 262144 bytes"},
		{name: "too large together", files: tree{"requirements.txt": "-r b.txt\n" + strings.Repeat("#", maxDeclaration/2), "b.txt": strings.Repeat("#", maxDeclaration/2+1)}, err: "requirements.txt:1: b.txt: "},
		{name: "UTF-16", files: tree{"requirements.txt": "\xff\xfec\x00l\x00"}, err: "requirements.txt is in UTF-16"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readRequirements(files(tt.files), "requirements.txt")
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || errors.Is(err, fs.ErrNotExist) {
					t.Fatalf("got %v, %v, want error %q", got, err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			tt.want.From = "requirements.txt"
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is accepted can be given to uv, and says nothing about where packages come from.
func FuzzReadRequirements(f *testing.F) {
	f.Add("requests>=2 # x\n-r b.txt\nclick --hash="+digest+"\n", "six ; python_version<'4'\n")
	f.Add("--index-url https://x\n-e .\n", "-r requirements.txt\n")
	f.Add("a \\\n b\\\n", "\xff\xfe")
	f.Fuzz(func(t *testing.T, a, b string) {
		n, err := readRequirements(files(tree{"requirements.txt": a, "b.txt": b}), "requirements.txt")
		if err != nil {
			return
		}
		if err := n.check(); err != nil {
			t.Fatal(err)
		}
		block, err := ParseBlock([]byte((&Needs{Dependencies: n.Dependencies}).canonical()))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range block.Dependencies {
			if name, _, _ := strings.Cut(d, ";"); strings.ContainsAny(name, "@/:\\\n") {
				t.Fatalf("%q is accepted", d)
			}
		}
	})
}

// C68: which file says what a script needs.
func TestDeclared(t *testing.T) {
	project := "[project]\nrequires-python = \">=3.9\"\ndependencies = [\"click\"]\n"
	tests := []struct {
		name  string
		files tree
		want  *Needs
		err   string
	}{
		{name: "nothing", files: tree{"SKILL.md": ""}, want: &Needs{}},
		{name: "next to the script", files: tree{"tools/requirements.txt": "a", "scripts/requirements.txt": "b", "requirements.txt": "c"},
			want: &Needs{Dependencies: []string{"a"}, From: "tools/requirements.txt"}},
		{name: "in scripts", files: tree{"scripts/requirements.txt": "b", "requirements.txt": "c"}, want: &Needs{Dependencies: []string{"b"}, From: "scripts/requirements.txt"}},
		{name: "in the root", files: tree{"requirements.txt": "c", "pyproject.toml": project}, want: &Needs{Dependencies: []string{"c"}, From: "requirements.txt"}},
		{name: "an empty file decides too", files: tree{"requirements.txt": "", "pyproject.toml": project}, want: &Needs{From: "requirements.txt"}},
		{name: "project", files: tree{"pyproject.toml": project}, want: &Needs{RequiresPython: ">=3.9", Dependencies: []string{"click"}, From: "pyproject.toml"}},
		{name: "project next to the script", files: tree{"tools/pyproject.toml": project, "pyproject.toml": "broken ["},
			want: &Needs{RequiresPython: ">=3.9", Dependencies: []string{"click"}, From: "tools/pyproject.toml"}},
		{name: "a project that declares nothing", files: tree{"tools/pyproject.toml": "[tool.ruff]\nline-length = 99\n", "pyproject.toml": project},
			want: &Needs{RequiresPython: ">=3.9", Dependencies: []string{"click"}, From: "pyproject.toml"}},
		{name: "only a Python", files: tree{"pyproject.toml": "[project]\nname = \"x\"\nrequires-python = \">=3.8\"\n"}, want: &Needs{RequiresPython: ">=3.8", From: "pyproject.toml"}},
		{name: "dynamic", files: tree{"pyproject.toml": "[project]\nname = \"x\"\ndynamic = [\"dependencies\"]\n"}, want: &Needs{}},
		{name: "broken", files: tree{"pyproject.toml": "[project\n"}, err: "pyproject.toml is not valid: "},
		{name: "of another type", files: tree{"pyproject.toml": "[project]\ndependencies = \"click\"\n"}, err: "pyproject.toml is not valid: "},
		{name: "an address", files: tree{"pyproject.toml": "[project]\ndependencies = [\"a @ https://x\"]\n"}, err: "an address is not allowed"},
		{name: "an address elsewhere", files: tree{"pyproject.toml": "[project]\ndependencies = [\"My.Lib>=1\"]\n[tool.uv.sources]\nmy_lib = { git = \"https://x\" }\n"},
			err: "my_lib comes from an address in [tool.uv.sources]"},
		{name: "a broken Python", files: tree{"pyproject.toml": "[project]\nrequires-python = \"3.9\"\n"}, err: "pyproject.toml: requires-python: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Declared(files(tt.files), "tools/a.py")
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
				t.Error(diff)
			}
		})
	}
}

// C68: of a package with hashes only these files are installed; constraints hold.
func TestHashesAndConstraintsHold(t *testing.T) {
	packages := t.TempDir()
	wheel(t, packages, "dep", "1.0", tree{"dep.py": ""})
	wheel(t, packages, "dep", "2.0", tree{"dep.py": ""})
	b, err := os.ReadFile(filepath.Join(packages, "dep-2.0-py3-none-any.whl"))
	if err != nil {
		t.Fatal(err)
	}
	own := fmt.Sprintf("sha256:%x", sha256.Sum256(b))
	s := uvStore(t, packages, nil)
	for _, tt := range []struct {
		name, text, want, err string
	}{
		{"free", "dep", "dep==2.0", ""},
		{"its hash", "dep --hash=" + own + " --hash=" + digest, "dep==2.0", ""},
		{"another hash", "dep --hash=" + digest, "", "dep==2.0 has no file with a hash that requirements.txt names"},
		{"constrained", "dep\n-c limits.txt", "dep==1.0", ""},
	} {
		n, err := readRequirements(files(tree{"requirements.txt": tt.text, "limits.txt": "dep<2"}), "requirements.txt")
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Prepare(context.Background(), &Script{Name: "a", Needs: n}, nil)
		if tt.err != "" {
			failure(t, err, ReasonDependencies, tt.err)
			continue
		}
		if err != nil || strings.Join(p.Packages(), " ") != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.name, p.Packages(), err, tt.want)
		}
	}
}

// No pyproject.toml brings a dependency with an address, or an option for uv.
func FuzzReadProject(f *testing.F) {
	f.Add("[project]\nrequires-python = '>=3.9'\ndependencies = ['click>=8', 'a[b]; python_version<\"3\"']\n[tool.uv.sources]\nx = {git='y'}\n")
	f.Add("[project]\ndynamic = ['dependencies']\ndependencies = ['a @ https://x']\n")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := readProject(files(tree{"pyproject.toml": text}), "pyproject.toml")
		if err != nil || n == nil {
			return
		}
		if len(n.Dependencies) > maxDependencies {
			t.Fatalf("%d dependencies", len(n.Dependencies))
		}
		for _, d := range n.Dependencies {
			if d == "" || d[0] == '-' || strings.ContainsAny(d, "\n\r\x00") || strings.Contains(d, "://") {
				t.Fatalf("dependency %q", d)
			}
		}
	})
}
