package survey

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agent-base/agent-base/internal/language"

	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skills"
)

const argv = "import sys\n"

// C64: which scripts declare --json as a flag of their own without a value.
func TestKnowsJSON(t *testing.T) {
	tests := []struct {
		name string
		lang Language
		text string
		want bool
	}{
		{"argparse", Python, `p.add_argument("--json", action="store_true")`, true},
		{"several names", Python, "p.add_argument('-j', '--json', dest='as_json',\n    help='out (json)', action='store_true')", true},
		{"constant", Python, `p.add_argument("--json", action="store_const", const=1)`, true},
		{"boolean action", Python, `p.add_argument("--json", action=argparse.BooleanOptionalAction)`, true},
		{"optparse", Python, `p.add_option("--json", action="store_true")`, true},
		{"click", Python, `@click.option("--json", "as_json", is_flag=True)`, true},
		{"click with both", Python, `@click.option("--json/--no-json", default=False)`, true},
		{"typer", Python, `def main(json: bool = typer.Option(False, "--json")): pass`, true},
		{"typer annotated", Python, `def main(json: Annotated[bool, typer.Option("--json")] = False): pass`, true},
		{"in argv", Python, argv + `if "--json" in sys.argv[1:]: pass`, true},
		{"in a copy", Python, argv + "args = list(sys.argv[1:])\nif '--json' in args: pass", true},
		{"loop", Python, argv + "for a in sys.argv[1:]:\n  if a == '--json': j = True", true},
		{"list", Python, argv + "if sys.argv[-1] in ('-j', '--json'): pass", true},
		{"match", Python, argv + "match sys.argv[1]:\n  case '-j' | '--json': pass", true},
		{"loop with the next", Python, argv + "if a == '--json':\n  i += 1\nelif a == '-o':\n  out = argv[i + 1]", true},

		{"a value", Python, `p.add_argument("--json", help="FILE")`, false},
		{"a value with a type", Python, `p.add_argument("--json", type=Path)`, false},
		{"click with a value", Python, `@click.option("--json", "file")`, false},
		{"typer with a value", Python, `def main(json: str = typer.Option("", "--json")): pass`, false},
		{"other flag", Python, `p.add_argument("--json-out", action="store_true")`, false},
		{"comment", Python, `# p.add_argument("--json", action="store_true")`, false},
		{"docstring", Python, argv + "\"\"\"\np.add_argument('--json', action='store_true')\nif '--json' in sys.argv\n\"\"\"", false},
		{"help text", Python, argv + `p.add_argument("--text", action="store_true", help="not --json")`, false},
		{"another command", Python, argv + `subprocess.run(["gh", "pr", "list", "--json", "number"])`, false},
		{"a list for another command", Python, argv + "cmd = ['gh']\nif '--json' not in cmd: cmd.append('--json')", false},
		{"a list on the line before", Python, argv + "cmd = []\nprint(sys.argv)\nif '--json' not in cmd: cmd.append('--json')", false},
		{"index of a value", Python, argv + `out = sys.argv[sys.argv.index("--json") + 1] if "--json" in sys.argv else None`, false},
		{"loop with a value", Python, argv + "if a == '--json':\n  out = argv[i + 1]", false},
		{"sub-commands", Python, "s = p.add_subparsers()\ns.add_parser('x').add_argument('--json', action='store_true')", false},
		{"click group", Python, "@click.group()\ndef cli(): pass\n@cli.command()\n@click.option('--json', is_flag=True)\ndef x(): pass", false},
		{"a match is no group", Python, "m.group(1)\np.add_argument('--json', action='store_true')", true},

		{"commander", JavaScript, `const {Command} = require("commander"); program.option("-j, --json", "as JSON")`, true},
		{"commander with a value", JavaScript, `program.option("--json <file>", "write")`, false},
		{"commander with commands", JavaScript, `program.command("x").option("--json", "as JSON")`, false},
		{"yargs", JavaScript, `yargs.option("json", {alias: "j", type: "boolean"})`, true},
		{"yargs with a value", JavaScript, `yargs.option("json", {type: "string"})`, false},
		{"minimist", JavaScript, `const o = require("minimist")(process.argv.slice(2), {boolean: ["help", "json"]})`, true},
		{"parseArgs", TypeScript, "import { parseArgs } from 'node:util'\nparseArgs({options: {json: {type: 'boolean', short: 'j'}, out: {type: 'string'}}})", true},
		{"parseArgs with a value", TypeScript, "import { parseArgs } from 'node:util'\nparseArgs({options: {json: {type: 'string'}, x: {type: 'boolean'}}})", false},
		{"schema", TypeScript, "const schema = {properties: {json: {type: 'boolean'}}}", false},
		{"includes", JavaScript, `const j = process.argv.slice(2).includes("--json")`, true},
		{"assigned", TypeScript, "const args: string[] = process.argv.slice(2)\nif (args.includes('--json')) {}", true},
		{"rest", JavaScript, "const [, , ...rest] = process.argv\nif (rest.includes('--json')) {}", true},
		{"set", JavaScript, "const flags = new Set(process.argv.slice(2))\nif (flags.has('--json')) {}", true},
		{"parameter", TypeScript, "function parseArgs(args: string[]) { if (args.includes('--json')) {} }\nparseArgs(process.argv)", true},
		{"case", JavaScript, "switch (process.argv[2]) { case '-j': case '--json': json = true; break }", true},
		{"equals", TypeScript, "for (const a of Bun.argv) { if (a === \"--json\") json = true }", true},
		{"equals with a value", JavaScript, "if (process.argv[i] === '--json') { file = process.argv[++i] }", false},
		{"template", JavaScript, "const all = process.argv\nconst help = `if (a === '--json') ${x ? `a === \"--json\"` : '}'}`", false},
		{"comments", JavaScript, "process.argv // a === '--json'\n/* a === '--json' */", false},
		{"regular expression", JavaScript, "process.argv; x = s.replace(/[\"'/]/g, ''); if (a === '--json') j = 1", true},
		{"another command's", JavaScript, "process.argv; const ghArgs = ['pr']; if (!ghArgs.includes('--json')) ghArgs.push('--json'); execa('gh', ['--json', 'x'])", false},
		{"deno", TypeScript, "if (Deno.args.includes('--json')) {}", true},

		{"case in shell", Shell, "case \"$1\" in\n  -j|--json) json=1; shift ;;\nesac", true},
		{"spaced pattern", Shell, "while [ $# -gt 0 ]; do case $1 in --help | --json) x=1;; esac; shift; done", true},
		{"test", Shell, `if [ "$1" = "--json" ]; then j=1; fi`, true},
		{"double test", Shell, `[[ "${1:-}" == --json ]] && j=1`, true},
		{"anywhere", Shell, `[[ " $* " == *" --json "* ]] && j=1`, true},
		{"expression", Shell, `if [[ $1 =~ ^(-j|--json)$ ]]; then j=1; fi`, true},
		{"case with a value", Shell, "case $1 in\n --json) FILE=\"$2\"; shift 2 ;;\nesac", false},
		{"command", Shell, "x=$(gh pr list --json number)\ngh pr view --json title", false},
		{"command in a case", Shell, "case $1 in\n a) gh pr list --json ;;\n b) x=(--json) ;;\nesac", false},
		{"here text", Shell, "cat <<EOF\ncase $1 in\n --json) x ;;\nesac\nEOF\n", false},
		{"here text of python", Shell, "python3 - <<'PY'\nif [ \"$1\" = --json ]\nPY\n", false},
		{"shell comment", Shell, "# case $1 in --json) ;; esac\ntrue", false},
		{"text", Shell, "echo '\ncase $1 in\n--json) x;;\nesac'", false},
		{"array", Shell, "case $1 in\n a) args=(list\n --json) ;;\nesac", false},

		{"optparse in ruby", language.Ruby, "OptionParser.new do |o|\n  o.on('-j', '--json', 'as JSON') { x }\nend", true},
		{"with a value in ruby", language.Ruby, "o.on('--json FILE') { x }", false},
		{"ARGV", language.Ruby, "j = ARGV.include?('--json') # x", true},
		{"deleted", language.Ruby, `json = ARGV.delete("--json")`, true},
		{"when", language.Ruby, "case ARGV[0]\nwhen '-j', '--json' then 1\nend", true},
		{"ruby comment", language.Ruby, "=begin\nARGV.include?('--json')\n=end\nARGV", false},

		{"Getopt::Long", language.Perl, "GetOptions('help|h' => \\$h, 'json!' => \\$j) or die;", true},
		{"Getopt::Long with a value", language.Perl, "GetOptions('json=s' => \\$j);", false},
		{"eq", language.Perl, "foreach (@ARGV) { $j = 1 if $_ eq '--json'; }", true},
		{"pod", language.Perl, "=head1 NAME\n\n if $ARGV[0] eq '--json'\n\n=cut\n\n1;", false},

		{"no language", "", argv + `if "--json" in sys.argv: pass`, false},
	}
	for _, tt := range tests {
		t.Run(string(tt.lang)+" "+tt.name, func(t *testing.T) {
			if got := KnowsJSON(tt.lang, []byte(tt.text)); got != tt.want {
				t.Errorf("got %t: %v", got, lex(tt.lang, []byte(tt.text)))
			}
		})
	}
}

