package toolset

import (
	"context"
	"fmt"
	"strings"
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

// attacks-two L8: what is over the limit is counted and not checked one by one.
func TestTooManyTools(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "many"}, nil)
	for i := range 300 {
		server.AddTool(&mcp.Tool{Name: fmt.Sprintf("t%03d", i), InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	}
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	u := &unit{owner: &owner{name: "s"}, lang: Server, entries: []Entry{{Class: "x", Toolset: "x=server"}}}
	list, errs, err := u.catalogue(t.Context(), session)
	if err != nil || len(list) != maxTools || len(errs) != 1 || !strings.HasSuffix(errs[0].Error(), "it has more than 128 tools: at least 172 are left out") {
		t.Errorf("got %d tools, %v, %v", len(list), errs, err)
	}
}
