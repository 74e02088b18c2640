package script

import (
	"os/exec"
	"testing"
)

// What a run costs over a bare start of the same interpreter, and with a prepared environment next to
// `uv run` of the same script (row 11 of the performance table).
func BenchmarkRun(b *testing.B) {
	s := open(b, "", tree{"scripts/a.py": "print(1)\n", "scripts/b.py": needs("import dep\nprint(1)\n", "dep")})
	h := uvHost(b, index(b))
	python := realPython(b)
	dir, err := s.Dir(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	bare := func(b *testing.B, argv ...string) {
		for b.Loop() {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Env, cmd.Dir = h.Env, dir
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		}
	}
	ours := func(b *testing.B, name string) {
		for b.Loop() {
			if _, err := run(b, h, s, name, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("bare", func(b *testing.B) { bare(b, python, "-B", "-s", "-E", dir+"/scripts/a.py") })
	b.Run("plain", func(b *testing.B) { ours(b, "a") })
	b.Run("prepared", func(b *testing.B) { ours(b, "b") })
	b.Run("uv-run", func(b *testing.B) { bare(b, realUV(b), "run", "--quiet", "--script", dir+"/scripts/b.py") })
}
