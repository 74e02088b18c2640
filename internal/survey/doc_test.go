package survey

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/language"

	"github.com/google/go-cmp/cmp"
)

func mustSub(t *testing.T, fsys fs.FS, dir string) fs.FS {
	t.Helper()
	sub, err := fs.Sub(fsys, dir)
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

// C70: what the author says about a script.
func TestDocText(t *testing.T) {
	tests := []struct {
		name string
		lang Language
		text string
		want string
	}{
		{"docstring", Python, "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n\"\"\"Does it.\n\n    Usage:\n      x FILE\n    \"\"\"\nimport x\n", "Does it.\n\nUsage:\n  x FILE"},
		{"on the next line", Python, "'''\nDoes it.\n'''\n", "Does it."},
		{"one line", Python, "r'Does it.'\nx = 1\n", "Does it."},
		{"after metadata", Python, "# /// script\n# dependencies = [\"x\"]\n# ///\n\"Does it.\"\n", "Does it."},
		{"comment", Python, "# /// script\n# dependencies = []\n# ///\n# Does it.\n# Well.\n\n# Not this.\nx = 'no docstring'\n", "Does it.\nWell."},
		{"later text", Python, "import x\n\"\"\"Not this.\"\"\"\n# nor this\n", ""},
		{"unfinished", Python, "\"\"\"Not this.\n", ""},
		{"CR LF", Python, "\"\"\"A.\r\nB.\r\n\"\"\"\r\n", "A.\nB."},
		{"shell", Shell, "#!/bin/bash\n# shellcheck disable=SC1\n#\n# Does it.\n#   x FILE\nset -e\n# not this\n", "Does it.\n  x FILE"},
		{"after a blank line", Shell, "#!/bin/sh\n\n# Does it.\necho\n", "Does it."},
		{"rule", Shell, "###########\n# Does it.\n###########\n", "Does it."},
		{"licence", Shell, "# Copyright 2026 Someone\n# All rights reserved.\n\n# Does it.\necho\n", "Does it."},
		{"licence alone", JavaScript, "// SPDX-License-Identifier: MIT\n\nx()\n", ""},
		{"block", JavaScript, "#!/usr/bin/env node\n/**\n * Does it.\n *\n *   x FILE\n */\nx()\n", "Does it.\n\n  x FILE"},
		{"lines", TypeScript, "// Does it.\n// Well.\nimport x\n", "Does it.\nWell."},
		{"PowerShell", language.PowerShell, "<#\n.SYNOPSIS\n  Does it.\n#>\nparam()\n", ".SYNOPSIS\nDoes it."},
		{"ruby", language.Ruby, "# frozen_string_literal: true\n# Does it.\nx\n", "Does it."},
		{"no known language", "", "#!/usr/bin/fish\n# Does it.\n", "Does it."},
		{"program", "", "\x7fELF\x00# Does it.\n", ""},
		{"hostile", Python, "\"\"\"A\x1b[31m\u202eB\u200bC\x07\xff\"\"\"\n", "A[31mBC\ufffd"},
		{"empty", Python, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := DocText(tt.lang, []byte(tt.text)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	long := DocText(Python, []byte("'''"+strings.Repeat("line\n", 500)+"'''"))
	if lines := strings.Split(long, "\n"); len(lines) != 101 || lines[100] != "…" {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	if wide := DocText(Python, []byte("'''"+strings.Repeat("é", 5000)+"'''")); len(wide) > 4<<10 || !strings.HasSuffix(wide, "é…") {
		t.Errorf("got %d bytes", len(wide))
	}
}

// C70: the lines of SKILL.md that call a script.
func TestUsageLines(t *testing.T) {
	body := strings.Join([]string{
		"# Title", "Use `scripts/run.py` or `python scripts/run.py --fast IN`; not `scripts/runner.py x`.", "",
		"```bash", "# python scripts/run.py a comment", "$ python scripts/run.py IN \\", "    --out OUT", "python ${CLAUDE_SKILL_DIR}/scripts/run.py \"a b\"",
		"cat notes.txt", "python -m scripts.run IN", "uv run scripts/run.py", "uv run scripts/run.py", "```", "",
		"```", "scripts/", "├── run.py   # runs", "run.py", "scripts/run.py", "```", "~~~~", "```", "bash x.sh && python3 'scripts/run.py' --last", "~~~~", "python scripts/run.py in prose",
	}, "\n")
	want := []string{
		"python scripts/run.py --fast IN", "python scripts/run.py IN --out OUT", `python ${CLAUDE_SKILL_DIR}/scripts/run.py "a b"`,
		"python -m scripts.run IN", "uv run scripts/run.py", "scripts/run.py", "bash x.sh && python3 'scripts/run.py' --last",
	}
	if diff := cmp.Diff(want, UsageLines(body, Script{Name: "run", File: "scripts/run.py"})); diff != "" {
		t.Errorf("lines differ (-want +got):\n%s", diff)
	}
	many := UsageLines("```\n"+strings.Repeat("run.sh a\nrun.sh b\nrun.sh c\nx run.sh d\nx run.sh e\n"+strings.Repeat("run.sh y"+strings.Repeat("é", 300)+"\n", 2), 3)+"run.sh 1\nrun.sh 2\nrun.sh 3\nrun.sh 4\n```", Script{File: "scripts/run.sh"})
	if len(many) != 8 || len(many[5]) > 300 || !utf8.ValidString(many[5]) {
		t.Errorf("got %d lines: %q", len(many), many)
	}
}

// C63: which Python scripts run as modules of a package.
func TestModule(t *testing.T) {
	empty := &fstest.MapFile{}
	fsys := fstest.MapFS{
		"scripts/__init__.py": empty, "scripts/utils.py": empty, "scripts/office/__init__.py": empty, "scripts/office/helpers/x.py": empty,
		"tools/lib.py": empty, "scripts/pptx/__init__.py": empty, "main.py": empty,
	}
	tests := []struct{ file, text, root, name string }{
		{"scripts/a.py", "from scripts.utils import x", ".", "scripts.a"},
		{"scripts/a.py", "import scripts.utils as u", ".", "scripts.a"},
		{"scripts/a.py", "from scripts import utils", ".", "scripts.a"},
		{"scripts/a.py", "try:\n    from .utils import x\nexcept ImportError:\n    from utils import x", ".", "scripts.a"},
		{"scripts/a-b.py", "from . import utils", ".", "scripts.a-b"},
		{"scripts/office/a.py", "from office.helpers import x", "scripts", "office.a"},
		{"scripts/office/a.py", "from scripts.office import helpers", ".", "scripts.office.a"},
		{"scripts/office/a.py", "from ..utils import x", ".", "scripts.office.a"},
		{"scripts/office/a.py", "from .helpers import x", ".", "scripts.office.a"},
		{"tools/a.py", "from tools.lib import x", ".", "tools.a"},
		{"tools/a.py", "from .lib import x", ".", "tools.a"},

		{"scripts/a.py", "import utils", "", ""},
		{"scripts/a.py", "import scripts", "", ""},
		{"scripts/a.py", "\"\"\"Example:\n    from scripts.utils import x\n\"\"\"", "", ""},
		{"scripts/a.py", "# from scripts.utils import x", "", ""},
		{"scripts/a.b.py", "from scripts.utils import x", "", ""},
		{"scripts/pptx/a.py", "from pptx import Presentation\nfrom pptx.util import Inches", "", ""}, // a package of that name
		{"main.py", "from .lib import x", "", ""},
		{"main.py", "from scripts.utils import x", "", ""},
	}
	for _, tt := range tests {
		if root, name := Module(fsys, tt.file, []byte(tt.text)); root != tt.root || name != tt.name {
			t.Errorf("%s with %q: got %q %q, want %q %q", tt.file, tt.text, root, name, tt.root, tt.name)
		}
	}
}

func FuzzDocText(f *testing.F) {
	for _, text := range []string{"\"\"\"x\"\"\"", "# x\n", "/** x */", "// x", "#!/bin/sh\n# x", "'''\n  x\n y\n'''", "# /// script\n# ///\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, lang := range []Language{Python, JavaScript, Shell, ""} {
			checkText(t, DocText(lang, []byte(text)), maxDoc)
		}
	})
}

func FuzzUsageLines(f *testing.F) {
	f.Add("```\npython scripts/a.py x \\\n y\n```\n`python a.py z`")
	f.Add("~~~\n$ a.py\n```")
	f.Fuzz(func(t *testing.T, body string) {
		lines := UsageLines(body, Script{Name: "a", File: "scripts/a.py"})
		if len(lines) > maxUsage {
			t.Errorf("got %d lines", len(lines))
		}
		for _, line := range lines {
			checkText(t, line, maxUsageLine)
			if strings.Contains(line, "\n") {
				t.Errorf("got %q", line)
			}
		}
	})
}

// checkText checks that a text is within its limit and holds nothing that a terminal obeys.
func checkText(t *testing.T, text string, limit int) {
	t.Helper()
	if len(text) > limit+len("…") || !utf8.ValidString(text) {
		t.Errorf("got %d bytes: %q", len(text), text)
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Errorf("got %q", text)
		}
	}
}
