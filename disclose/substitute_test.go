package disclose

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/placeholder"
)

// Agent Skills in Claude Code: the rules of its substitution, one by one.
// security 2.10 #154: what was put in is not expanded again.
func TestSubstitute(t *testing.T) {
	vars := map[string]string{"CLAUDE_PLUGIN_ROOT": "/s"}
	rows := []struct{ name, body, args, want string }{
		{"all", "Do $ARGUMENTS now", "a b", "Do a b now"},
		{"all, not given", "Do $ARGUMENTS now", "", "Do  now"},
		{"first is 0", "$0-$1", "a b", "a-b"},
		{"by brackets", "$ARGUMENTS[1] $ARGUMENTS[0]", "a b", "b a"},
		{"missing index stays", "$2 $ARGUMENTS[7]", "a b", "$2 $ARGUMENTS[7]"},
		{"huge index stays", "$99999999999999999999999", "a", "$99999999999999999999999"},
		{"two digits", "$10", "0 1 2 3 4 5 6 7 8 9 ten", "ten"},
		{"quotes", "$0|$1|$2", `"a b" 'c "d' e\ f`, `a b|c "d|e f`},
		{"empty argument", "[$0][$1]", `"" x`, "[][x]"},
		{"open quote", "$0|$1", `it's "fine`, `it's|"fine`},
		{"named", "$issue in $repo-name", "12 api", "12 in api"},
		{"named, not given", "[$repo-name]", "12", "[]"},
		{"longest name", "$repo-name", "12 api", "api"},
		{"unknown name stays", "$HOME $issues", "12", "$HOME $issues"},
		{"word goes on", "$0th $ARGUMENTSX $issue_x", "a", "$0th $ARGUMENTSX $issue_x"},
		{"escaped price", `\$1.00`, "a b", "$1.00"},
		{"escaped, nothing given", `\$1.00 \$ARGUMENTS`, "", "$1.00 $ARGUMENTS"},
		{"escaped name", `\$issue`, "12", "$issue"},
		{"prices", "$0, $1,000, $0.06, up to $1.5K. $1.", "a b", "a, $1,000, $0.06, up to $1.5K. b."},
		{"awk", "$0: awk -F, '{ print $1,\n $0 }' $1 | gawk '$1 ~ /x/' and '$1'", "a b", "a: awk -F, '{ print $1,\n $0 }' b | gawk '$1 ~ /x/' and 'b'"},
		{"awk without a program", "awk is not $0", "a b", "awk is not a"},
		{"doubled backslash", `\\$0`, "a", `\\a`},
		{"backslash before no placeholder", `\$HOME \n`, "a", `\$HOME \n`},
		{"variables", "${CLAUDE_SKILL_DIR}/x ${AGENT_SKILL_DIR}", "", "/s/pdf/x /s/pdf"},
		{"variables cannot be escaped", `\${CLAUDE_SKILL_DIR}`, "", `\/s/pdf`},
		{"unknown variable", "${CLAUDE_SESSION_ID} ${HOME} ${x", "", "${CLAUDE_SESSION_ID} ${HOME} ${x"},
		{"not expanded again", "$0 $1 $ARGUMENTS", "$1 $ARGUMENTS", "$1 $ARGUMENTS $1 $ARGUMENTS"},
		{"variable in an argument", "$0", "${CLAUDE_SKILL_DIR}", "${CLAUDE_SKILL_DIR}"},
		{"dollars", "$ $$0 cost$", "a", "$ $a cost$"},
		{"C73: base directory", "python {baseDir}/a.py {baseDir}{baseDir", "", "python /s/pdf/a.py /s/pdf{baseDir"},
		{"C73: a template's or a variable's own", "{{baseDir}} ${baseDir} $baseDir {BASEDIR} {base_dir}", "", "{{baseDir}} ${baseDir} $baseDir {BASEDIR} {base_dir}"},
		{"C73: the plugin's folder", "${CLAUDE_PLUGIN_ROOT}/x", "", "/s/x"},
		{"C73: nothing else", "$CLAUDE_SKILL_DIR $CLAUDE_PLUGIN_ROOT ~/.claude/skills/docx/x {skillDir} ${CLAUDE_SKILL_DIR:-x} <b> ~", "", "$CLAUDE_SKILL_DIR $CLAUDE_PLUGIN_ROOT ~/.claude/skills/docx/x {skillDir} ${CLAUDE_SKILL_DIR:-x} <b> ~"},
		{"C78: words of other programs", "${SKILL_DIR}/a $SKILL_DIR/b {SKILL_DIR}/c <SKILL_DIR>/d <skill_dir> <skill-dir>", "", "/s/pdf/a /s/pdf/b /s/pdf/c /s/pdf/d /s/pdf /s/pdf"},
		{"C78: places in the home", "`~/.clawdbot/skills/pdf/x` ~/clawd/skills/PDF $HOME/.claude/skills/pdf.", "", "`/s/pdf/x` /s/pdf /s/pdf."},
		{"C78: a variable of the body", "SKILL_DIR=$0 python $SKILL_DIR/a ${SKILL_DIR} {SKILL_DIR}", "/x", "SKILL_DIR=/x python $SKILL_DIR/a ${SKILL_DIR} /s/pdf"},
		{"C78: not in an argument", "$0", "<SKILL_DIR>~/.a/skills/pdf", "<SKILL_DIR>~/.a/skills/pdf"},
		{"C73: not in an argument", "{$0} $0", "{baseDir}", "{{baseDir}} {baseDir}"},
		{"braces", "{a {{b}} ${ ${{ {$0}", "x", "{a {{b}} ${ ${{ {x}"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			v := newValues(r.args, []string{"issue", "repo-name", "repo"}[:2], vars)
			v.dir, v.skill, v.own = "/s/pdf", "pdf", placeholder.Own(r.body)
			if got, _, _ := v.substitute(r.body); got != r.want {
				t.Errorf("%q with %q: got %q, want %q", r.body, r.args, got, r.want)
			}
		})
	}
}

