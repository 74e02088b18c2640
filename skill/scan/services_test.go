package scan

import "testing"

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
		"c.rb:0 sends host files.sample.net?", "c.rb:0 reads variable RUBY_KEY?", "!ruby_key?", "!d.pl:0 sends")
	contains(t, unread, "c.rb: it is Ruby, which is not read")
	facts, _ = said(t, tree("a.py", "import os, requests\nrequests.get('https://files.sample.net/x')\nos.environ['PY_KEY']")) // without Python
	contains(t, facts, "a.py:0 reads variable PY_KEY?", "a.py:0 sends host files.sample.net?")
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
