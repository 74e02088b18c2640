package survey

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// importsOf returns the modules that a text imports, sorted.
func importsOf(text string) []string {
	out := pythonImports(lex(Python, []byte(text))).modules
	slices.Sort(out)
	return slices.Compact(out)
}

// C68: what a text imports from elsewhere. The modules of packages that share a name are longer than a top-level name.
func TestImports(t *testing.T) {
	tests := []struct {
		name string
		text string
		want string
	}{
		{"plain", "#!/usr/bin/env python3\nimport os, sys\nimport yaml\nfrom bs4 import BeautifulSoup\nimport requests as r, numpy.linalg as la, json\n", "bs4 numpy requests yaml"},
		{"only Python's own", "from __future__ import annotations\nimport tomllib, _thread\nfrom xml.etree import ElementTree as ET\n", ""},
		{"guarded and late", "try: import tomllib\nexcept ImportError: import tomli\ndef f():\n    import click; from rich import print\n", "click rich tomli"},
		{"in texts and comments", "\"\"\"Usage:\n\nimport pandas\n\"\"\"\n# import numpy\ns = 'import scipy'\nx = '''\nfrom torch import nn\n'''\n", ""},
		{"relative", "from . import a\nfrom .base import Thing\nfrom ..up.more import other\nfrom .x import (\n    one,\n    two,\n)\nimport attr\n", "attr"},
		{"in brackets", "from requests import (\n    get,  # one\n    post,\n)\nimport yaml\n", "requests yaml"},
		{"packages with one name", "from google import genai, protobuf as p\nfrom google.cloud import storage\nimport google.auth.transport\nfrom google.cloud.vision import x\nimport azure.identity\n",
			"azure.identity google.auth google.cloud.storage google.cloud.vision google.genai google.protobuf"},
		{"not an import", "def g():\n    yield from things\nobj.import_module(1)\nimportant = 1\nfrom_ = 2\n", ""},
		{"cut off", "from requests\nimport\nimport .\nfrom\n", "requests"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(importsOf(tt.text), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzImports(f *testing.F) {
	f.Add("import a.b as c, d\nfrom . import e\nfrom google import (x as y, z)\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range importsOf(text) {
			if !moduleForm().MatchString(m) || Python.Brings(m) || Package(m) == "" {
				t.Errorf("got %q", m)
			}
		}
	})
}

// C68: packages are for scripts that import something from elsewhere.
func TestOutside(t *testing.T) {
	tests := []struct {
		name  string
		files tree
		want  string
		all   bool
	}{
		{"nothing", tree{"scripts/a.py": "import os\n"}, "", true},
		{"a sibling that imports", tree{"scripts/a.py": "import b\n", "scripts/b.py": "import yaml\n"}, "yaml", true},
		{"siblings that import each other", tree{"scripts/a.py": "import b\n", "scripts/b.py": "import a, c\n", "scripts/c.py": ""}, "", true},
		{"a package of the skill", tree{"scripts/a.py": "from lib.x import f\n", "lib/__init__.py": "", "lib/x.py": "import requests\n", "lib/y.py": "import six\n"}, "requests six", true},
		{"a package by its folder above", tree{"scripts/a.py": "from scripts.b import f\n", "scripts/b.py": "import click\n"}, "click", true},
		{"in src", tree{"scripts/a.py": "import tool\n", "src/tool.py": ""}, "", true},
		{"by a computed name", tree{"scripts/a.py": "import importlib\nimportlib.import_module(x)\n"}, "", false},
		{"relative", tree{"scripts/a.py": "from . import b\n", "scripts/b.py": "import yaml"}, "", false},
		{"it starts another", tree{"scripts/a.py": "import sys, subprocess\nsubprocess.run([sys.executable, 'b.py'])\n"}, "", false},
		{"too large", tree{"scripts/a.py": strings.Repeat("x = 1\n", MaxText/6+1)}, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, all := Outside(files(tt.files), "scripts/a.py", []byte(tt.files["scripts/a.py"]))
			if strings.Join(got, " ") != tt.want || all != tt.all {
				t.Errorf("got %q, %t, want %q, %t", got, all, tt.want, tt.all)
			}
		})
	}
	fsys := files(tree{"SKILL.md": "", "deep/er/utils.py": "", "tools/pkg/x.txt": ""})
	for module, want := range map[string]bool{"utils": true, "utils.more": true, "pkg": true, "yaml": false} {
		if got := HasModule(fsys, module); got != want {
			t.Errorf("%s: got %t", module, got)
		}
	}
}

func TestPackage(t *testing.T) {
	got := map[string]string{}
	for _, m := range []string{"yaml", "requests", "sentence_transformers", "google.genai", "google.cloud.storage", "google.protobuf", "google.oauth2", "azure.identity", "ruamel.yaml"} {
		got[m] = Package(m)
	}
	want := map[string]string{"yaml": "PyYAML", "requests": "requests", "sentence_transformers": "sentence-transformers", "google.genai": "google-genai",
		"google.cloud.storage": "google-cloud-storage", "google.protobuf": "protobuf", "google.oauth2": "google-auth", "azure.identity": "azure-identity", "ruamel.yaml": "ruamel.yaml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNodePackage(t *testing.T) {
	for module, want := range map[string]string{"axios": "axios", "axios/lib/x.js": "axios", "@a/b": "@a/b", "@a/b/c": "@a/b", "./x": "", "../x": "", "/x": "", "node:fs": "", "https://x/y": "", "": "", "@a": ""} {
		if got := NodePackage(module); got != want {
			t.Errorf("%q: got %q, want %q", module, got, want)
		}
	}
	if !JavaScript.Brings("fs") || JavaScript.Brings("axios") {
		t.Error("what Node.js brings is wrong")
	}
}
