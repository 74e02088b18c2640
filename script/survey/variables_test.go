package survey

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/want"
)

// C65: the variables that a script's text reads, for which there is no grammar or no interpreter.
func TestVariables(t *testing.T) {
	tests := []struct {
		lang       Language
		text, want string
	}{
		{Python, `key = os.environ["A_KEY"]; b = os.environ.get('B', ""); c = os.getenv("C"); d = environ["D"]; e = getenv( "E" )`, "A_KEY B C D E"},
		{Python, "os.environ[\"SET\"] = \"1\"\nif os.environ[\"READ\"] == \"1\": pass\nos.environ.setdefault(\"DEFAULT\", \"x\")\n", "READ"},
		{Python, "if \"A\" in os.environ or 'B' not in os.environ: pass\n# os.environ[\"COMMENT\"]\n@click.option('--k', envvar='K')\n", "A B K"},
		{Python, "os.environ.get(\n    \"LONG_NAME\",\n)\nenviron.pop('P')\nos.environ[name]\nos.environ.get(NAME)\nos.environ['a b']", "LONG_NAME P"},
		{Python, "KEY = 'A_KEY'\nB = \"B_NAME\"\nos.environ.get(KEY, '')\nos.getenv(B)\nos.environ[UNKNOWN]\n", "A_KEY B_NAME"},
		{JavaScript, "process.env.A; process.env['B']; process.env?.C; process.env[`D`]; process.env.E = 1; process.env.F ||= 2; process.env.G === 'x'", "A B C D F G"},
		{TypeScript, "const k = process.env.KEY!;\nBun.env.D; Deno.env.get(\"E\")", "D E KEY"},
		{".mjs", "process.env.A", "A"},
		{language.Ruby, "ENV['A'] || ENV.fetch(\"B\") { 1 }\nENV['C'] = 'x'\nputs 1 if ENV.key?('D')", "A B D"},
		{language.Perl, "print $ENV{A}, $ENV{'B'}; $ENV{C} = 1; if ($ENV{D} =~ /x/) {}", "A B D"},
		{".ps1", "$env:A; ${env:B}; $Env:C = 1", "A B"},
		{"", "$A", ""},
	}
	for _, tt := range tests {
		if got := strings.Join(Variables(tt.lang, []byte(tt.text)).Named(want.Variable), " "); got != tt.want {
			t.Errorf("%s %s\ngot  %q\nwant %q", tt.lang, tt.text, got, tt.want)
		}
	}
}

// Whatever the text, the names are names, sorted, and few.
func FuzzVariables(f *testing.F) {
	for _, text := range []string{"", "$A_B ${C:-$(x '$D')}", "cat <<E\n$AB", "<<'", "os.environ[\"A\"]", "const {A} = process.env", "'", "\\", "$(((", "<<E\nE", "`$(${A:-`", "$(cat <<'E'\nit's\nE\n)"} {
		f.Add(text)
	}
	plain := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, lang := range []Language{Python, JavaScript, TypeScript, language.Ruby, language.Perl, ".ps1"} {
			got := Variables(lang, []byte(text)).Named(want.Variable)
			if len(got) > maxVariables || !slices.IsSorted(got) || slices.ContainsFunc(got, func(name string) bool { return !plain.MatchString(name) }) {
				t.Errorf("%s: got %q", lang, got)
			}
		}
	})
}
