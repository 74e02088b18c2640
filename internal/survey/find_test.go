package survey

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill/manifest"
)

// R45, C62: the names that a script is called by.
func TestFind(t *testing.T) {
	content := tree{
		"scripts/Status.py": "", "scripts/run.py": "", "scripts/run.sh": "", "scripts/a_b.py": "", "scripts/prog": "#!/bin/sh\n",
		"scripts/office/unpack.py": "", "scripts/office/same.py": "", "scripts/xml/same.py": "", "scripts/office/run.ts": "", "scripts/office/helpers/deep.py": "",
		"src/run.py": "", "src/only.mjs": "", "top.py": "", "run.py": "", "assets/only.sh": "", "assets/unpack.py": "", "my-skill/inner.py": "", "bin/tool": "#!/bin/sh\n",
	}
	s := Of(files(content), &manifest.Manifest{Name: "My_Skill"}, nil)
	for ask, want := range map[string]string{
		"Status": "scripts/Status.py", "status": "scripts/Status.py", "status.py": "scripts/Status.py", "STATUS.PY": "scripts/Status.py",
		"run.sh": "scripts/run.sh", "Run.py": "scripts/run.py", "run": "? run.py run.sh", "status.sh": "? ", "xyz": "? ", "prog": "scripts/prog",
		"unpack": "scripts/office/unpack.py", "unpack.py": "scripts/office/unpack.py", "office/unpack": "scripts/office/unpack.py", "Office/Unpack.PY": "scripts/office/unpack.py",
		"scripts/office/unpack.py": "scripts/office/unpack.py", "scripts/office/unpack": "scripts/office/unpack.py", "SCRIPTS/office/unpack.py": "scripts/office/unpack.py",
		"same": "? office/same xml/same", "same.py": "? office/same xml/same", "xml/same": "scripts/xml/same.py", "run.ts": "scripts/office/run.ts", "deep": "scripts/office/helpers/deep.py",
		"helpers/deep.py": "? ", "src/run.py": "src/run.py", "src/run": "src/run.py", "only": "? assets/only.sh src/only.mjs", "only.mjs": "src/only.mjs", "top": "top.py", "./top.py": "top.py",
		"scripts/status.py": "scripts/Status.py", "./scripts/status.py": "scripts/Status.py", "./run.py": "run.py", "././run.py": "run.py", "./status.py": "scripts/Status.py", "bin/tool": "bin/tool", "tool": "bin/tool",
		"${CLAUDE_SKILL_DIR}/scripts/status.py": "scripts/Status.py", "{baseDir}/scripts/office/unpack.py": "scripts/office/unpack.py", "$SKILL_DIR/run.py": "run.py", "<skill-dir>/src/run.py": "src/run.py",
		"${CLAUDE_PLUGIN_ROOT}/skills/my-skill/src/run.py": "src/run.py", "~/.claude/skills/my-skill/scripts/status.py": "scripts/Status.py", ".claude/skills/My_Skill/top.py": "top.py",
		"/mnt/skills/user/my-skill/scripts/run.sh": "scripts/run.sh", "/etc/my-skill/../scripts/run.sh": "! ", "/etc/passwd": "! ", "skills/my-skill/scripts/run.sh": "scripts/run.sh", "my-skill/top.py": "top.py", "my-skill/inner.py": "my-skill/inner.py", "skills/other/scripts/status.py": "? ", "my-skill/my-skill/inner.py": "my-skill/inner.py",
		"../scripts/status.py": "! ", "scripts/../scripts/status.py": "! ", "/scripts/status.py": "! ", `scripts\status.py`: "scripts/Status.py", `.\scripts\status.py`: "scripts/Status.py", `..\status.py`: "! ", "SKILL_DIR/scripts/status.py": "scripts/Status.py", "SKILL_DIR/../status.py": "! ", "SKILL_DIR": "? ", "OTHER_DIR/status.py": "? ", `C:\scripts\status.py`: "! ", `\scripts\status.py`: "! ", `scripts\..\status.py`: "! ", "scripts/status.py\x00": "! ", "": "! ", ".": "! ", "./": "! ", "/": "! ", "~": "! ",
		"scripts//status.py": "! ", "scripts/": "! ", "a b": "! ", "ſtatus": "scripts/Status.py", "scripts/\u200dstatus.py": "! ", "__pycache__": "! ", "scripts/__pycache__/a.py": "! ", ".hidden": "! ", "scripts/.hidden.py": "! ",
		"~/scripts/status.py": "! ", "${X}/../status.py": "! ", "${X}": "! ", strings.Repeat("a", 129): "! ", strings.Repeat("a/", 300) + "a": "! ", strings.Repeat("my-skill/", 300): "! ",
	} {
		sc, same, ok := s.Find(ask)
		got := sc.File
		switch {
		case !ValidName(ask, s.m, nil):
			got = "! "
		case !ok:
			got = "? " + strings.Join(same, " ")
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", ask, got, want)
		}
	}
}

