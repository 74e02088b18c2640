package survey

import (
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"path"
	"runtime"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
)

// Language is the language of a script, named by the extension of its files.
type Language = language.ID

// The languages of which more is known than how they are run.
const (
	Python     = language.Python
	Shell      = language.Shell
	JavaScript = language.JavaScript
	TypeScript = language.TypeScript
)

// LanguageOf returns the language of a script from its extension, in any case. It returns "" for an unknown extension.
func LanguageOf(file string) Language { return language.Of(file) }

// isKnown reports whether the extension of a file makes it a script under a rule.
func (r Rule) isKnown(file string) bool {
	lang := LanguageOf(file)
	if r == Direct {
		return lang.Row().Common && string(lang) == strings.ToLower(path.Ext(file))
	}
	return lang != ""
}

// LanguageNamed returns a script's language by the interpreter of its #! line, "" for an unknown one. The interpreter
// "python3.12" is Python's.
func LanguageNamed(interpreter string) Language { return language.Named(interpreter) }

// Kinds says how a file shows what runs it.
func Kinds(r Rule) string {
	var ext []string
	for _, l := range language.All() {
		for _, e := range l.Endings() {
			if r.isKnown("x" + e) {
				ext = append(ext, e)
			}
		}
	}
	return "an extension of " + strings.Join(ext, " ") + ", or a #! line"
}

// isScript reports whether an entry of a folder is a file that can be run. A file with an unknown extension that does not
// lie in scripts/ must be executable to be looked into.
func (s *Set) isScript(file string, d fs.DirEntry) bool {
	if !d.Type().IsRegular() {
		return false
	}
	if s.rule.isKnown(file) {
		return true
	}
	ext := path.Ext(file)
	if ext != "" && path.Dir(file) != Dir && !executableEntry(d) {
		return false
	}
	b := Head(s.fsys, file)
	if bytes.HasPrefix(b, []byte("#!")) {
		return true
	}
	return (ext == "" || strings.EqualFold(ext, ".exe")) && Platform(b) != "" && executableEntry(d)
}

// isKindless reports whether a file that is not a script is executable text without an extension.
func (s *Set) isKindless(file string, d fs.DirEntry) bool {
	if path.Ext(file) != "" || !d.Type().IsRegular() {
		return false
	}
	info, err := d.Info()
	return err == nil && info.Mode()&0o111 != 0 && !bytes.ContainsRune(Head(s.fsys, file), 0)
}

func executableEntry(d fs.DirEntry) bool {
	info, err := d.Info()
	return err == nil && Executable(info.Mode())
}

// Executable reports whether a file may be executed, by its mode. On Windows every file may.
func Executable(m fs.FileMode) bool { return runtime.GOOS == "windows" || m&0o111 != 0 }

const headBytes = 512 // of a file, enough for a #! line and a program's header

// Head returns the first bytes of a file, nil when it cannot be read.
func Head(fsys fs.FS, name string) []byte { return head(fsys, name, headBytes) }

// head returns at most that many of the first bytes of a file, nil when it cannot be read.
func head(fsys fs.FS, name string, most int64) []byte {
	f, err := fsys.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, most))
	return b
}

// elfMachines are the ELF machine numbers of Go's architectures.
var elfMachines = map[uint16]string{3: "386", 8: "mips", 21: "ppc64", 22: "s390x", 40: "arm", 62: "amd64", 183: "arm64", 243: "riscv64", 258: "loong64"}

// Platform returns what a program's first bytes say it is for: "linux/amd64", "linux/?" for an unknown processor,
// "darwin", "windows", or "" if it is not a program. ELF counts as linux: only running the program shows which of the systems
// with that format it is for.
func Platform(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\x7fELF")) && len(b) >= 20:
		var order binary.ByteOrder = binary.LittleEndian
		if b[5] == 2 {
			order = binary.BigEndian
		}
		machine, ok := elfMachines[order.Uint16(b[18:])]
		if !ok {
			machine = "?"
		}
		return "linux/" + machine
	case bytes.HasPrefix(b, []byte("MZ")):
		return "windows"
	case bytes.HasPrefix(b, []byte("\xcf\xfa\xed\xfe")), bytes.HasPrefix(b, []byte("\xca\xfe\xba\xbe\x00\x00\x00")):
		return "darwin"
	}
	return ""
}

// Foreign reports whether a program for that platform cannot run on this machine.
func Foreign(platform string) bool {
	goos, arch, _ := strings.Cut(platform, "/")
	if goos != "linux" {
		return goos != runtime.GOOS
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return true
	}
	return !strings.HasPrefix(runtime.GOARCH, arch) && !(arch == "386" && runtime.GOARCH == "amd64")
}
