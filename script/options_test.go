package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/script/internal/fail"
)

// trialOf has a script that prints "ran" and its arguments, a line for each, in the language of a program, and options of that program
// that would have an effect on it. A word EVIL/x stands for the path of a file x that does something when it is loaded.
type trialOf struct {
	file, code string
	bang       string   // the words after the program's name in a #! line, if it needs some
	options    []string // each is one argument or more
	refused    []string // with these it is not run
}

const printJS = "const given = globalThis.Deno ? Deno.args : process.argv.slice(2);\nconsole.log(['ran', ...given].join('\\n') + (globalThis.process.env.INJECTED ?? ''));\n"

var shellOptions = []string{"-c echo", "-i", "-l", "--login", "--posix", "-x", "-v", "-e", "-n", "-s", "--init-file EVIL/e.sh", "--rcfile EVIL/e.sh", "--version", "--help", "-O extglob", "-o xtrace", "-", "-- -x"}

var nodeOptions = []string{"--env-file=EVIL/e.env", "--env-file EVIL/e.env", "x --env-file=EVIL/e.env", "- --env-file=EVIL/e.env", "--env-file-if-exists=EVIL/e.env", "--env-file-if-exists EVIL/e.env",
	"--require=EVIL/e.cjs", "-r EVIL/e.cjs", "--import=EVIL/e.cjs", "--eval x", "-e x", "-p 1", "--check", "-c", "-i", "--test", "--watch", "--version", "-v", "--help", "-h", "--v8-options", "--title=x",
	"--inspect=127.0.0.1:0", "--run x", "--input-type=commonjs", "--no-warnings", "--permission", "--prof", "--trace-warnings"}

var nodeRefused = []string{"--experimental-config-file=EVIL/e.json", "x --experimental-config-file EVIL/e.json", "--experimental-default-config-file"}

