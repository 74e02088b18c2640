package script

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/skill/manifest"
)

func describe(scripts []Script, problems []manifest.Problem) (names, codes []string) {
	for _, s := range scripts {
		names = append(names, s.Name+"="+strings.TrimPrefix(s.File, "scripts/"))
	}
	for _, p := range problems {
		codes = append(codes, p.Code)
	}
	return names, codes
}

const elf = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00"

// C38, R50, lessons 2.1 #16: a script that is a link is denied, found or listed, also inside the skill.
func TestLinksAreNoScripts(t *testing.T) {
	for _, front := range []string{"", "scripts: [real, link]\n"} {
		s := open(t, front, tree{"scripts/real.py": "", "lib/inside.py": ""})
		dir, err := s.Dir(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../lib/inside.py", filepath.Join(dir, "scripts", "link.py")); err != nil {
			t.Fatal(err)
		}
		names, codes := describe(List(s, nil))
		if !slices.Equal(names, []string{"real=real.py"}) || !slices.Equal(codes, []string{"script-symlink"}) {
			t.Errorf("%q: got %v, problems %v", front, names, codes)
		}
	}
	s := open(t, "", tree{"other/a.py": ""})
	dir, _ := s.Dir(t.Context())
	if err := os.Symlink("other", filepath.Join(dir, "scripts")); err != nil {
		t.Fatal(err)
	}
	if names, codes := describe(List(s, nil)); names != nil || !slices.Equal(codes, []string{"script-symlink"}) {
		t.Errorf("got %v, problems %v", names, codes)
	}
}

func TestFind(t *testing.T) {
	s := open(t, "", tree{"scripts/Status.py": "", "scripts/run.py": "", "scripts/run.sh": "", "scripts/a_b.py": ""})
	tests := []struct {
		ask, want string
		code      fail.Code
		text      string
	}{
		{ask: "Status", want: "scripts/Status.py"}, // R45
		{ask: "status", want: "scripts/Status.py"},
		{ask: "status.py", want: "scripts/Status.py"},
		{ask: "STATUS.PY", want: "scripts/Status.py"},
		{ask: "run.sh", want: "scripts/run.sh"},
		{ask: "Run.py", want: "scripts/run.py"},
		{ask: "run", code: NotFound, text: "Script 'run' not found in skill 'probe': say which, run.py or run.sh"},
		{ask: "status.sh", code: NotFound, text: "Script 'status.sh' not found in skill 'probe'"}, // R104
		{ask: "xyz", code: NotFound, text: "Script 'xyz' not found in skill 'probe'"},
		{ask: "../etc", code: InvalidName, text: "Invalid script name: '../etc'"}, // R104, R46, C32
		{ask: "/etc/passwd", code: InvalidName, text: "Invalid script name: '/etc/passwd'"},
		{ask: "scripts/status.py", want: "scripts/Status.py"}, // C62
		{ask: "scripts/../status.py", code: InvalidName, text: "Invalid script name: 'scripts/../status.py'"},
		{ask: "$DIR/scripts/Status.py", want: "scripts/Status.py"},
		{ask: "$DIR/../Status.py", code: InvalidName, text: "Invalid script name: '$DIR/../Status.py'"},
		{ask: "$DIRx/scripts/Status.py", code: InvalidName, text: "Invalid script name: '$DIRx/scripts/Status.py'"},
		{ask: ".hidden", code: InvalidName, text: "Invalid script name: '.hidden'"},
		{ask: "", code: InvalidName, text: "Invalid script name: ''"},
		{ask: "a b", code: InvalidName, text: "Invalid script name: 'a b'"},
		{ask: "~", code: InvalidName, text: "Invalid script name: '~'"},
		{ask: "__pycache__", code: InvalidName, text: "Invalid script name: '__pycache__'"},
		{ask: "status\x00", code: InvalidName, text: "Invalid script name: 'status\x00'"},
		{ask: "ſtatus", want: "scripts/Status.py"}, // security 2.2 #25: the same name, and the one file of it
		{ask: "sta\u200dtus", code: InvalidName, text: "Invalid script name: 'sta\u200dtus'"},
		{ask: strings.Repeat("a", 129), code: InvalidName, text: "Invalid script name: '" + strings.Repeat("a", 129) + "'"},
	}
	dir, err := s.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.ask, func(t *testing.T) {
			tt.text = strings.ReplaceAll(tt.text, "$DIR", dir)
			got, err := Find(t.Context(), s, strings.ReplaceAll(tt.ask, "$DIR", dir), nil)
			if tt.code == "" && (err != nil || got.File != tt.want) {
				t.Fatalf("got %v, %v, want %s", got, err, tt.want)
			}
			if tt.code != "" {
				if e, ok := err.(*Error); !ok || e.Code != tt.code || e.Message != tt.text {
					t.Errorf("got %v, want %s %q", err, tt.code, tt.text)
				}
			}
		})
	}
}

func TestCheckArgs(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"none", nil, ""},
		{"the most", slices.Repeat([]string{"a"}, 100), ""},
		{"too many", slices.Repeat([]string{"a"}, 150), "Too many arguments: 150 (max 100)"}, // R104
		{"all bytes", []string{strings.Repeat("a", 4095), "b"}, ""},                          // C30
		{"one byte more", []string{strings.Repeat("a", 4095), "bc"}, "Arguments too large: 4097 bytes (max 4096)"},
		{"counted in bytes", []string{strings.Repeat("é", 2049)}, "Arguments too large: 4098 bytes (max 4096)"},
		{"3 MiB", slices.Repeat([]string{strings.Repeat("a", 32<<10)}, 96), "Arguments too large: 3145728 bytes (max 4096)"}, // security 2.5 #53
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckArgs(tt.args)
			if tt.want == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if e, ok := err.(*Error); !ok || e.Code != fail.ArgsTooLarge || e.Message != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	// R102: NUL is not too large, it is a call that cannot be made.
	failure(t, CheckArgs([]string{"a", "b\x00c"}), ExecutionFailed, fail.ReasonArgument, "Argument 2 holds a NUL character, which no program can be given: leave it out")
}
