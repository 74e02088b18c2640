package cli_test

import (
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-base/agent-base/internal/test/npmtest"
)

// npmRegistry starts a registry of npm packages of version 1.0.0 and has the user's npm settings name it. It writes a
// package-lock.json of them: npmregistry LOCK NAME...
func npmRegistry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: npmregistry LOCK NAME...")
	}
	r := npmtest.New()
	ts.Defer(r.Close)
	dependencies, packages := map[string]string{}, map[string]any{}
	for _, name := range args[1:] {
		dependencies[name] = "1"
		packages["node_modules/"+name] = r.Publish(name+"@1.0.0", map[string]string{"install.js": "", "package.json": `{"name":"` + name + `","version":"1.0.0","scripts":{"postinstall":"touch $HOME/ran"}}`})
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(npmtest.Lock(dependencies, packages)), 0o644))
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("HOME"), ".npmrc"), []byte("registry="+r.URL+"\n"), 0o600))
}