// C70: which scripts show that they answer --help.
func TestKnowsHelp(t *testing.T) {
	tests := []struct {
		name string
		lang Language
		text string
		want bool
	}{
		{"argparse", Python, "import argparse\np = argparse.ArgumentParser()\na = p.parse_args()", true},
		{"known arguments", Python, "a, rest = make_parser().parse_known_args(sys.argv[1:])", true},
		{"optparse", Python, "(o, a) = OptionParser().parse_args()", true},
		{"click", Python, "import click\n@click.command()\ndef main(): pass", true},
		{"click group", Python, "@click.group\ndef main(): pass", true},
		{"typer", Python, "app = typer.Typer()", true},
		{"typer run", Python, "typer.run(main)", true},
		{"docopt", Python, "from docopt import docopt\na = docopt(__doc__)", true},
		{"fire", Python, "fire.Fire(Tool)", true},
		{"by hand", Python, argv + "if len(sys.argv) < 2 or sys.argv[1] in ('-h', '--help'): usage()", true},
		{"in argv", Python, argv + "if '--help' in sys.argv: print(__doc__)", true},
		{"other arguments", Python, "a = p.parse_args(['--fast'])", false},
		{"own function", Python, "def parse_args(): return sys.argv[1:]\nparse_args()", false},
		{"imported only", Python, "import argparse\nopen('x', 'w')", false},
		{"text", Python, argv + "\"\"\"Usage: x --help\n\np.parse_args()\n\"\"\"\nprint('see --help')", false},
		{"another command", Python, argv + "subprocess.run(['gh', '--help'])", false},
		{"comment", Python, "# p.parse_args()", false},

		{"commander", TypeScript, "import { program } from 'commander'\nprogram.parse()", true},
		{"yargs", JavaScript, "const yargs = require('yargs/yargs')", true},
		{"parseArgs", JavaScript, "import {parseArgs} from 'util'; parseArgs({options: {help: {type: 'boolean'}}})", true},
		{"parseArgs without help", JavaScript, "import {parseArgs} from 'util'; parseArgs({options: {x: {type: 'boolean'}}})", false},
		{"own parseArgs", TypeScript, "function parseArgs(argv: string[]) { return {} }\nparseArgs(process.argv)", false},
		{"by hand in js", TypeScript, "const args = process.argv.slice(2)\nif (args.includes('--help') || args.includes('-h')) usage()", true},
		{"list in js", JavaScript, "if (['-h', '--help'].includes(process.argv[2])) usage()", true},
		{"other list in js", JavaScript, "process.argv; run('gh', ['pr', '--help'].filter(Boolean))", false},

		{"case", Shell, "case \"${1:-}\" in\n  help|--help|-h) usage; exit 0 ;;\nesac", true},
		{"test", Shell, `if [ "$1" = "-h" ] || [ "$1" = "--help" ]; then usage; fi`, true},
		{"getopts", Shell, "while getopts \"ab:h\" opt; do :; done", true},
		{"short alone", Shell, "case $1 in -h) usage;; esac", false},
		{"shell command", Shell, "docker --help | grep x\nif git --help >/dev/null; then :; fi", false},
		{"word", Shell, "echo getopts x\n# getopts \"a\" o", false},

		{"ruby", language.Ruby, "require 'optparse'\nOptionParser.new { |o| o.parse! }", true},
		{"perl", language.Perl, "GetOptions('verbose' => \\$v, 'help|?' => \\$h);", true},
		{"perl without help", language.Perl, "GetOptions('verbose' => \\$v);", false},
	}
	for _, tt := range tests {
		t.Run(string(tt.lang)+" "+tt.name, func(t *testing.T) {
			if got := KnowsHelp(tt.lang, []byte(tt.text)); got != tt.want {
				t.Errorf("got %t: %v", got, lex(tt.lang, []byte(tt.text)))
			}
		})
	}
}

