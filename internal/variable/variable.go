// Package variable reads the names of environment variables, and the patterns of permissions.env.
package variable

import (
	"errors"
	"path"
	"strings"
)

// never holds the variables that no script gets: they make programs load or run something else, or are the engine's own.
var never = []string{
	"LD_*", "DYLD_*", "GLIBC_TUNABLES", "GCONV_PATH", "BASH_ENV", "BASH_FUNC_*", "BASHOPTS", "SHELLOPTS", "ENV", "IFS", "PS4",
	"PYTHON*", "NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "BUN_OPTIONS", "BUN_CONFIG_*", "BUN_INSTALL*", "DENO_*", "TSX_TSCONFIG_PATH", "TS_NODE_*",
	"PERL5*", "PERLLIB", "PERL_USE_UNSAFE_INC", "RUBYOPT", "RUBYLIB", "RUBYPATH", "GEM_HOME", "GEM_PATH", "BUNDLE_*", "BUNDLER_*", "LUA_INIT*", "LUA_PATH*", "LUA_CPATH*",
	"R_PROFILE*", "R_ENVIRON*", "R_LIBS*", "JULIA_*", "OCTAVE_*", "BABASHKA_*", "PHPRC", "PHP_INI_SCAN_DIR", "PSMODULEPATH", "TCLLIBPATH",
	"CLASSPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "DOTNET_STARTUP_HOOKS", "CORECLR_*", "COR_PROFILER*", "COR_ENABLE_PROFILING", "ERL_*FLAGS", "ERL_LIBS", "GTK_MODULES",
	"NPM_CONFIG_*", "YARN_*", "ZDOTDIR", "FPATH", "LESSOPEN", "LESSCLOSE", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "SSLKEYLOGFILE", "GIT_*", "SSH_*", "UV_*", "PIP_*",
	"PATH", "HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "AGENT_*",
}

// Reason says why a variable never passes.
const Reason = "it decides which programs and files are loaded, or where they are"

// NeverPasses reports whether no script gets a variable, or the variables of a pattern, in any case of its letters.
func NeverPasses(name string) bool {
	name = strings.ToUpper(name)
	for _, p := range never {
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
