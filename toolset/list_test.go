package toolset

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/toolset/host"
)

// A missing module is named with the package that has it, where that has another name.
func TestPackagesOfModules(t *testing.T) {
	u := &unit{owner: &owner{name: "s"}, lang: Python, entries: []Entry{{Class: "A", Toolset: "toolsets.a:A"}}}
	errs := u.failures(map[string]any{host.MetaFailures: []host.Failure{
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

// many is a server with some tools on one page.
type many int

func (n many) Tools(context.Context, string) (*mcphost.Page, error) {
	p := &mcphost.Page{}
	for i := range int(n) {
		p.Tools = append(p.Tools, mcphost.Tool{Name: fmt.Sprintf("t%03d", i), Input: []byte(`{"type":"object"}`)})
	}
	return p, nil
}

// attacks-two L8: what is over the limit is counted and not checked one by one.
func TestTooManyTools(t *testing.T) {
	u := &unit{owner: &owner{name: "s"}, lang: Server, entries: []Entry{{Class: "x", Toolset: "x=server"}}}
	list, errs, err := u.catalogue(t.Context(), many(300))
	if err != nil || len(list) != maxTools || len(errs) != 1 || !strings.HasSuffix(errs[0].Error(), "it has more than 128 tools: at least 172 are left out") {
		t.Errorf("got %d tools, %v, %v", len(list), errs, err)
	}
}
