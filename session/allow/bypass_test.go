package allow_test

import "strings"

// bypasses are commands that try to run something else than git under the rule Bash(git:*), or that look as if they did.
func bypasses() []string {
	return []string{
		// joined
		"git; rm -rf x", "git status; rm x", "git status && rm x", "git status || rm x", "git status | rm", "git status |& rm",
		"git status & rm x", "git status\nrm x", "git status\r\nrm x", "git log #\nrm x", "git log \\\n; rm x", "git log #2,\\\nrm x", "git log # \\\\\nrm x", "git log 'a\\\nb'; rm", "git log \\\n\nrm x", "git lo\\\ng;rm x",
		"git log \\\\\nrm x", "git log \\\\\\\nrm x", "git a\\\n|rm x", "git \"a\\\n\"; rm x", "git 2>\\\nx", "git status &&",
		"git " + strings.Repeat("a", 9000), strings.Repeat("git x; ", 40) + "rm x",
		// expanded
		"git $(rm x)", "git `rm x`", `git "$(rm x)"`, "git \"`rm x`\"", "git <(rm x)", "git >(rm x)", "git ${x:-$(rm x)}",
		"git $((a[$(rm x)]))", `git "${x@P}"`, "git ${!x}", "git {a,$(rm x)}", "git *", "git ~root", "git x=~root", `git $'\x3b' rm`,
		"git \"a\nb\"; rm", `git $"rm"`, "git !! ; rm", "${IFS}git", "$(echo rm) x", "g${x}it",
		// redirected
		"git status > /etc/passwd", "git log >> ~/.bashrc", "git log 2>&1 >x", "git log &>x", "git apply < x",
		"git log >&x", "git log >& /tmp/x", "git log 2>&1x", "git log 3>&1", "git log {fd}>/dev/null", "git log &>/dev/null", "git log >/dev/null/../x",
		"git log >/dev/nullx", "git log 2>&1 2>x", "git log >$X", "git log 2>/dev/null; rm x", "git log 2>&1 | rm", "git log >/dev/null & rm x",
		"git hash-object --stdin <<EOF\n$(rm x)\nEOF", `git x <<< "$(rm x)"`, "git log 2>x", "git log >|x", "git log <>x",
		// with variables
		"X=1 git status", "GIT_PAGER=rm git log", "PATH=.:$PATH git log", "LD_PRELOAD=./x.so git log", "IFS=x git", "BASH_ENV=x git",
		"PATH=.", "export PATH=.; git", "declare -x PATH=.; git", "printf -v PATH .; git status", "read PATH; git", "unset PATH; git",
		// through another command
		"env git log", "command git log; rm", "exec rm", "eval git; rm x", "builtin eval rm", "sudo git log", "xargs git", "nohup git",
		"time git status; rm", "sh -c 'git; rm'", "git() { rm x; }; git", "function git { rm x; }; git", "alias git=rm; git",
		"hash -p /bin/rm git; git x", "enable -f x git", "trap 'rm x' EXIT; git", "source x", ". x", "coproc rm x", "cd /; git status",
		// with a name that looks like git
		"gitx status", "git-evil", "GIT status", "Git status", "g\u0456t status", "git\u00a0status; rm", "git\u200bstatus",
		"\u202egit status", `g\it status`, "g''it status", `"git" status; rm`, "'git' status", "./git status", "/tmp/git status",
		"git\tstatus;rm", `"" git`, `\git status`, "=git status", "~/git", "[ git",
		// in a construct
		"{ git status; rm x; }", "(git status; rm x)", "if git status; then rm x; fi", "while git x; do rm x; break; done",
		"for i in 1; do rm x; done", "case x in x) rm x;; esac", "! git status", "[[ -n $(rm x) ]]", "((x=$(rm x)))", "let x=$(rm)",
		"select i in a; do rm; done", "until git; do rm; done",
		// not text
		"git\x00; rm x", "git log \x1b[2J", "git log\x0brm", "git \xff; rm", "", "   ", "#git", "git 'unterminated", "git \u2028rm x",
	}
}

// harmless are commands that Bash(git:*) covers.
func harmless() []string {
	return []string{
		"git status", "git log --oneline -n 5", "git  status", "git diff -- 'a file.txt'", `git commit -m "plain text"`,
		"git add -A && git commit -m 'x'", "git log | git shortlog", "git status # note", "git commit -m 'it; rm -rf x'", "git", "git show HEAD^",
		"git show HEAD~2:x", "git stash show 'stash@{0}'", "git log\ngit status\n", "git add 'a*'", "git diff a...b", "git log --format=%h",
		"git status 2>&1", "git status 2>/dev/null", "git status >/dev/null 2>&1", "git log 1>&2 | git shortlog 2>> /dev/null", "git log < /dev/null", ">/dev/null git log",
		"git log -1 \\\n  --oneline", "git commit -m 'a b' \\\n\t--amend 2>&1", "git st\\\natus", "git add x && \\\n git status", "git status 2>\\\n/dev/null",
	}
}
