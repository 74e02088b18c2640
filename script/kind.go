package script

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

// language is what a script is written in: how it is told and what runs it (C29).
type language struct {
	ext      string   // of its files
	names    []string // of its interpreters in a #! line
	programs []program
	cure     string // how to get an interpreter
}

// program is one interpreter with the arguments that come before the script.
type program struct {
	name string
	args []string
	// where are arguments that make the program print the absolute path of the real one: many systems
	// have a shell script in its place that chooses among versions.
	where []string
}

// languages are tried in order; of each the programs that are there are tried in order.
var languages = []language{
	{ext: ".py", names: []string{"python", "python3", "uv"}, cure: "install Python 3: https://www.python.org/downloads/"},
	{ext: ".sh", names: []string{"bash", "sh", "dash", "ksh", "zsh"}, programs: []program{{name: "bash"}, {name: "sh"}}, cure: "install bash"},
	{ext: ".js", names: []string{"node", "nodejs"}, programs: []program{node, bun, deno}, cure: "install Node.js: https://nodejs.org"},
	{ext: ".ts", names: []string{"bun", "deno", "tsx", "ts-node"}, programs: []program{bun, deno, node}, cure: "install bun: https://bun.sh"},
	{ext: ".rb", names: []string{"ruby"}, programs: []program{{name: "ruby", where: []string{"-e", "print RbConfig.ruby"}}}, cure: "install Ruby"},
	{ext: ".pl", names: []string{"perl"}, programs: []program{{name: "perl", where: []string{"-e", "print $^X"}}}, cure: "install Perl"},
}

var (
	node = program{name: "node", where: []string{"-p", "process.execPath"}}
	bun  = program{name: "bun", args: []string{"run", "--no-install"}}
	deno = program{name: "deno", args: []string{"run", "--quiet", "--no-prompt", "--allow-all"}}
)

func extensions() []string {
	out := make([]string, len(languages))
	for i, l := range languages {
		out[i] = l.ext
	}
	return out
}

// languageOf tells a script's language by its extension.
func languageOf(name string) (language, bool) {
	ext := strings.ToLower(path.Ext(name))
	i := slices.IndexFunc(languages, func(l language) bool { return l.ext == ext })
	if i < 0 {
		return language{}, false
	}
	return languages[i], true
}

// languageNamed tells a script's language by the interpreter of its #! line: "python3.12" is Python.
func languageNamed(interpreter string) (language, bool) {
	name := strings.TrimRight(interpreter, "0123456789.")
	for _, l := range languages {
		if slices.Contains(l.names, name) || slices.Contains(l.names, interpreter) {
			return l, true
		}
	}
	return language{}, false
}

const headBytes = 512 // of a file, enough for a #! line and a program's header

// runnable reports whether a regular file is a script: a known extension, a #! line, or a program
// without extension that may be executed.
func runnable(fsys fs.FS, d fs.DirEntry) bool {
	if !d.Type().IsRegular() {
		return false
	}
	if _, ok := languageOf(d.Name()); ok {
		return true
	}
	b := head(fsys, Dir+"/"+d.Name())
	if bytes.HasPrefix(b, []byte("#!")) {
		return true
	}
	if ext := path.Ext(d.Name()); ext != "" && !strings.EqualFold(ext, ".exe") || platform(b) == "" {
		return false
	}
	info, err := d.Info()
	return err == nil && executable(info.Mode())
}

func executable(m fs.FileMode) bool { return runtime.GOOS == "windows" || m&0o111 != 0 }

// head returns the first bytes of a file, nothing when it cannot be read.
func head(fsys fs.FS, name string) []byte {
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

// platform tells what a program's first bytes say it is for: "linux/amd64", "linux/?" for an unknown
// processor, "darwin", "windows", "" when it is no program. ELF counts as linux; the systems that
// share the format are told apart by running it.
func platform(b []byte) string {
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

// foreign reports whether a program of that platform cannot run here.
func foreign(platform string) bool {
	goos, arch, _ := strings.Cut(platform, "/")
	if goos != "linux" {
		return goos != runtime.GOOS
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return true
	}
	return !strings.HasPrefix(runtime.GOARCH, arch) && !(arch == "386" && runtime.GOARCH == "amd64")
}
