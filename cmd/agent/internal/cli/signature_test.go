package cli_test

import (
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-base/agent-base/install/oms"
	"github.com/agent-base/agent-base/internal/test/omstest"
)

// signSkill returns a command that signs the skill in a folder with a new authority: signskill DIR ROOT.pem.
func signSkill(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 2 {
			ts.Fatalf("usage: signskill DIR ROOT.pem")
		}
		dir := ts.MkAbs(args[0])
		files := fstest.MapFS{}
		ts.Check(filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			rel, _ := filepath.Rel(dir, path)
			files[filepath.ToSlash(rel)] = &fstest.MapFile{Data: text}
			return err
		}))
		delete(files, oms.File)
		a := omstest.New(t, omstest.Options{})
		ts.Check(os.WriteFile(filepath.Join(dir, oms.File), a.Sign(t, files), 0o644))
		root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Root.Raw})
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), root, 0o644))
	}
}