// C64, C70: every bundled script declares both.
func TestBundledScriptsKnowBoth(t *testing.T) {
	fsys := mustSub(t, skills.Core(), "kalshi-markets")
	scripts := Of(fsys, &manifest.Manifest{}, nil).List()
	if len(scripts) < 10 {
		t.Fatal(scripts)
	}
	for _, sc := range scripts {
		file := sc.File
		text := Beginning(fsys, file)
		if !KnowsJSON(Python, text) || !KnowsHelp(Python, text) {
			t.Errorf("%s: JSON %t, help %t", file, KnowsJSON(Python, text), KnowsHelp(Python, text))
		}
	}
}

// What a script says costs time by its length alone, and no more than its beginning is read.
func TestTextsAreBounded(t *testing.T) {
	dir := t.TempDir()
	big := strings.Repeat("# padding\n", 1<<19) + "p.add_argument('--json', action='store_true')\n"
	if err := os.WriteFile(filepath.Join(dir, "a.py"), []byte(big), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := len(Beginning(os.DirFS(dir), "a.py")); got != MaxText {
		t.Errorf("read %d bytes", got)
	}
	if KnowsJSON(Python, []byte(big)) {
		t.Error("the end of a long text was examined")
	}
	for lang, pieces := range map[Language][]string{
		Python:        {"add_argument('--json',", "'--json',", "from x.y import z;", "[(", "'--json' in "},
		JavaScript:    {".option('json', {", "`${", "require('util');json:{", "argv = argv"},
		Shell:         {"$(", "case x in --json|", "<<A\n", "--json) "},
		language.Perl: {"GetOptions('x'", "<<A\n"},
	} {
		for _, piece := range pieces {
			text := []byte(strings.Repeat(piece, MaxText/len(piece)))
			begun := time.Now()
			KnowsJSON(lang, text)
			KnowsHelp(lang, text)
			Module(os.DirFS(dir), "x/y/a.py", text)
			if took := time.Since(begun); took > 30*time.Second {
				t.Errorf("%s of %q took %s", lang, piece, took)
			}
		}
	}
}

func FuzzKnows(f *testing.F) {
	for _, text := range []string{"p.add_argument('--json', action='store_true')", "case $1 in --json) x;; esac", "`${`${'}'}`}`", "a /[/]/ b", "<<~X\nX\n", "\"\\", "$(${`", "\"\"\"", "@click.option(\"--json\"", "r'", "=begin"} {
		f.Add(text)
	}
	fsys := fstest.MapFS{"scripts/__init__.py": &fstest.MapFile{}}
	f.Fuzz(func(t *testing.T, text string) {
		for _, lang := range []Language{Python, JavaScript, TypeScript, Shell, language.Ruby, language.Perl, ""} {
			if KnowsJSON(lang, []byte(text)) && !strings.Contains(text, "json") {
				t.Errorf("%s knows a flag that is not there: %q", lang, text)
			}
			KnowsHelp(lang, []byte(text))
			Module(fsys, "scripts/a.py", []byte(text))
		}
	})
}

// C64: no text takes long to examine.
func TestScannersAreLinear(t *testing.T) {
	for _, piece := range []string{"/[", "A[ B= "} {
		text := []byte(strings.Repeat(piece, MaxText/len(piece)))
		for _, lang := range []Language{JavaScript, Shell} {
			start := time.Now()
			KnowsJSON(lang, text)
			KnowsHelp(lang, text)
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("%s: %q took %v", lang, piece, took)
			}
		}
	}
}
