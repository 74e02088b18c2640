package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/tool"
)

// The calls of the toolsets of a session come to one process, while other workers are as free, and its files stay there.
func TestToolsetsStick(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("Python is not installed: ", err)
	}
	f := newFleet(t)
	_, s := sample(t, probe.Tree{"SKILL.md": probe.Start + "toolsets: [a:A]\n---\nbody\n",
		"a.py": "import os\nfrom agent_base import AgentToolset\nclass A(AgentToolset):\n    n = 0\n    def add(self) -> str:\n        A.n += 1\n        return f\"{os.getpid()} {A.n} {os.path.exists(__file__)}\"\n"})
	var workers []*Worker
	for _, name := range []string{"w", "v", "u"} {
		w, _ := f.worker(t, name)
		w.Tenant = ""
		runs(t, w.Serve)
		workers = append(workers, w)
	}
	runs(t, f.Queue.Dispatcher((&Signer{Name: "d", Key: f.private}).Seal).Serve)
	host, err := script.New(&script.Options{LookPath: exec.LookPath, Cache: scratch.Dir(t)})
	if err != nil {
		t.Fatal(err)
	}
	sender := order.NewSender(&order.SenderOptions{Host: host, Send: f.Send})
	pids := map[string]bool{}
	for session := range 3 {
		list, err := sender.Toolsets(fmt.Sprint("session ", session), nil).Tools(t.Context(), s, nil)
		i := slices.IndexFunc(list, func(tl tool.Tool) bool { return tl.Name == "add" })
		if err != nil || i < 0 {
			t.Fatal(list, err)
		}
		for n := range 4 {
			var pid string
			var got int
			var there string
			r := list[i].Call(t.Context(), json.RawMessage(`{}`))
			var text string
			raw, _ := r.Result.(json.RawMessage)
			if err := json.Unmarshal(raw, &text); err != nil {
				t.Fatal(r.Message, err)
			}
			if _, err := fmt.Sscan(text, &pid, &got, &there); err != nil || got != n+1 || there != "True" {
				t.Errorf("session %d, call %d: %s, %v", session, n, text, err)
			}
			if pids[pid] = true; len(pids) != session+1 {
				t.Errorf("session %d, call %d: processes %v", session, n, pids)
			}
			for _, w := range workers { // what nothing holds is removed
				if _, err := w.Contents.Dir.Sweep(t.Context(), func(context.Context) (func(string) bool, error) { return func(string) bool { return false }, nil }, nil); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
