// Package variable reads the names of environment variables, and the patterns of permissions.env.
package variable

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// never holds the variables that no script gets, in addition to those of internal/language: they make programs load or run something
// else, or are the engine's own.
var never = []string{
	"LD_*", "DYLD_*", "GLIBC_TUNABLES", "GCONV_PATH", "GTK_MODULES", "LESSOPEN", "LESSCLOSE", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "SSLKEYLOGFILE",
	"GIT_*", "SSH_*", "PATH", "HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "AGENT_*",
}

// Reason says why a variable never passes.
const Reason = "it decides which programs and files are loaded, or where they are"

// NeverPasses reports whether no script gets a variable, or the variables of a pattern, in any case of its letters.
func NeverPasses(name string) bool {
	name = strings.ToUpper(name)
	for _, p := range slices.Concat(never, language.Obeyed()) {
		if ok, _ := path.Match(p, name); ok { // the patterns are well formed
			return true
		}
	}
	return false
}

// wild holds the characters of a pattern.
const wild = `*?[\`

// IsPattern reports whether a text is a pattern and not a name.
func IsPattern(text string) bool { return strings.ContainsAny(text, wild) }

const maxName = 200 // bytes

// IsName reports whether a text can be the name of a variable.
func IsName(text string) bool {
	return text != "" && len(text) <= maxName && (letter(rune(text[0])) || text[0] == '_') &&
		strings.IndexFunc(text, func(r rune) bool { return !letter(r) && r != '_' && !(r >= '0' && r <= '9') }) < 0
}

func letter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

// CheckDeclared returns an error for an entry of permissions.env that gives a script nothing. An entry is a name, or a prefix of
// three letters or more and "_" with * after it: "*", "A_*" and "*_TOKEN" would forward variables that no author meant.
func CheckDeclared(text string) error {
	prefix, rest, wild := strings.Cut(text, "*")
	switch {
	case NeverPasses(text):
		return errors.New("no script gets it: " + Reason)
	case !wild && !IsName(text):
		return errors.New("it is not the name of a variable")
	case !wild:
		return nil
	}
	first, _, found := strings.Cut(prefix, "_")
	if !found || len(first) < 3 || strings.IndexFunc(first[:3], func(r rune) bool { return !letter(r) }) >= 0 {
		return errors.New("before * stand at least three letters and _, as in KALSHI_*")
	}
	if !IsName(prefix + strings.ReplaceAll(rest, "*", "")) {
		return errors.New("it is not the name of a variable")
	}
	return nil
}

var reference = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

// Expand replaces ${NAME} and ${NAME:-default} in a text by the values of variables. missing gets the names without a value.
func Expand(text string, value func(name string) (string, bool), missing func(name string)) string {
	return reference().ReplaceAllStringFunc(text, func(found string) string {
		m := reference().FindStringSubmatch(found)
		if v, ok := value(m[1]); ok {
			return v
		}
		if m[2] == "" {
			missing(m[1])
		}
		return strings.TrimPrefix(m[2], ":-")
	})
}

var byShell = strings.Fields(`BASH BASHOPTS BASHPID BASH_ARGC BASH_ARGV BASH_COMMAND BASH_LINENO BASH_REMATCH BASH_SOURCE BASH_SUBSHELL
	BASH_VERSINFO BASH_VERSION COMP_CWORD COMP_LINE COMP_POINT COMP_WORDS COMPREPLY DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME
	GROUPS HOSTTYPE IFS LINENO MACHTYPE MAPFILE OLDPWD OPTARG OPTERR OPTIND OSTYPE PIPESTATUS PPID
	PROMPT_COMMAND PS0 PS1 PS2 PS3 PS4 PWD RANDOM READLINE_LINE REPLY SECONDS SHELLOPTS SHLVL SRANDOM UID ZSH_VERSION`)

// SetByShell reports whether a shell sets a variable itself.
func SetByShell(name string) bool { return slices.Contains(byShell, name) }

// secretWords are the words of a variable's name that show that it holds a secret.
var secretWords = strings.Fields("KEY KEYS APIKEY TOKEN TOKENS SECRET SECRETS PASS PASSWD PASSWORD PASSPHRASE CREDENTIAL CREDENTIALS AUTH PAT DSN COOKIE COOKIES")

// IsKey reports whether the name of a variable looks like that of a secret.
func IsKey(name string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToUpper(name), "_"), func(word string) bool {
		return slices.Contains(secretWords, word) || strings.HasSuffix(word, "APIKEY") || strings.HasSuffix(word, "TOKEN") || strings.HasSuffix(word, "PASSWORD")
	})
}

// Matches reports whether one of the patterns, written as path.Match takes them, matches a name.
func Matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, name); err == nil && ok {
			return true
		}
	}
	return false
}
