package survey_test

import (
	"fmt"
	"testing"

	"github.com/agent-base/agent-base/internal/language"

	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/script/survey"
)

// R176
func TestContacts(t *testing.T) {
	for _, test := range []struct {
		name string
		lang survey.Language
		text string
		want string
	}{
		{"a base address", survey.Python, "import requests\nBASE = \"https://api.foo.com/v1\"\nrequests.get(f\"{BASE}/x\")", "true [api.foo.com]"},
		{"a default of a variable", survey.Python, "import os, httpx\nu = os.environ.get('URL', 'https://api.foo.com:8443')", "true [api.foo.com:8443]"},
		{"comments and sentences", survey.Python, "import requests # https://a.com\n\"\"\"https://b.com is the\nmanual\"\"\"\nprint('See https://c.com')", "true []"},
		{"names of schemas and documentation", survey.Python, "import urllib.request\nNS='http://www.w3.org/2000/svg'\nX='https://docs.foo.com/x'\nY='https://api.example.com'", "true []"},
		{"an address without the network", survey.Python, "NS = 'https://foo.com/x'", "false [foo.com]"},
		{"a part that is filled in", survey.Python, "import requests\nrequests.get(f'https://{region}.api.foo.com/{x}')\nrequests.get('https://{}/x')", "true [*.api.foo.com]"},
		{"a service", survey.Python, "from google import genai\nimport anthropic", "true [api.anthropic.com generativelanguage.googleapis.com]"},
		{"a connection", survey.Python, "c = http.client.HTTPSConnection('api.foo.com')", "true [api.foo.com]"},
		{"a command of another program", survey.Python, "subprocess.run(['gh', 'pr', 'list'])", "true [api.github.com github.com]"},
		{"a password in an address", survey.Python, "import requests\nU='https://user:pass@foo.com/x'", "true [foo.com]"},
		{"the last is a service of this machine", survey.Python, "import requests\nA='http://localhost:8188'; B='https://foo.com'", "true [foo.com localhost:8188]"},
		{"fetch", survey.JavaScript, "const r = await fetch(`https://api.foo.com/${id}`) // https://x.com", "true [api.foo.com]"},
		{"a package of Node", survey.TypeScript, "import axios from 'axios'\nconst base = process.env.U ?? 'https://foo.com'", "true [foo.com]"},
		{"a shell", survey.Shell, "#!/bin/sh\nAPI=\"${API:-https://api.foo.com}\"\n# https://a.com\necho \"See https://b.com/x for more\"\ncurl -s \"$API/x\"", "true [api.foo.com]"},
		{"a shell that substitutes", survey.Shell, "x=$(curl -fsSL https://api.foo.com/x | jq .)", "true [api.foo.com]"},
		{"a word that is not a command", survey.Shell, "echo curl", "false []"},
		{"gh in a shell", survey.Shell, "if ! gh auth status; then exit 1; fi", "true [api.github.com github.com]"},
		{"packages in a shell", survey.Shell, "npm --version; npm run build\nif npx -y tsx x.ts; then /usr/bin/python3 -m pip install x; fi", "true [files.pythonhosted.org pypi.org registry.npmjs.org]"},
		{"packages that stay", survey.Shell, "npm test; npm run install; pip list; uv run x.py; bun x.ts; git status; npx --version; echo npm install x", "false []"},
		{"a repository", survey.Shell, "git clone --depth 1 https://git.foo.com/a/b", "true [git.foo.com]"},
		{"code in a shell", survey.Shell, "exec bun -e '\nconst r = await Bun.$`npm view left-pad --json`.text()\n'", "true [registry.npmjs.org]"},
		{"code in a shell that connects", survey.Shell, "python3 -c 'import requests; requests.get(\"https://api.foo.com/x\")'", "true [api.foo.com]"},
		{"a list of arguments", survey.Python, "subprocess.run([\"npm\", \"view\", name])\nprint('npm')", "true [registry.npmjs.org]"},
		{"a command line", survey.Python, "os.system('git clone ' + url); sys.exit('pip install requests')", "true []"},
		{"advice", survey.JavaScript, "console.error('npm install marked'); print(`npx x`)", "false []"},
		{"a program and a list", survey.JavaScript, "spawnSync('git', ['ls-remote', url]); execSync(`npm run x`)", "true []"},
		{"ruby", language.Ruby, "require 'net/http'\nu = URI('https://foo.com/x')", "true [foo.com]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := survey.ContactsOf(test.lang, []byte(test.text))
			if got := fmt.Sprint(c.Network, survey.ByRank(c.Hosts)); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// FuzzContacts holds that every host can be read again, and that there are not too many.
func FuzzContacts(f *testing.F) {
	f.Add("import requests\nx='https://{a}.b.com/'", ".py")
	f.Add("curl $(echo https://a.com) \"${X:-http://b.com}\"", ".sh")
	f.Add("fetch(`https://${a}.b.com`)", ".js")
	f.Fuzz(func(t *testing.T, text, lang string) {
		c := survey.ContactsOf(survey.Language(lang), []byte(text))
		if len(c.Hosts) > 100 || len(survey.ByRank(c.Hosts)) != len(c.Hosts) {
			t.Fatalf("%d hosts: %s", len(c.Hosts), c.Hosts)
		}
		for _, h := range survey.ByRank(c.Hosts) {
			if p, err := hostname.Parse(h); err != nil || p.String() != h {
				t.Fatalf("%q is not a host: %v", h, err)
			}
		}
	})
}