// trials has a row for each row of the table of programs: whatever runs scripts is tried.
var trials = map[string]trialOf{
	"bash": {file: "a.sh", code: "printf '%s\\n' ran \"$@\"\n", options: append([]string{"--dump-strings", "-D", "--pretty-print"}, shellOptions...)},
	"sh":   {file: "a.sh", code: "printf '%s\\n' ran \"$@\"\n", options: shellOptions},
	"dash": {code: "printf '%s\\n' ran \"$@\"\n", options: shellOptions},
	"ksh":  {code: "printf '%s\\n' ran \"$@\"\n", options: shellOptions},
	"zsh":  {code: "printf '%s\\n' ran \"$@\"\n", options: append([]string{"--emulate sh", "-f"}, shellOptions...)},
	"fish": {code: "printf '%s\\n' ran $argv\n", options: []string{"-c exit", "-C exit", "--init-command=exit", "-i", "-n", "-p EVIL/out", "-N", "--no-config", "--version", "--help", "-- -v"}},

	"node":    {file: "a.js", code: printJS, options: nodeOptions, refused: nodeRefused},
	"nodejs":  {code: printJS, options: nodeOptions, refused: nodeRefused},
	"tsx":     {code: printJS, options: nodeOptions[:6], refused: nodeRefused},
	"ts-node": {code: printJS, options: nodeOptions[:6], refused: nodeRefused},
	"bun": {file: "a.ts", code: printJS, options: append([]string{"--preload=EVIL/e.cjs", "--preload EVIL/e.cjs", "--config=x", "--cwd=/", "--install=force", "--hot", "--revision", "--define=a:1", "--tsconfig-override=x", "--silent", "--filter=x"},
		slices.DeleteFunc(slices.Clone(nodeOptions), func(o string) bool { return strings.HasPrefix(o, "-- ") })...)},
	"deno": {file: "a.ts", bang: "run -A --quiet", code: printJS, options: []string{"--env-file=EVIL/e.env", "--env-file", "--import-map=x", "--config=x", "-c x", "--allow-all", "-A", "--help", "-h", "--version", "-V", "--eval", "--preload=EVIL/e.cjs",
		"--v8-flags=--prof", "--inspect", "--watch", "--reload", "--quiet", "--check", "--seed=1", "--lock=x", "--log-level=debug", "--coverage=x", "-- -x"}},

	"python": {file: "a.py", code: "import sys\nprint('\\n'.join(['ran'] + sys.argv[1:]))\n", options: []string{"-c exit()", "-m this", "-i", "-v", "-V", "--version", "-h", "--help", "-X dev", "-W error", "-O", "-u", "-x", "-", "-- -v", "-S", "-q"}},
	"ruby": {file: "a.rb", code: "puts ['ran', *ARGV]\n", options: []string{"-e exit", "-r EVIL/e.rb", "-I .", "-v", "--version", "-w", "-d", "-c", "-n", "-p", "-i", "-s", "-S", "-x", "-C /", "-h", "--help", "--yjit", "--dump=insns", "-y", "-- -v",
		"--disable=gems", "--verbose", "--copyright"}},
	"perl": {file: "a.pl", code: "print join(\"\\n\", 'ran', @ARGV), \"\\n\";\n", options: []string{"-e exit", "-Mstrict", "-I.", "-d", "-c", "-v", "-V", "-w", "-n", "-p", "-i", "-s", "-S", "-x", "-T", "-U", "-h", "-0777", "-l", "-a", "-- -v"}},
	"pwsh": {file: "a.ps1", code: "@('ran') + $args | ForEach-Object { $_ }\n", options: []string{"-Command exit", "-EncodedCommand ZQB4AGkAdAA=", "-Version", "-Help", "-NoExit", "-File EVIL/e.ps1", "-SettingsFile x", "-WorkingDirectory /"}},
	"php": {file: "a.php", code: "<?php echo implode(\"\\n\", ['ran', ...array_slice($argv, 1)]), \"\\n\";\n", options: []string{"-r exit;", "-B exit;", "-F EVIL/e.php", "-f EVIL/e.php", "-d auto_prepend_file=EVIL/e.php", "-dauto_prepend_file=EVIL/e.php", "-c .", "-n", "-z x",
		"-a", "-i", "-l", "-m", "-s", "-w", "-v", "-h", "--version", "--help", "--ini", "--define x=1", "--no-php-ini", "-q", "-e", "-H"}},
	"php -f": {bang: "-f", code: "<?php echo implode(\"\\n\", ['ran', ...array_slice($argv, 1)]), \"\\n\";\n", options: []string{"-r exit;", "-f EVIL/e.php", "-d auto_prepend_file=EVIL/e.php", "-i", "--version", "-- -v"}},

	"lua":     {code: "print(table.concat({'ran', ...}, '\\n'))\n", options: []string{"-e exit()", "-l EVIL/e", "-i", "-v", "-E", "-W", "-", "-- -v"}},
	"luajit":  {code: "print(table.concat({'ran', ...}, '\\n'))\n", options: []string{"-e exit()", "-l EVIL/e", "-i", "-v", "-E", "-jv", "-O0", "-b x", "-", "-- -v"}},
	"tclsh":   {code: "puts [join [list ran {*}$argv] \\n]\n", options: []string{"-encoding utf-8", "-file EVIL/e.tcl", "-"}},
	"guile":   {bang: "-s", code: "!#\n(for-each (lambda (a) (display a) (newline)) (cons \"ran\" (cdr (command-line))))\n", options: []string{"-c 1", "-l EVIL/e.scm", "-s EVIL/e.scm", "-e main", "--version", "--help", "-q", "--debug", "-ds"}},
	"Rscript": {code: "writeLines(c('ran', commandArgs(TRUE)))\n", options: []string{"-e q()", "--gui=x", "-g Tk", "-d gdb", "--debugger=gdb", "--vanilla", "--version", "--help", "-f EVIL/e.R", "--file=EVIL/e.R", "--encoding=latin1", "--slave", "RHOME", "CMD config"}},
	"sed":     {bang: "-f"},
	"jq":      {bang: "-f"},
	"R":       {bang: "-f", refused: []string{"CMD x", "-e q()", "x"}},
	"awk":     {bang: "-f", code: "BEGIN { print \"ran\"; for (i = 1; i < ARGC; i++) print ARGV[i]; exit }\n", options: awkOptions},
	"gawk":    {bang: "-f", code: "BEGIN { print \"ran\"; for (i = 1; i < ARGC; i++) print ARGV[i]; exit }\n", options: awkOptions},
	"gawk -E": {bang: "-E", code: "BEGIN { print \"ran\"; for (i = 1; i < ARGC; i++) print ARGV[i]; exit }\n", options: awkOptions},
	"mawk":    {bang: "-f", code: "BEGIN { print \"ran\"; for (i = 1; i < ARGC; i++) print ARGV[i]; exit }\n", options: awkOptions},
	"expect":  {bang: "-f", code: "puts [join [list ran {*}$argv] \\n]\n", options: []string{"-c exit", "-d", "-D 1", "-f EVIL/e.tcl", "-i", "-n", "-b", "-v"}},
	"make":    {bang: "-f", refused: []string{"SHELL=EVIL/e.sh", "x CC=y"}},
	"gmake":   {bang: "-f", refused: []string{"SHELL=EVIL/e.sh"}},
}

