package survey

import (
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
)

// Language is the language of a script, named by the extension of its files.
type Language string

// The languages that scripts are run in.
const (
	Python     Language = ".py"
	Shell      Language = ".sh"
	JavaScript Language = ".js"
	TypeScript Language = ".ts"
	Ruby       Language = ".rb"
	Perl       Language = ".pl"
)

// languages are all of them, with the names of their interpreters in a #! line.
var languages = []struct {
	language     Language
	interpreters []string
}{
	{Python, []string{"python", "python3", "uv"}},
	{Shell, []string{"bash", "sh", "dash", "ksh", "zsh"}},
	{JavaScript, []string{"node", "nodejs"}},
	{TypeScript, []string{"bun", "deno", "tsx", "ts-node"}},
	{Ruby, []string{"ruby"}},
	{Perl, []string{"perl"}},
}

// LanguageOf returns the language of a script from its extension, in any case. It returns "" for an unknown extension.
func LanguageOf(file string) Language {
	ext := Language(strings.ToLower(path.Ext(file)))
	for _, l := range languages {
		if l.language == ext {
			return ext
		}
	}
	return ""
}

// LanguageNamed returns a script's language by the interpreter of its #! line, "" for an unknown one. The interpreter
// "python3.12" is Python's.
func LanguageNamed(interpreter string) Language {
	name := strings.TrimRight(interpreter, "0123456789.")
	for _, l := range languages {
		if slices.Contains(l.interpreters, name) || slices.Contains(l.interpreters, interpreter) {
			return l.language
		}
	}
	return ""
}

// Kinds says how a file shows what runs it.
func Kinds() string {
	var ext []string
	for _, l := range languages {
		ext = append(ext, string(l.language))
	}
	return "an extension of " + strings.Join(ext, " ") + ", or a #! line"
}

// isScript reports whether an entry of a folder is a file that can be run.
func isScript(fsys fs.FS, dir string, d fs.DirEntry) bool {
	if !d.Type().IsRegular() {
		return false
	}
	if LanguageOf(d.Name()) != "" {
		return true
	}
	b := Head(fsys, dir+"/"+d.Name())
	if bytes.HasPrefix(b, []byte("#!")) {
		return true
	}
	if ext := path.Ext(d.Name()); ext != "" && !strings.EqualFold(ext, ".exe") || Platform(b) == "" {
		return false
	}
	info, err := d.Info()
	return err == nil && Executable(info.Mode())
}

// Executable reports whether a file may be executed, by its mode. On Windows every file may.
func Executable(m fs.FileMode) bool { return runtime.GOOS == "windows" || m&0o111 != 0 }

const headBytes = 512 // of a file, enough for a #! line and a program's header

// Head returns the first bytes of a file, nil when it cannot be read.
func Head(fsys fs.FS, name string) []byte {
	f, err := fsys.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, headBytes))
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