// C62: under the rule Direct a name has no path.
func TestFindDirect(t *testing.T) {
	s := Of(files(tree{"scripts/status.py": "", "scripts/sub/x.py": "", "src/y.py": ""}), &manifest.Manifest{}, &Options{Rule: Direct})
	if got := paths(s.Runnable()); !slices.Equal(got, []string{"scripts/status.py"}) || !slices.Equal(paths(s.Kept()), got) {
		t.Errorf("runnable %q, kept %q", got, s.Kept())
	}
	for ask, want := range map[string]bool{"status": true, "Status.py": true, "scripts/status.py": false, "./status": false, "x": false, "sub/x.py": false, "y": false} {
		if _, _, ok := s.Find(ask); ok != want {
			t.Errorf("%q: got %v", ask, ok)
		}
	}
}

// C62: a file that finds no script says why.
func TestWhy(t *testing.T) {
	fsys := files(tree{"scripts/noext*": "text", "scripts/notes.md": "", "scripts/_a.py": "", "src/prog*": "text", "scripts/sub/noext*": "text"})
	fsys["scripts/link.py"] = link("../a.py")
	ignoring := &manifest.Manifest{ScriptsIgnore: []string{"_*"}}
	kind := "nothing shows what runs %, so give it " + Kinds(Any)
	if !strings.HasPrefix(Kinds(Any), "an extension of .py .sh ") || !strings.HasSuffix(kind, ", or a #! line") {
		t.Errorf("got %q", kind)
	}
	for ask, want := range map[string]string{
		"noext": strings.Replace(kind, "%", "scripts/noext", 1), "scripts/NoExt": strings.Replace(kind, "%", "scripts/noext", 1), "src/prog": strings.Replace(kind, "%", "src/prog", 1),
		"sub/noext": strings.Replace(kind, "%", "scripts/sub/noext", 1), "notes": "", "scripts/notes.md": "", "link": "scripts/link.py is a symbolic link, and scripts must be files: replace it by a copy, or install the skill from its repository, which copies such files",
		"scripts/_a.py": "scripts_ignore of its manifest excludes scripts/_a.py", "gone": "", "../x": "",
	} {
		if got := Of(fsys, ignoring, nil).Why(ask); got != want {
			t.Errorf("%q: got %q, want %q", ask, got, want)
		}
	}
	declaring := &manifest.Manifest{ScriptsDeclared: true}
	if got := Of(fsys, declaring, nil).Why("_a"); got != "its manifest does not list scripts/_a.py in scripts" {
		t.Errorf("got %q", got)
	}
	if got := Of(fsys, ignoring, &Options{Rule: Direct}).Why("noext"); !strings.HasSuffix(got, "of .py .sh .js .ts .rb .pl, or a #! line") {
		t.Errorf("got %q", got)
	}
}

// Whatever a model asks for, the name is a path in the skill, and its case does not matter.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"status", "Status.py", "../x", ".", "a..b", "a/b", "run.py", "ſ", "scripts/sub/x.py", "./x", "${A}/scripts/status.py", "~/s/run.py", "{b}/../x", "<a/b"} {
		f.Add(s)
	}
	s := Of(files(tree{"scripts/Status.py": "", "scripts/run.py": "", "scripts/run.sh": "", "scripts/sub/x.py": "", "src/x.py": "", "s/y.sh": ""}), &manifest.Manifest{Name: "s"}, nil)
	f.Fuzz(func(t *testing.T, name string) {
		for _, to := range targets(name, s.m) {
			if strings.ContainsAny(to.path, "\\ \x00$") || strings.HasPrefix(to.path, ".") || strings.Contains(to.path, "..") || !filepath.IsLocal(to.path) {
				t.Fatalf("%q means %q", name, to.path)
			}
		}
		if !ValidName(name, s.m, nil) {
			return
		}
		lower, _, lowerOK := s.Find(strings.ToLower(name))
		upper, _, upperOK := s.Find(strings.ToUpper(name))
		if lower != upper || lowerOK != upperOK {
			t.Fatalf("%q: %v, %v and %v, %v", name, lower, lowerOK, upper, upperOK)
		}
	})
}

// Of any files, each script is found by its name and by its path, and by no other's; what is listed or kept can be run.
func FuzzScripts(f *testing.F) {
	f.Add("scripts/a.py a.py scripts/a.sh src/a.py scripts/x/a.py", "python src/a.py", "")
	f.Add("scripts/a.b.py scripts/a.b scripts/A.PY Scripts/a.py", "", "a")
	f.Fuzz(func(t *testing.T, names, body, listed string) {
		content := tree{}
		for i, name := range strings.Fields(names) {
			if !strings.ContainsAny(name, "*") && filepath.IsLocal(name) {
				content[filepath.ToSlash(filepath.Clean(name))] = []string{"", "#!/bin/sh\n", elf}[i%3]
			}
		}
		for name := range content { // no file is also a folder
			for other := range content {
				if strings.HasPrefix(other, name+"/") || name == "." {
					return
				}
			}
		}
		m := &manifest.Manifest{Name: "a", Body: body, Scripts: strings.Fields(listed), ScriptsDeclared: listed != ""}
		s := Of(files(content), m, nil)
		all := s.Runnable()
		for _, sc := range all {
			for _, ask := range []string{sc.Name, "./" + sc.File, strings.ToUpper(sc.Name)} {
				if got, same, ok := s.Find(ask); !ok || got != sc {
					t.Errorf("%q of %q: got %v %q, want %v", ask, names, got, same, sc)
				}
			}
		}
		for _, sc := range append(s.List(), s.Kept()...) {
			if !slices.Contains(all, sc) {
				t.Errorf("%v is listed or kept and not runnable", sc)
			}
		}
	})
}
