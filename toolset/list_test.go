package toolset

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/toolset/host"
)

// A missing module is named with the package that has it, where that has another name.
func TestPackagesOfModules(t *testing.T) {
	u := &unit{owner: &owner{name: "s"}, lang: Python, entries: []Entry{{Class: "A", Toolset: "toolsets.a:A"}}}
	errs := u.failures(mcp.Meta{host.MetaFailures: []host.Failure{
		{Toolset: "toolsets.a:A", Kind: host.KindPackage, Message: `it needs the package "slugify", which is not installed`, Package: "slugify"},
		{Toolset: "toolsets.a:A", Kind: host.KindPackage, Message: `it needs the package "httpx", which is not installed`, Package: "httpx"},
	}})
	for i, want := range []string{
		`Toolset toolsets.a:A of skill 's': it needs the package "python-slugify" for the module "slugify", which is not installed`,
		`Toolset toolsets.a:A of skill 's': it needs the package "httpx", which is not installed`,
	} {
		if i >= len(errs) || errs[i].Error() != want {
			t.Errorf("got %v, want %s", errs, want)
		}
	}
}
