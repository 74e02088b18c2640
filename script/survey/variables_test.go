package survey

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/want"
)

// C65: the variables that a script's text reads.
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
		{TypeScript, "const { A, B: b, C = 'x', ...rest } = process.env;\nconst k = process.env.KEY!;\nBun.env.D; Deno.env.get(\"E\")", "A B C D E KEY"},
		{".mjs", "process.env.A", "A"},
		{language.Ruby, "ENV['A'] || ENV.fetch(\"B\") { 1 }\nENV['C'] = 'x'\nputs 1 if ENV.key?('D')", "A B D"},
		{language.Perl, "print $ENV{A}, $ENV{'B'}; $ENV{C} = 1; if ($ENV{D} =~ /x/) {}", "A B D"},
		{".ps1", "$env:A; ${env:B}; $Env:C = 1", "A B"},
		{"", "$A", ""},

		{Shell, `echo $API_KEY "${B_TOKEN}" ${C:-x} ${DD:?no} ${#E1} $lower $1 $? ${!F1}`, "API_KEY B_TOKEN DD E1 F1"},
		{Shell, "PORT=${PORT:-8080}\nDIR=/x\necho $PORT $DIR; A1=1; echo $A1\nB1=1 cmd $B1", "B1 PORT"},
		{Shell, "for NAME in a b; do echo $NAME; done\nread -r LINE1 && echo $LINE1\nlocal XX YY=1; echo $XX $YY", ""},
		{Shell, "awk '{print $NF, $NR}' # $COMMENT\necho '$SINGLE' \"$DOUBLE\" \\$ESCAPED\nX1=\"$(cut -f1 | awk '{print $NF}')\"", "DOUBLE"},
		{Shell, "cat <<'EOF'\n$QUOTED don't\nEOF\necho $AFTER\ncat <<-END\n$INSIDE it's \\$NOT\n\tEND\necho '$SINGLE' $LAST", "AFTER INSIDE LAST"},
		{Shell, "echo $HOME $PATH $PWD $BASH_SOURCE ${BASH_SOURCE[0]} $RANDOM $OPTARG $_", ""},
		{Shell, "export TOKEN_A\nexport TOKEN_B=\"$TOKEN_B\"\nARR+=(x); echo ${ARR[@]}\necho $TOKEN_A", "TOKEN_A TOKEN_B"},
		{Shell, "python3 - <<'EOF'\nimport os\nprint(os.environ['INNER'])\nEOF\nnode -e 'process.env.JS'\n", "INNER JS"},
		{Shell, "PROMPT=$(\ncat <<'END'\ndon't (stop\nEND\n)\necho \"$PROMPT\\nand $MORE\" `x $BACK '$NO' ${IN:-$(y \"$DEEP\" '$NO')}`", "BACK DEEP IN MORE"},
		{Shell, "ONLY=1 LEVEL=2 \\\n  cmd\necho ${ONLY:-0}; while IFS= read -r LINE; do echo \"$LINE\"; done; declare -a LIST; echo \"msg SAID=1\" $SAID", "ONLY SAID"},
		{Shell, "case $MODE in\n a) echo \"$IN_CASE\";;\nesac\n(cd x && echo '$NO')\ncat <<< $HERE_STRING\n", "HERE_STRING IN_CASE MODE"},
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
	f.Fuzz(func(t *testing.T, text string) {
		for _, lang := range []Language{Python, Shell, JavaScript, TypeScript, language.Ruby, language.Perl, ".ps1"} {
			got := Variables(lang, []byte(text)).Named(want.Variable)
			if len(got) > maxVariables || !slices.IsSorted(got) || slices.ContainsFunc(got, func(name string) bool { return !isVariable(name) }) {
				t.Errorf("%s: got %q", lang, got)
			}
		}
	})
}