var awkOptions = []string{"-f EVIL/e.awk", "-v x=1", "-F :", "-e BEGIN{exit}", "--source=BEGIN{exit}", "--source BEGIN{exit}", "-i EVIL/e.awk", "--include=EVIL/e.awk", "-E EVIL/e.awk", "--exec=EVIL/e.awk", "--file=EVIL/e.awk", "-oEVIL/out", "-D", "--version", "-W version", "-h", "-g", "-C", "-I"}

// evil are files that show when a program loads them.
var evil = tree{
	"e.env": "NODE_OPTIONS=--require HERE/e.cjs\nINJECTED=1\n", "e.json": `{"nodeOptions":{"import":["HERE/e.cjs"]}}`, "e.cjs": "console.log('EVIL')\n", "e.sh*": "#!/bin/sh\necho EVIL\n", "e.rb": "puts 'EVIL'\n",
	"e.php": "<?php echo 'EVIL';\n", "e.lua": "print('EVIL')\n", "e.tcl": "puts EVIL\n", "e.scm": "(display \"EVIL\")\n", "e.R": "cat('EVIL')\n", "e.awk": "BEGIN { print \"EVIL\" }\n", "e.ps1": "'EVIL'\n",
}

// No argument of a script reaches the program that runs it as an option: not for a file with an ending, not behind a #! line.
func TestOwnOptions(t *testing.T) { // security 2.5 #54
	if runtime.GOOS == "windows" {
		t.Skip("needs #! lines")
	}
	dir := t.TempDir()
	for name, text := range evil {
		tree{name: strings.ReplaceAll(text, "HERE", dir)}.Write(t, dir)
	}
	for name, trial := range trials {
		t.Run(name, func(t *testing.T) {
			program, _, _ := strings.Cut(name, " ")
			path, err := exec.LookPath(program)
			if program == "python" {
				path, err = realPython(t), nil
			}
			if err != nil || trial.code == "" {
				t.Skipf("%s is not tried: %v", program, err)
			}
			files := tree{"scripts/env*": "#!/usr/bin/env -S " + program + " " + trial.bang + "\n" + trial.code}
			if !strings.Contains(trial.bang, " ") {
				files["scripts/path*"] = "#!" + path + " " + trial.bang + "\n" + trial.code
			}
			if trial.bang == "" {
				files["scripts/plain*"] = "#!/usr/bin/env " + program + "\n" + trial.code
			}
			if trial.file != "" {
				files["scripts/"+trial.file] = trial.code
			}
			s := open(t, "", files)
			h := host(t)
			h.LookPath = func(n string) (string, error) {
				if n == program || n == "python3" && program == "python" {
					return path, nil
				}
				return "", exec.ErrNotFound
			}
			for file := range files {
				script := strings.TrimSuffix(filepath.Base(file), "*")
				lists := arguments(trial.options, dir)
				if script != "env" && len(lists) > 0 { // all at once
					lists = [][]string{slices.Concat(lists...)}
				}
				for _, args := range lists {
					want := strings.Join(append([]string{"ran"}, args...), "\n") + "\n"
					if got := mustText(t, h, s, script, args...); got != want {
						t.Errorf("%s with %q: got %q, want %q", script, args, got, want)
					}
				}
				for _, args := range arguments(trial.refused, dir) {
					_, err := runAs(t, h, s, script, &RunOptions{JSON: JSONNo, Args: args})
					failure(t, err, ExecutionFailed, fail.ReasonArgument, "is not run with the argument", "takes it for an option of its own: choose another argument")
				}
			}
		})
	}
}

// arguments returns the lists of arguments to try: all options of one word at once, and each other one by itself.
func arguments(options []string, dir string) (lists [][]string) {
	var single []string
	for _, o := range options {
		words := strings.Fields(strings.ReplaceAll(o, "EVIL/", dir+"/"))
		if len(words) == 1 {
			single = append(single, words[0])
			continue
		}
		lists = append(lists, words)
	}
	if len(single) > 0 {
		lists = append(lists, single)
	}
	return lists
}

// Each program of the table has a trial, so each new row needs one.
func TestOwnOptionsOfAll(t *testing.T) {
	for _, name := range language.ProgramNames() {
		same := slices.Contains([]string{"python3", "uv", "pypy", "pypy3", "powershell", "rscript", "r"}, name)
		if _, ok := trials[name]; !ok && !same && language.ProgramNamed(name).Options() {
			t.Errorf("the program %s has no row in trials", name)
		}
	}
}

