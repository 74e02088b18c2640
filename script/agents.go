package script

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/keyagent"
	"github.com/agent-base/agent-base/want"
)

// agents sets what the script gets of the agents that hold the user's keys: their sockets, and variables in env. What does not run is
// named in the result.
func (h *Host) agents(r *scriptRun, env map[string]string) error {
	user := &keyagent.User{Home: h.operatorHome(), Getenv: h.getenv}
	r.sockets, r.lacks = nil, nil
	for _, name := range r.grant.Given.Named(want.Socket) {
		a, err := user.Find(name)
		if err != nil {
			r.lacks = append(r.lacks, "socket: "+name+" was granted, and "+err.Error())
			continue
		}
		dir := filepath.Join(r.place.work, "."+name)
		if err := os.RemoveAll(dir); err != nil { // a run that is repeated
			return err
		}
		if err := a.Prepare(dir); err != nil {
			return err
		}
		for _, kv := range a.Env {
			key, value, _ := strings.Cut(kv, "=")
			env[key] = value
		}
		r.sockets = append(r.sockets, a.Socket)
	}
	return nil
}
