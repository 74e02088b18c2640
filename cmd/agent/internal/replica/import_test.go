package replica

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/trace/audit"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

func digest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

func opened(t *testing.T, tenant string) (*Replica, *[]string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "replica")
	if err != nil {
		t.Fatal(err)
	}
	var done []string
	r := New(&Options{
		Node: at(dir), Tenant: tenant, Installed: "/srv/plugins", Writer: "test",
		Record: func(ctx context.Context, e trace.Event) ([]byte, error) { return audit.Text(ctx, &e, nil) },
		Done:   func(_ context.Context, e trace.Event) { done = append(done, string(e.Kind)+" "+e.Skill) },
	})
	t.Cleanup(func() { r.Close(); os.RemoveAll(dir) })
	return r, &done
}

// at opens the node of a folder.
func at(dir string) func(context.Context) (*node.Options, error) {
	return func(context.Context) (*node.Options, error) { return &node.Options{Dir: dir}, nil }
}

// files are the files of a machine.
type files struct {
	trust  *trust.Store
	skills *registry.Store
}

func machine(t *testing.T) *files {
	dir := t.TempDir()
	return &files{&trust.Store{Path: filepath.Join(dir, "trust.json")}, &registry.Store{Path: filepath.Join(dir, "registry.json")}}
}

