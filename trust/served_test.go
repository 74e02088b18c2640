package trust_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// What is approved of a skill of a server is its content in its place: neither a local skill with the same name and content nor that of
// another server has it, and they give it nothing.
func TestServed(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, "mcp", name) }
	store := &trust.Store{Path: filepath.Join(dir, "trust.json"), Served: filepath.Join(dir, "mcp")}
	digest, other := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	approve := func(place, digest string) {
		t.Helper()
		if err := store.Approve(t.Context(), trust.Approval{Name: "pdf", Dir: place, Digest: digest}); err != nil {
			t.Fatal(err)
		}
	}
	is := func(server, place, digest string) skill.Trust {
		t.Helper()
		got, err := store.Trust(t.Context(), skill.Subject{Name: "pdf", Dir: place, Server: server, Digest: func(context.Context) (string, error) { return digest, nil }})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	local := filepath.Join(dir, "skills", "pdf")
	approve(local, digest)
	if err := store.AddRoot(t.Context(), filepath.Join(dir, "mcp")); err != nil {
		t.Fatal(err)
	}
	if got := is("a", at("a"), digest); got != skill.TrustNone {
		t.Errorf("by a local approval and a trusted root: %v", got)
	}
	approve(at("a"), other)
	for _, tt := range []struct {
		server, place, digest string
		want                  skill.Trust
	}{
		{"a", at("a"), other, skill.TrustApproved},
		{"a", at("a"), digest, skill.TrustChanged},
		{"b", at("b"), other, skill.TrustNone},
		{"a", "", other, skill.TrustNone},
		{"", local, other, skill.TrustChanged},
		{"", local, digest, skill.TrustApproved},
	} {
		if got := is(tt.server, tt.place, tt.digest); got != tt.want {
			t.Errorf("%q in %q: %v, want %v", tt.server, tt.place, got, tt.want)
		}
	}
	approve(at("a"), digest) // revokes the content before
	if got := is("a", at("a"), other); got != skill.TrustChanged {
		t.Errorf("the content that was approved before: %v", got)
	}

	all, err := store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := all.Trusted("pdf", at("a"), other); got != skill.TrustChanged {
		t.Errorf("below a trusted root: %v", got)
	}

	give := func(g *trust.Grant) error { g.Given = want.New(want.Of(want.Host, "example.com")); return nil }
	if err := store.EditGrant(t.Context(), trust.Grant{Name: "pdf", Dir: at("a"), Digest: digest}, give); err != nil {
		t.Fatal(err)
	}
	set, err := store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{local, at("b"), ""} {
		if _, ok := set.Grant("pdf", place, digest); ok {
			t.Errorf("%q has the grant of a server's skill", place)
		}
	}
	if _, ok := set.Grant("pdf", at("a"), digest); !ok {
		t.Error("the grant is not there")
	}
}
