package confine

import (
	"testing"
	"time"

	"github.com/agent-base/agent-base/script"
)

// security 2.15 SB11: all files of a command together have a limit, in bytes and in number. The control without it shows that the
// program would go on. A file limit alone does not help: no file here is large.
func TestDisk(t *testing.T) {
	const big = `
import time
for i in range(12): open("big%d" % i, "wb").write(b"x" * (2 << 20)); time.sleep(0.05)
print("written")`
	const many = `
import os, time
for i in range(5000):
    os.makedirs("d%d" % (i // 100), exist_ok=True); open("d%d/%d" % (i // 100, i), "w").close()
time.sleep(1)
print("written")`
	const deep = `
import os, time
for i in range(30): os.mkdir("d" * 200); os.chdir("d" * 200)
open("big", "wb").write(b"x" * (12 << 20)); time.sleep(1)
print("written")`
	tests := []struct {
		name, program string
		limits        script.Limits
	}{
		{"bytes", big, script.Limits{FileSize: 4 << 20, Disk: 10 << 20}},
		{"files", many, script.Limits{Files: 1000}},
		{"too deep to be counted", deep, script.Limits{Disk: 10 << 20}},
	}
	ways := append(tiers(), tier{"E", nil, script.ConfineAuto})
	for _, i := range ways {
		t.Run(i.name, func(t *testing.T) {
			for _, tt := range tests {
				for _, limited := range []bool{true, false} {
					c := i.command(t, python, "-c", tt.program)
					c.Own = c.Write
					if limited {
						c.Limits = tt.limits
					}
					var r script.Runner = script.Exec{}
					if i.name != "E" {
						r = i.runner(t, Options{})
					}
					out, err := r.Run(t.Context(), c)
					if err != nil {
						t.Fatal(err)
					}
					if out.Filled != limited || (out.Signal == "killed") != limited || (string(out.Stdout) == "written\n") == limited || out.Duration > 30*time.Second {
						t.Errorf("%s, limited %v: got filled %v, signal %q, %s %s", tt.name, limited, out.Filled, out.Signal, out.Stdout, out.Stderr)
					}
				}
			}
		})
	}
}
