package script

import (
	"os/exec"
	"path/filepath"
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
			if _, err := runAs(b, h, s, name, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("bare", func(b *testing.B) { bare(b, python, "-B", "-s", "-E", dir+"/scripts/a.py") })
	b.Run("plain", func(b *testing.B) { ours(b, "a") })
	b.Run("prepared", func(b *testing.B) { ours(b, "b") })
	b.Run("uv-run", func(b *testing.B) { bare(b, realUV(b), "run", "--quiet", "--script", dir+"/scripts/b.py") })
}

// What a run of a script with npm packages costs over node with the packages installed, and next to npx.
func BenchmarkNode(b *testing.B) {
	h, _, files := nodeRig(b)
	files["scripts/one.js"] = `import esm from "esm"; console.log(JSON.stringify(esm))`
	s := open(b, "", files)
	if _, err := runAs(b, h, s, "one", nil); err != nil {
		b.Fatal(err)
	}
	copies, _ := filepath.Glob(filepath.Join(h.Cache, "node", "*", "skills", "*", "*", "scripts", "one.js"))
	if len(copies) != 1 {
		b.Fatalf("copies: %v", copies)
	}
	bare := func(b *testing.B, argv ...string) {
		for b.Loop() {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Env, cmd.Dir = h.Env, filepath.Dir(copies[0])
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		}
	}
	b.Run("node", func(b *testing.B) { bare(b, "node", copies[0]) })
	b.Run("host", func(b *testing.B) {
		for b.Loop() {
			if _, err := runAs(b, h, s, "one", nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	if _, err := exec.LookPath("npx"); err == nil {
		b.Run("npx", func(b *testing.B) { bare(b, "npx", "--no-install", "--offline", "-c", "node "+copies[0]) })
	}
}
