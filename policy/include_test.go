package policy_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/policy"
)

// A document that another includes is used only if it is the one that is meant.
func TestInclude(t *testing.T) {
	text := "mode: ask\n"
	sum := sha256.Sum256([]byte(text))
	pinned := "sha256:" + hex.EncodeToString(sum[:])
	folder := func(name, text string) fstest.MapFS { return fstest.MapFS{name: {Data: []byte(text)}} }
	for _, tt := range []struct {
		in     policy.Include
		folder fstest.MapFS
		why    string // "" if it is used
	}{
		{policy.Include{Digest: pinned}, folder("policy.yaml", text), ""},
		{policy.Include{Digest: pinned, Path: "org/base.yaml"}, folder("base.yaml", text), ""},
		{policy.Include{Digest: pinned}, folder("policy.yaml", "mode: all\n"), "its digest is sha256:"},
		{policy.Include{Digest: pinned}, fstest.MapFS{}, "it has not been fetched"},
		{policy.Include{Digest: pinned}, folder("policy.yaml/x", text), "it is no regular file"},
		{policy.Include{Signer: "/no/such.pem"}, folder("policy.yaml", text), "/no/such.pem: "},
	} {
		d := tt.in.Read(tt.folder, func([]byte) (bool, error) { return false, errors.New("unexpected") })
		if tt.why == "" && d.Err() != nil || tt.why != "" && (d.Err() == nil || !strings.Contains(d.Err().Error(), tt.why)) {
			t.Errorf("%+v: %v, want %q", tt.in, d.Err(), tt.why)
		}
	}
}

// A document that includes others allows nothing without them, and with them what all allow.
func TestWith(t *testing.T) {
	d, err := policy.Parse([]byte("include: [{source: x, digest: 'sha256:"+strings.Repeat("1", 64)+"'}]\nmode: accept-edits\n"), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if p := (&policy.Policy{Organisation: []*policy.Document{d}}); p.Err() == nil || p.Mode("read-only").Level != policy.Never {
		t.Error("a document is open without those that it includes")
	}
	for text, allowed := range map[string]bool{"mode: accept-edits\n": true, "mode: ask\n": false, "mdoe: x\n": false} {
		p := &policy.Policy{Organisation: d.With(func(*policy.Include) *policy.Document {
			other, _ := policy.Parse([]byte(text), "other.yaml")
			return other
		})}
		if (p.Mode("accept-edits").Level == policy.Free) != allowed {
			t.Errorf("with %q: %+v", text, p.Mode("accept-edits"))
		}
	}
	circular := "include: [{source: y, digest: 'sha256:" + strings.Repeat("1", 64) + "'}]\n"
	sum := sha256.Sum256([]byte(circular))
	in := policy.Include{Source: "x", Digest: "sha256:" + hex.EncodeToString(sum[:])}
	if err := in.Read(fstest.MapFS{"policy.yaml": {Data: []byte(circular)}}, nil).Err(); err == nil || !strings.Contains(err.Error(), "only the policy of the machine includes others") {
		t.Errorf("an included one that includes: %v", err)
	}
}
