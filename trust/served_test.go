package trust_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// What is approved of a skill of a server is its content in its place: neither a local skill with the same name and content nor that of
// another server has it, and they give it nothing.
func TestServed(t *testing.T) {
	dir := t.TempDir()
	at := place.Server
	store := &trust.Store{Path: filepath.Join(dir, "trust.json")}
	digest, other := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	approve := func(layer, digest string) {
		t.Helper()
		if err := store.Approve(t.Context(), trust.Approval{Layer: layer, Name: "pdf", Digest: digest}); err != nil {
			t.Fatal(err)
		}
	}
	is := func(server, layer, digest string) skill.Trust {
		t.Helper()
		got, err := store.Trust(t.Context(), skill.Subject{Name: "pdf", Dir: dir, Server: server, Place: func(context.Context) (string, error) { return layer, nil },
			Digest: func(context.Context) (string, error) { return digest, nil }})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	local := place.Folder(filepath.Join(dir, "skills", "pdf"))
	approve(local, digest)
	if err := store.AddRoot(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if got := is("a", at("a"), digest); got != skill.TrustNone {
		t.Errorf("by a local approval and a trusted root: %v", got)
	}
	if _, err := store.RemoveRoot(t.Context(), dir); err != nil {
		t.Fatal(err)
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
		{"a", local, digest, skill.TrustNone}, // a server has no folder
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

	give := func(g *trust.Grant) error { g.Given = want.New(want.Of(want.Host, "example.com")); return nil }
	if err := store.EditGrant(t.Context(), trust.Grant{Layer: at("a"), Name: "pdf", Digest: digest}, give); err != nil {
		t.Fatal(err)
	}
	set, err := store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range []string{local, at("b"), ""} {
		if _, ok := set.Grant(skill.ID{Layer: layer, Name: "pdf", Digest: digest}); ok {
			t.Errorf("%q has the grant of a server's skill", layer)
		}
	}
	if _, ok := set.Grant(skill.ID{Layer: at("a"), Name: "pdf", Digest: digest}); !ok {
		t.Error("the grant is not there")
	}
}
