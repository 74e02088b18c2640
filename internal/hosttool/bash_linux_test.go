package hosttool

import (
	"os"
	"path/filepath"
	"testing"
)

// A process that left the command's session lives on and holds the output: the call does not wait for it.
func TestBashIsNotHeld(t *testing.T) {
	k := newKit(t, allow)
	r := k.call("bash", `{"command":"mkfifo p q; setsid sh -c 'echo done > q; cat p' & cat q"}`)
	if !r.Success || r.Result.(Ran).Output != "done\n" {
		t.Errorf("got %s", text(r))
	}
	// Opening for both never waits; closing lets the process end.
	if f, err := os.OpenFile(filepath.Join(k.ws, "p"), os.O_RDWR, 0); err != nil || f.Close() != nil {
		t.Error(err)
	}
}
