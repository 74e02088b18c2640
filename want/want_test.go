package want_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/want"
)

func TestCovers(t *testing.T) {
	for _, tt := range []struct {
		have, want string
		covers     bool
	}{
		{"env:A", "env:A", true},
		{"env:A", "declared env:A", true},
		{"env:KALSHI_*", "env:KALSHI_KEY", true},
		{"env:KALSHI_KEY", "env:KALSHI_*", false},
		{"env:KALSHI_*", "env:KALSHI_A*", false},
		{"env:A", "host:A", false},
		{"host:*", "host:10.0.0.1:80", true},
		{"host:*.example.com", "host:api.example.com", true},
		{"host:*.example.com", "host:*.api.example.com", true},
		{"host:*.api.example.com", "host:*.example.com", false},
		{"host:*.example.com", "host:example.com.evil.org", false},
		{"host:api.example.com", "host:api.example.com:443", true},
		{"host:api.example.com", "host:api.example.com:8080", false},
		{"host:api.example.com", "host:*", false},
		{"host:api.example.com", "host:*.example.com", false},
		{"read:/data", "read:/data/x", true},
		{"read:/data", "read:/database", false},
		{"read:/data", "read:/data/../etc", false},
		{"read:~/notes", "read:~/notes/a", true},
		{"read:~/notes", "read:/home/a/notes", false},
		{"read:.", "read:/data", false},
		{"write:/data", "read:/data/x", true},
		{"read:/data", "write:/data/x", false},
		{"tool:*", "tool:Bash(git:*)", true},
		{"tool:Bash(git:*)", "tool:*", false},
		{"home", "home", true},
		{"package:npm:x", "package:x", false},
	} {
		have, wanted := parse(t, tt.have), parse(t, tt.want)
		if got := have.Covers(wanted); got != tt.covers {
			t.Errorf("%s covers %s: got %t", tt.have, tt.want, got)
		}
	}
}

func parse(t *testing.T, text string) want.Want {
	t.Helper()
	w, err := want.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestSet(t *testing.T) {
	asked := want.New(want.HostOf("api.example.com"), want.VariableOf("B"), want.VariableOf("A"), want.WriteOf("/data/x"), want.HostOf("api.example.com"))
	given := want.Set{want.HostOf("*.example.com"), want.WriteOf("/data")}
	for _, tt := range []struct {
		name string
		got  want.Set
		want string
	}{
		{"sorted and single", asked, "env:A, env:B, host:api.example.com, write:/data/x"},
		{"minus leaves what is not covered", asked.Minus(given), "env:A, env:B"},
		{"without leaves what is not named", asked.Without(given...), "env:A, env:B, host:api.example.com, write:/data/x"},
		{"without does not ask who named it", asked.Without(want.Want{Kind: want.Variable, Name: "A", From: want.Seen}), "env:B, host:api.example.com, write:/data/x"},
		{"of two kinds", asked.Kind(want.Host, want.Write), "host:api.example.com, write:/data/x"},
		{"who named it", asked.Kind(want.Host).By(want.Seen).Add(want.HostOf("b.example.com")), "seen host:api.example.com, host:b.example.com"},
		{"one thing named by two", want.Each(want.Host, want.Seen, "a.b").Add(want.Each(want.Host, want.User, "a.b")...), "seen host:a.b, user host:a.b"},
	} {
		if got := tt.got.String(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	if got := asked.Named(want.Variable); !slices.Equal(got, []string{"A", "B"}) {
		t.Errorf("got %q", got)
	}
	if yes, no := asked.Split(given.Covers); len(yes) != 2 || len(no) != 2 {
		t.Errorf("got %s and %s", yes, no)
	}
	if (want.Set{}).Covers(want.VariableOf("A")) || len(want.Set(nil).Minus(asked)) != 0 {
		t.Error("an empty set covers something")
	}
}

func TestParse(t *testing.T) {
	for _, text := range []string{"", "env", "env:", "home:x", "home:", "nothing:x", "env:A B", "env:A=b", "host:a b", "host:http://a.b", "read:notes", "write:./x",
		"read:/a\x00", "read:/\xff", "declared", "declared ", "somebody env:A", "trust:x"} {
		if w, err := want.Parse(text); err == nil {
			t.Errorf("%q is read as %#v", text, w)
		}
	}
	for _, k := range want.Kinds() { // each kind has a text that is read back
		one := want.Of(k, k.Sample())
		if k.Single() == (k.Sample() != "") || !one.Covers(one) {
			t.Errorf("%s is no sample", one)
		}
		if got := parse(t, one.String()); got != one {
			t.Errorf("%s: got %#v", one, got)
		}
	}
}

// A user gives some kinds, each by a word of its own, which is a flag and a key of JSON.
func TestGiven(t *testing.T) {
	var words []string
	for _, k := range want.Kinds() {
		word := k.Title(want.User)
		if k.Granted() != (word != "") || k.Usage() != "" && word == "" || k.Permitted() && !k.Granted() {
			t.Errorf("%s: %q, granted %t, permitted %t, usage %q", k, word, k.Granted(), k.Permitted(), k.Usage())
		}
		if word != "" && slices.Contains(words, word) {
			t.Errorf("two kinds are given as %q", word)
		}
		words = append(words, word)
	}
	if other := want.Kind("x"); other.Granted() || other.Files() || other.Enforced() || other.Sample() != "" || other.Single() || other.Lists() || other.Usage()+other.Title(want.User) != "" {
		t.Error("an unknown kind has properties")
	}
	if !want.Home.Single() || want.Host.Single() || !want.Variable.Lists() || want.Read.Lists() || want.Command.Permitted() || want.Home.Permitted() || !want.Write.Files() || want.Host.Files() {
		t.Error("a kind has the properties of another")
	}
}

func TestParseSet(t *testing.T) {
	s := want.New(want.Want{Kind: want.Tool, Name: `Bash(echo "a, b")`, From: want.Declared}, want.ReadOf("/a, b"), want.WriteOf("/line\nend "), want.VariableOf("A"), want.Of(want.Home, ""))
	got, err := want.ParseSet(s.String())
	if err != nil || cmp.Diff(s, got) != "" {
		t.Errorf("%v: %s", err, cmp.Diff(s, got))
	}
	for _, text := range []string{`"env:A`, `"env:A" "env:B"`, "env:A,,env:B", ",", `"env:A"x`} {
		if got, err := want.ParseSet(text); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

func FuzzParseSet(f *testing.F) {
	f.Add(`env:A, "read:/a, b", declared host:*.example.com, home`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := want.ParseSet(text)
		if err != nil {
			return
		}
		again, err := want.ParseSet(s.String())
		if err != nil || cmp.Diff(s, again) != "" {
			t.Errorf("%q: %v %s", text, err, cmp.Diff(s, again))
		}
		if left := s.Minus(s); len(left) != 0 {
			t.Errorf("%q: a set does not cover its own %s", text, left)
		}
	})
}

// Hosts of services are named first, and those of this machine last.
func TestHosts(t *testing.T) {
	set := want.Each(want.Host, want.Seen, "localhost:8188", "foo.com", "a.net", "raw.foo.com", "query1.foo.com", "api.foo.com").Add(want.VariableOf("A"))
	if diff := cmp.Diff([]string{"api.foo.com", "query1.foo.com", "raw.foo.com", "a.net", "foo.com", "localhost:8188"}, set.Hosts()); diff != "" {
		t.Error(diff)
	}
}
