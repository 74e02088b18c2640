package toolset

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/toolset/internal/host"
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

// page is a server with some tools on one page.
type page []string

func (names page) Tools(context.Context, string) (*mcphost.Page, error) {
	p := &mcphost.Page{}
	for _, name := range names {
		p.Tools = append(p.Tools, mcphost.Tool{Name: name, Input: []byte(`{"type":"object"}`)})
	}
	return p, nil
}

// attacks-two L8: what is over the limit is counted and not checked one by one.
func TestTooManyTools(t *testing.T) {
	var names page
	for i := range 300 {
		names = append(names, fmt.Sprintf("t%03d", i))
	}
	u := &unit{owner: &owner{name: "s"}, lang: Server, entries: []Entry{{Class: "x", Toolset: "x=server"}}}
	list, errs, err := u.catalogue(t.Context(), names)
	if err != nil || len(list) != maxTools || len(errs) != 1 || !strings.HasSuffix(errs[0].Error(), "it has more than 128 tools: at least 172 are left out") {
		t.Errorf("got %d tools, %v, %v", len(list), errs, err)
	}
}

// A name that is changed for models never takes that of a tool which is really called so, in whichever order they come.
func TestChangedNames(t *testing.T) {
	for _, tt := range []struct {
		names []string
		wire  string // of the one that is left
	}{
		{[]string{"a.b", "a_b", "a b"}, "a_b"}, {[]string{"a_b", "a b", "a.b"}, "a_b"}, {[]string{"a b", "a.b", "a_b"}, "a_b"},
		{[]string{"a.b", "a b"}, "a b"}, {[]string{"a b", "a.b"}, "a b"}, {[]string{"a_b", "a_b"}, "a_b"},
	} {
		u := &unit{owner: &owner{name: "s"}, lang: Server, entries: []Entry{{Class: "x", Toolset: "x=server"}}}
		list, errs, err := u.catalogue(t.Context(), page(tt.names))
		if err != nil || len(list) != 1 || list[0].Wire != tt.wire || list[0].Name != "a_b" {
			t.Errorf("%q: got %+v, want the tool %q", tt.names, list, tt.wire)
		}
		if len(errs) != len(tt.names)-1 || !strings.Contains(errs[len(errs)-1].Error(), fmt.Sprintf("another tool, %q, has its name \"a_b\"", tt.wire)) {
			t.Errorf("%q: got the errors %v", tt.names, errs)
		}
	}
}
