package cli_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-base/agent-base/internal/test/npmtest"
)

// npmRegistry starts a registry of npm packages, of version 1.0.0 if none is given, and has the user's npm settings name it. It
// writes a package-lock.json of them: npmregistry LOCK NAME[@VERSION]...
func npmRegistry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: npmregistry LOCK NAME...")
	}
	r := npmtest.New()
	ts.Defer(r.Close)
	dependencies, packages := map[string]string{}, map[string]any{}
	for _, arg := range args[1:] {
		name, version, _ := strings.Cut(arg, "@")
		version = cmp.Or(version, "1.0.0")
		dependencies[name] = version
		packages["node_modules/"+name] = r.Publish(name+"@"+version, map[string]string{"install.js": "", "package.json": `{"name":"` + name + `","version":"` + version + `","scripts":{"postinstall":"touch $HOME/ran"}}`})
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(npmtest.Lock(dependencies, packages)), 0o644))
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("HOME"), ".npmrc"), []byte("registry="+r.URL+"\n"), 0o600))
}
