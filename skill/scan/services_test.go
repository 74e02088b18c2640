package scan

import (
	"strings"
	"testing"
)

// R176, C65: what is behind a package or a program is contacted, perhaps; and of a language without a grammar the texts are read.
func TestServices(t *testing.T) {
	facts, unread := said(t, tree(
		"a.ts", "import OpenAI from 'openai'\nimport { Octokit } from '@octokit/rest'\nif (!process.env.NODE_KEY || \"OTHER_KEY\" in process.env) {}",
		"b.sh", "if ! gh auth status; then exit 1; fi\nnpm --version; npm run build\nif npx -y tsx x.ts; then /usr/bin/python3 -m pip install x; fi\npip list; git status; npx --help; echo npm install x",
		"c.rb", "require 'net/http'\nURI('https://files.sample.net:8443/x'); ENV.fetch('RUBY_KEY')",
		"d.pl", "# nothing",
	))
	contains(t, facts,
		"a.ts:1 sends host api.openai.com?", "a.ts:2 sends host api.github.com?", "a.ts:3 reads variable NODE_KEY", "a.ts:3 reads variable OTHER_KEY",
		"b.sh:1 sends host api.github.com?", "b.sh:3 sends host registry.npmjs.org?", "b.sh:3 sends host pypi.org?",
		"!b.sh:2 sends", "!b.sh:4 sends",
		"c.rb:2 sends host files.sample.net?", "c.rb:2 reads variable RUBY_KEY?", "!ruby_key?", "!d.pl:1 sends")
	contains(t, unread, "c.rb: it is Ruby, which is not read")
	facts, _ = said(t, tree("a.py", "import os, requests\nrequests.get('https://files.sample.net/x')\nos.environ['PY_KEY']")) // without Python
	contains(t, facts, "a.py:3 reads variable PY_KEY?", "a.py:2 sends host files.sample.net?")
}

// What a condition of Python asks the environment for is read, and what is behind a module is contacted.
func TestPythonServices(t *testing.T) {
	needPython(t)
	r, err := Scan(t.Context(), tree("a.py", "import os\nfrom google import genai\nimport stripe.api\nif os.environ['A1'] == '1': pass\nif 'A2' not in os.environ: pass\nfor n in ('A3', 'A4'):\n    if n in os.environ: pass"), &Options{Python: runPython3})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	s := r.Sheet()
	for _, item := range append(s.Hosts, s.Variables...) {
		got = append(got, item.Name)
	}
	contains(t, got, "api.stripe.com", "generativelanguage.googleapis.com", "A1", "A2", "A3", "A4")
}

// C65: the variables that a program reads for which there is no grammar or no interpreter, and the hosts that it contacts.
func TestGuesses(t *testing.T) {
	for _, tt := range []struct{ file, text, want string }{
		{"a.py", `key = os.environ["A_KEY"]; b = os.environ.get('B', ""); c = os.getenv("C"); d = environ["D"]; e = getenv( "E" )`, "A_KEY B C D E"},
		{"a.py", "os.environ[\"SET\"] = \"1\"\nif os.environ[\"READ\"] == \"1\": pass\nos.environ.setdefault(\"DEFAULT\", \"x\")\n", "READ"},
		{"a.py", "# os.environ[\"COMMENT\"]\n@click.option('--k', envvar='K')\nos.environ[name]\nos.environ.get(NAME)\nos.environ['a b']", "K"},
		{"a.py", "import requests\nBASE = \"https://api.foo.com/v1\" # https://a.com\nprint('See https://c.com')\nNS='http://www.w3.org/2000/svg'", "api.foo.com"},
		{"a.py", "import httpx\nu = os.environ.get('URL', 'http://localhost:8443')", "localhost URL"},
		{"a.rb", "ENV['A'] || ENV.fetch(\"B\") { 1 }\nENV['C'] = 'x'\nputs 1 if ENV.key?('D')", "A B D"},
		{"a.pl", "print $ENV{A}, $ENV{'B'}; $ENV{C} = 1; if ($ENV{D} =~ /x/) {}", "A B D"},
		{"a.ps1", "$env:A; ${env:B}; $Env:C = 1", "A B"},
		{"a.php", "<?php getenv('A'); $_ENV['B'];", "A B"},
	} {
		r, err := Scan(t.Context(), tree(tt.file, tt.text), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range append(r.Sheet().Hosts, r.Sheet().Variables...) {
			got = append(got, item.Name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q, want %q", tt.text, got, tt.want)
		}
	}
}