// A program that nothing is known about gets no options, and each that takes a file as the value of an option gets an end of them.
func TestOptionsBehindBang(t *testing.T) {
	programs := map[string]string{}
	for _, name := range append(language.ProgramNames(), "unheard") {
		programs[name] = ""
	}
	tests := []struct{ bang, args, want string }{
		{"sed -nf", "-e 1d", "sed [-nf] [a] [--] [-e] [1d]"},
		{"sed", "-e 1d", "sed [--] [a] [-e] [1d]"},
		{"jq -rf", "-n", "jq [-rf] [a] [--] [-n]"},
		{"awk --file", "x", "awk [--file] [a] [--] [x]"},
		{"gawk -E", "-v", "gawk [-E] [a] [-v]"},
		{"make -f", "all", "make [-f] [a] [all]"},
		{"make -f", "-x all", ""},
		{"make -f", "A=b", ""},
		{"php", "-r", "php [-d] [display_errors=stderr] [-d] [include_path=HERE] [a] [-r]"},
		{"php -f", "-r", "php [-d] [display_errors=stderr] [-d] [include_path=HERE] [-f] [a] [--] [-r]"},
		{"node --no-warnings --", "--env-file=x", "node [--no-warnings] [--] [a] [--env-file=x]"},
		{"node", "--experimental-config-file=x", ""},
		{"tsx", "--env-file=x", "tsx [--] [a] [--env-file=x]"},
		{"pwsh -File", "-c", "pwsh [-NoLogo] [-NoProfile] [-NonInteractive] [-File] [a] [-c]"},
		{"pwsh", "-c", "pwsh [-NoLogo] [-NoProfile] [-NonInteractive] [-File] [a] [-c]"},
		{"unheard", "x y", "unheard [a] [x] [y]"},
		{"unheard", "-x", ""},
		{"unheard -f", "y --x", ""},
		{"R -f", "CMD", ""},
	}
	for i, tt := range tests {
		s := open(t, "", tree{"scripts/a*": "#!/usr/bin/env -S " + tt.bang + "\n"})
		h := host(t)
		fakes(t, h, programs)
		res, err := runAs(t, h, s, "a", &RunOptions{JSON: JSONNo, Args: strings.Fields(tt.args)})
		if tt.want == "" {
			failure(t, err, ExecutionFailed, fail.ReasonArgument, "is not run with the argument")
			continue
		}
		if err != nil {
			t.Errorf("%d %s: %v", i, tt.bang, err)
			continue
		}
		dir, _ := s.Dir(t.Context())
		at := filepath.Join(dir, "scripts")
		if got := strings.NewReplacer(at+string(os.PathSeparator), "", at, "HERE").Replace(strings.TrimSpace(res.Text)); got != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.bang, tt.args, strconv.Quote(got), strconv.Quote(tt.want))
		}
	}
}

// security 2.5 #54: the same holds for the program that serves the files of a skill.
func TestOwnOptionsOfServers(t *testing.T) {
	dir := t.TempDir()
	for name, text := range evil {
		tree{name: strings.ReplaceAll(text, "HERE", dir)}.Write(t, dir)
	}
	s := open(t, "", tree{"tools/a.mjs": "export {};\n", "tools/a.py": "\n"})
	for file, name := range map[string]string{"tools/a.mjs": "node", "tools/a.py": "python"} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skip(err)
			}
			trial := trials[name]
			program := filepath.Join(t.TempDir(), "serve"+filepath.Ext(trial.file))
			if err := os.WriteFile(program, []byte(trial.code), 0o600); err != nil {
				t.Fatal(err)
			}
			serve := func(args []string) (string, error) {
				var out closing
				_, err := host(t).host().Serve(t.Context(), s, &ServeOptions{Name: "probe", Files: []string{file}, Program: program, Out: &out,
					Fill: func(string, func(string) (string, bool)) ([]string, map[string]string, error) { return args, nil, nil }})
				return out.String(), err
			}
			args := slices.Concat(arguments(trial.options, dir)...)
			got, err := serve(args)
			if want := strings.Join(append([]string{"ran"}, args...), "\n") + "\n"; got != want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
			for _, args := range arguments(trial.refused, dir) {
				_, err := serve(args)
				failure(t, err, ExecutionFailed, fail.ReasonArgument, "probe is not run with the argument")
			}
		})
	}
}
