package runner

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-base/agent-base/internal/paths"
)

// Whatever kind a command is of, it has a home, limits and a guard: attacks-two M2, H3.
func TestReachCommand(t *testing.T) {
	top := paths.Real(t.TempDir())
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"home/.ssh", "home/.agent", "work", "own", "tmp", "stored", "skill", "granted", "bin", "trusted"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cert := at("cert.pem")
	tree{"cert.pem": "", "work/secret": "", "work/.git/HEAD": "", "granted/.vscode/x": ""}.write(t, top)
	guard := Guard{Home: at("home"), Private: []string{at("home/.agent")}, Keep: []string{at("trusted")}}
	env := []string{"HOME=/elsewhere", "A=b", "SSL_CERT_FILE=" + cert, "UV_CONFIG_FILE=" + at("own")}
	limits := Limits{FileSize: 1, OpenFiles: 2, Memory: 3, Processes: 4, Disk: 5, Files: 6}
	full := Reach{Guard: guard, Home: at("own"), Temp: at("tmp"), Stored: []string{at("stored")}, Read: []string{at("skill")}, Path: []string{at("bin")},
		Here: []string{at("work")}, WriteHere: []string{at("work"), at("trusted")}, GrantWrite: []string{at("granted")}, Confine: ConfineRequired, Limits: limits}
	for _, tt := range []struct {
		name                    string
		change                  func(*Reach)
		read, write, hide, keep []string // some of them
		no                      []string // that it does not write
		env                     []string
	}{
		{name: "all", change: func(*Reach) {}, read: []string{"skill", "bin", "cert.pem"}, write: []string{"own", "tmp", "stored", "work", "granted"},
			keep: []string{"work/.git/hooks", "granted/.vscode"}, no: []string{"trusted"}, env: []string{"A=b", "HOME=" + at("own"), "TMPDIR=" + at("tmp"), "PIP_RETRIES=0"}},
		{name: "it only reads where the user is", change: func(r *Reach) { r.WriteHere = nil }, read: []string{"work"}, write: []string{"own"}, no: []string{"work"}},
		{name: "the user's home", change: func(r *Reach) { r.Home, r.UsersHome = at("home"), true }, read: []string{"home"}, hide: []string{"home/.agent"}, no: []string{"home", "own"},
			env: []string{"HOME=" + at("home")}},
		{name: "the user is at home", change: func(r *Reach) { r.Here, r.WriteHere = []string{at("home")}, []string{at("home")} }, write: []string{"home"}, hide: []string{"home/.ssh", "home/.agent"}},
		{name: "a folder of PATH that the user named", change: func(r *Reach) { r.GrantRead = []string{at("bin")} }, read: []string{"bin"}},
		{name: "with a network", change: func(r *Reach) { r.Network.Hosts = []string{"example.com"} }, read: []string{"cert.pem"}, no: []string{"trusted"}},
		{name: "every file that a variable names", change: func(r *Reach) { r.EnvFiles, r.Home = true, "" }, read: []string{"own", "cert.pem"}, no: []string{"own"}, env: []string{"HOME=/elsewhere"}},
		{name: "a rule", change: func(r *Reach) { r.Denied = []Denied{{Read: globRules{at("work"), []string{"secret"}}}} }, hide: []string{"work/secret"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := full
			tt.change(&r)
			c, err := r.Command(Command{Path: "/bin/sh", Env: env, Limits: Limits{Memory: 99}, Keep: []string{"/x"}})
			if err != nil {
				t.Fatal(err)
			}
			if c.Limits != limits || c.Confine != ConfineRequired || slices.Contains(c.Keep, "/x") {
				t.Errorf("limits %+v, confinement %s, keeps %q", c.Limits, c.Confine, c.Keep)
			}
			checkHas(t, at, "read", c.Read, tt.read)
			checkHas(t, at, "write", c.Write, tt.write)
			if granted := len(r.GrantRead) > 0; granted == slices.Contains(c.Installed, at("bin")) || slices.Contains(c.Installed, at("skill")) {
				t.Errorf("programs are installed in %q", c.Installed)
			}
			checkHas(t, at, "hide", c.Hide, tt.hide)
			checkHas(t, at, "keep", c.Keep, tt.keep)
			for _, name := range tt.no {
				if slices.Contains(c.Write, at(name)) {
					t.Errorf("it writes %s", name)
				}
			}
			for _, kv := range tt.env {
				if !slices.Contains(c.Env, kv) {
					t.Errorf("its environment has no %s: %q", kv, c.Env)
				}
			}
			if patient := !slices.Contains(c.Env, "PIP_RETRIES=0"); patient != (len(r.Network.Hosts) > 0) {
				t.Errorf("installers try for long: %v", patient)
			}
			if len(c.Stored) != 1 || slices.Contains(c.Own, at("stored")) {
				t.Errorf("own %q, stored %q", c.Own, c.Stored)
			}
		})
	}
}

func checkHas(t *testing.T, at func(string) string, list string, got, want []string) {
	t.Helper()
	for _, name := range want {
		if !slices.Contains(got, at(name)) {
			t.Errorf("%s has no %s: %q", list, name, got)
		}
	}
}

// A guard's paths may have links: the folders of a command have none.
func TestReachFollowsLinksOfTheGuard(t *testing.T) {
	top := paths.Real(t.TempDir())
	if err := os.MkdirAll(filepath.Join(top, "real", "private"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	r := Reach{Guard: Guard{Private: []string{filepath.Join(top, "link", "private")}}, Here: []string{filepath.Join(top, "real")}}
	c, err := r.Command(Command{})
	if want := filepath.Join(top, "real", "private"); err != nil || !slices.Equal(c.Hide, []string{want}) {
		t.Errorf("got %q, %v, want %s", c.Hide, err, want)
	}
}
