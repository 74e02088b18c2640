package language_test

import (
	"testing"

	"github.com/agent-base/agent-base/internal/language"
)

// What reads the standard input is known by its text.
func TestInput(t *testing.T) {
	for id, texts := range map[language.ID][2][]string{
		language.Python:     {{"for l in sys.stdin:", "x = input('name? ')", "open(0).read()", "import fileinput"}, {"print(my_input)", "inputs(1)", "sys.stdout"}},
		language.Shell:      {{"data=$(cat)", "cat - | sort", "  read -r name", "jq . </dev/stdin"}, {"cat file", "while read -r x; do :; done", "already read x"}},
		language.JavaScript: {{"process.stdin.on('data', f)", "fs.readFileSync(0, 'utf8')"}, {"process.stdout", "readFileSync('0')"}},
		language.TypeScript: {{"Deno.stdin.read()"}, {"Deno.stdout"}},
		language.Ruby:       {{"$stdin.read", "STDIN.each", "line = gets"}, {"gadgets"}},
		language.Perl:       {{"while (<STDIN>) {", "while (<>) {"}, {"print 1 <=> 2"}},
		language.PHP:        {{"fgets(STDIN)", "file_get_contents('php://stdin')"}, {"STDOUT"}},
	} {
		input := id.Row().Input()
		for i, want := range []bool{true, false} {
			for _, text := range texts[i] {
				if input.MatchString(text) != want {
					t.Errorf("%s: %q: %t", id, text, !want)
				}
			}
		}
	}
}