func (f *files) into(t *testing.T, r *Replica, write bool) string {
	t.Helper()
	set, err := f.trust.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	skills, err := f.skills.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report, err := r.Import(t.Context(), Files{set, skills}, write)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for what, list := range map[string][]Item{"brought": report.Brought, "there": report.There, "left": report.Left} {
		for _, i := range list {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s %s %s: %.30s", what, i.Kind, i.Name, i.Why), ": "))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func given(items ...want.Want) func(*trust.Grant) error {
	return func(g *trust.Grant) error { g.Given = want.New(items...); return nil }
}

// The fleet has what was brought, with a record of each, until it takes it back. An entry that the fleet took back is brought again only if
// this machine got it later.
func TestImport(t *testing.T) {
	r, done := opened(t, "")
	m, ctx := machine(t), t.Context()
	long := time.Now().Add(-time.Hour)
	at := place.Version(digest("a"))
	key := want.Want{Kind: want.Variable, Name: "KEY", From: want.User}
	must(t,
		m.trust.Approve(ctx, trust.Approval{Name: "a", Layer: at, Digest: digest("a"), ApprovedAt: long}, trust.Approval{Name: "b", Layer: "bundled", Digest: digest("b"), ApprovedAt: long},
			trust.Approval{Name: "own", Layer: place.Folder("/home/me/own"), Digest: digest("c")}, trust.Approval{Name: "served", Layer: place.Server("docs/x"), Digest: digest("c")}),
		m.trust.EditGrant(ctx, trust.Grant{Name: "a", Layer: at, Digest: digest("a")}, given(key)),
		m.trust.EditGrant(ctx, trust.Grant{Name: "b", Layer: "bundled", Digest: digest("b")}, given(key, want.Want{Kind: want.Home, From: want.User})),
		m.skills.Register(ctx, registry.Entry{Name: "a", Digest: digest("a"), Kind: "git", GitURL: "https://example.com/r", InstalledPath: "/elsewhere/a", InstalledAt: long}),
		m.skills.Register(ctx, registry.Entry{Name: "z", Digest: digest("f"), Kind: "archive", Source: "/home/me/z.zip", InstalledPath: "/elsewhere/z"}),
		m.skills.Register(ctx, registry.Entry{Name: "l", Linked: true, InstalledPath: "/home/me/l"}),
	)
	rest := `left approval own: its skill is in a folder of th
left approval served: its skill is from a server of 
left grant b: it gives the home of one machi
left skill l: it is linked to a folder of th
left skill z: it was installed from /home/me`
	first := "brought approval a\nbrought approval b\nbrought grant a\nbrought skill a\n" + rest
	if got := m.into(t, nil, true); got != first {
		t.Errorf("into nothing:\n%s", got)
	}
	if got := m.into(t, r, false); got != first {
		t.Errorf("only shown:\n%s", got)
	}
	if got := m.into(t, r, true); got != first {
		t.Errorf("brought:\n%s", got)
	}
	if got := strings.Join(*done, ", "); got != "trust_approved a, trust_approved b, grant_changed a" {
		t.Errorf("told: %s", got)
	}
	there := rest + "\nthere approval a\nthere approval b\nthere grant a\nthere skill a"
	if got := m.into(t, r, true); got != there {
		t.Errorf("again:\n%s", got)
	}
	set, err := r.Trust().Load(ctx)
	g, _ := set.Grant(skill.ID{Layer: at, Name: "a", Digest: digest("a")})
	skills, err2 := r.Skills().Load(ctx)
	e, _ := skills.Get("a")
	if err != nil || err2 != nil || g.Given.String() != "user env:KEY" || len(set.Approvals()) != 2 || e.InstalledPath != filepath.Join("/srv/plugins/.store", strings.Repeat("a", 16), "a") {
		t.Errorf("%+v, %+v, %v, %v", g, e, err, err2)
	}

	// The fleet takes entries back, and this machine has one entry less.
	_, err = r.Trust().Revoke(ctx, "a")
	_, err2 = r.Skills().Unregister(ctx, "a")
	_, err3 := m.trust.Revoke(ctx, "b")
	must(t, err, err2, err3)
	gone := `left approval a: it was taken back in the fleet
left approval own: its skill is in a folder of th
left approval served: its skill is from a server of 
left grant a: it was taken back in the fleet
left skill a: it was taken back in the fleet
left skill l: it is linked to a folder of th
left skill z: it was installed from /home/me`
	for range 2 {
		if got := m.into(t, r, true); got != gone {
			t.Errorf("taken back:\n%s", got)
		}
	}
	if set, err := r.Trust().Load(ctx); err != nil || len(set.Approvals()) != 1 {
		t.Errorf("%+v, %v", set.Approvals(), err)
	}
	must(t, m.trust.Approve(ctx, trust.Approval{Name: "a", Layer: at, Digest: digest("a"), ApprovedAt: time.Now().Add(time.Minute)}))
	if got := m.into(t, r, true); !strings.HasPrefix(got, "brought approval a\nleft approval own") {
		t.Errorf("approved since:\n%s", got)
	}

	// A different entry of the fleet stays.
	must(t, r.Trust().EditGrant(ctx, trust.Grant{Name: "a", Layer: at, Digest: digest("a")}, given(want.Want{Kind: want.Variable, Name: "OTHER", From: want.User})))
	if got := m.into(t, r, true); !strings.Contains(got, "left grant a: the fleet has another one") {
		t.Errorf("it differs:\n%s", got)
	}

	// A skill that this machine has updated since is brought, without its former contents, which other machines do not have.
	path, err := r.Skills().Folder("a", digest("d"))
	must(t, err, r.Skills().Register(ctx, registry.Entry{Name: "a", Digest: digest("d"), InstalledPath: path}))
	_, err = r.Skills().Unregister(ctx, "a")
	must(t, err)
	m.skills.Now = func() time.Time { return time.Now().Add(time.Minute) }
	must(t, m.skills.Update(ctx, "a", func(e *registry.Entry) error {
		e.Digest, e.InstalledPath = digest("d"), "/elsewhere/d/a"
		return nil
	}))
	if got := m.into(t, r, true); !strings.Contains(got, "brought skill a") {
		t.Errorf("updated since:\n%s", got)
	}
	skills, err = r.Skills().Load(ctx)
	if e, _ := skills.Get("a"); err != nil || e.Digest != digest("d") || len(e.Previous) > 0 {
		t.Errorf("%+v, %v", e, err)
	}

	// A grant of another content in the same place stays, too.
	must(t, r.Trust().EditGrant(ctx, trust.Grant{Name: "b", Layer: "bundled", Digest: digest("e")}, given(key)),
		m.trust.EditGrant(ctx, trust.Grant{Name: "b", Layer: "bundled", Digest: digest("b")}, given(key)))
	if got := m.into(t, r, true); !strings.Contains(got, "left grant b: the fleet has another one") {
		t.Errorf("another content:\n%s", got)
	}
}

// What is taken back while it is brought is not brought.
func TestImportMeetsRevocation(t *testing.T) {
	other, _ := opened(t, "")
	o, ctx, once := other.o, t.Context(), false
	a := trust.Approval{Name: "a", Layer: "bundled", Digest: digest("a"), ApprovedAt: time.Now().Add(-time.Hour)}
	o.Record = func(ctx context.Context, e trace.Event) ([]byte, error) {
		if e.Kind == trace.TrustApproved && !once { // just before the change is stored
			once = true
			_, err := other.Trust().Revoke(ctx, "a")
			must(t, err)
		}
		return audit.Text(ctx, &e, nil)
	}
	r, m := New(&o), machine(t)
	defer r.Close()
	must(t, other.Trust().Approve(ctx, trust.Approval{Name: "a", Layer: "plugin", Digest: digest("b")}), m.trust.Approve(ctx, a))
	if got := m.into(t, r, true); !strings.HasPrefix(got, "left approval a: it was taken back in the ") || !once {
		t.Errorf("%s", got)
	}
	if set, err := other.Trust().Load(ctx); err != nil || len(set.Approvals()) > 0 {
		t.Errorf("%v, %v", set.Approvals(), err)
	}
}