func TestSplitArgs(t *testing.T) {
	rows := map[string][]string{
		"":              nil,
		"  a\tb\nc ":    {"a", "b", "c"},
		`"a b"c 'd'"e"`: {"a bc", "de"},
		`"a\"b" "\n"`:   {`a"b`, `\n`},
		`'a\'`:          {`a\`},
		`a\`:            {`a\`},
		`\"a b`:         {`"a`, "b"},
		`a "b`:          {"a", `"b`},
	}
	for s, want := range rows {
		if got := splitArgs(s); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

// What is put in is never expanded: marking every "$" of the arguments changes nothing else.
func FuzzSubstitute(f *testing.F) {
	f.Add("run $ARGUMENTS and $0, $name, ${CLAUDE_SKILL_DIR}", "$0 '$name' ${CLAUDE_SKILL_DIR}")
	f.Add(`\$1 \\$ARGUMENTS[0] $ARGUMENTS[`, `"`)
	f.Add("${CLAUDE_", `\`)
	f.Fuzz(func(t *testing.T, body, args string) {
		names := []string{"name", "other-name"}
		got, used, _ := newValues(args, names, map[string]string{"CLAUDE_SKILL_DIR": "/d"}).substitute(body)
		if !strings.Contains(body, "$") && (got != body || used) {
			t.Errorf("%q: got %q without a placeholder", body, got)
		}
		marked, _, _ := newValues(strings.ReplaceAll(args, "$", "\x01"), names, map[string]string{"CLAUDE_SKILL_DIR": "/d"}).substitute(body)
		if strings.ReplaceAll(marked, "\x01", "$") != strings.ReplaceAll(got, "\x01", "$") {
			t.Errorf("%q with %q: got %q, with inert arguments %q", body, args, got, marked)
		}
		if !used && len(got) > len(body)+strings.Count(body, "{CLAUDE_SKILL_DIR}")*2 {
			t.Errorf("%q: grew to %q without arguments", body, got)
		}
	})
}
