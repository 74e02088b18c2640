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
		{"a connection", survey.Python, "c = http.client.HTTPSConnection('api.foo.com')", "true [api.foo.com]"},
		{"a password in an address", survey.Python, "import requests\nU='https://user:pass@foo.com/x'", "true [foo.com]"},
		{"the last is a service of this machine", survey.Python, "import requests\nA='http://localhost:8188'; B='https://foo.com'", "true [foo.com localhost:8188]"},
		{"fetch", survey.JavaScript, "const r = await fetch(`https://api.foo.com/${id}`) // https://x.com", "true [api.foo.com]"},
		{"a package of Node", survey.TypeScript, "import axios from 'axios'\nconst base = process.env.U ?? 'https://foo.com'", "true [foo.com]"},
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
