package survey

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// C68: what a text imports from elsewhere.
func TestImports(t *testing.T) {
	tests := []struct {
		name string
		lang Language
		text string
		want string
	}{
		{"plain", Python, "#!/usr/bin/env python3\nimport os, sys\nimport yaml\nfrom bs4 import BeautifulSoup\nimport requests as r, numpy.linalg as la, json\n", "bs4 numpy requests yaml"},
		{"only Python's own", Python, "from __future__ import annotations\nimport tomllib, _thread\nfrom xml.etree import ElementTree as ET\n", ""},
		{"guarded and late", Python, "try: import tomllib\nexcept ImportError: import tomli\ndef f():\n    import click; from rich import print\n", "click rich tomli"},
		{"in texts and comments", Python, "\"\"\"Usage:\n\nimport pandas\n\"\"\"\n# import numpy\ns = 'import scipy'\nx = '''\nfrom torch import nn\n'''\n", ""},
		{"relative", Python, "from . import a\nfrom .base import Thing\nfrom ..up.more import other\nfrom .x import (\n    one,\n    two,\n)\nimport attr\n", "attr"},
		{"in brackets", Python, "from requests import (\n    get,  # one\n    post,\n)\nimport yaml\n", "requests yaml"},
		{"packages with one name", Python, "from google import genai, protobuf as p\nfrom google.cloud import storage\nimport google.auth.transport\nfrom google.cloud.vision import x\nimport azure.identity\n",
			"azure.identity google.auth google.cloud.storage google.cloud.vision google.genai google.protobuf"},
		{"not an import", Python, "def g():\n    yield from things\nobj.import_module(1)\nimportant = 1\nfrom_ = 2\n", ""},
		{"cut off", Python, "from requests\nimport\nimport .\nfrom\n", "requests"},
		{"node", JavaScript, "import fs from 'node:fs';\nimport path from 'path';\nimport axios, { get } from \"axios\";\nimport {\n  a,\n  b,\n} from '@scope/name/deep.js';\nimport './own.js';\nimport 'dotenv/config';\n" +
			"const c = require('chalk');\nconst l = require(\"./lib\");\nconst m = await import('marked');\nexport { x } from 'lodash/x';\n", "@scope/name axios chalk dotenv lodash marked"},
		{"types", TypeScript, "import type { A } from 'zod'\nimport x from 'https://deno.land/x.ts'\nimport y from 'npm:left'\nimport z from '../up'\n", "zod"},
		{"another language", Shell, "import x\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(Imports(tt.lang, []byte(tt.text)), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzImports(f *testing.F) {
	f.Add("import a.b as c, d\nfrom . import e\nfrom google import (x as y, z)\n")
	f.Add("import x from 'y'; require('@a/b/c')")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range Imports(Python, []byte(text)) {
			if !moduleForm().MatchString(m) || PartOf(Python, m) || Package(m) == "" {
				t.Errorf("got %q", m)
			}
		}
		for _, m := range Imports(JavaScript, []byte(text)) {
			if NodePackage(m) != m {
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
