package confine

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/script/runner"
)

// security 2.15 SB11: all files of a command together have a limit, in bytes and in number. The control without it shows that the
// program would go on. A file limit alone does not help: no file here is large. A program with a limit ends only when it is ended.
func TestDisk(t *testing.T) {
	const big = `
import time
for i in range(12): open("big%d" % i, "wb").write(b"x" * (2 << 20)); time.sleep(0.02)
time.sleep(SECONDS)
print("written")`
	const many = `
import os, time
for i in range(5000):
    os.makedirs("d%d" % (i // 100), exist_ok=True); open("d%d/%d" % (i // 100, i), "w").close()
time.sleep(SECONDS)
print("written")`
	const deep = `
import os, time
for i in range(30): os.mkdir("d" * 200); os.chdir("d" * 200)
open("big", "wb").write(b"x" * (12 << 20))
time.sleep(SECONDS)
print("written")`
	tests := []struct {
		name, program string
		limits        runner.Limits
	}{
		{"bytes", big, runner.Limits{FileSize: 4 << 20, Disk: 10 << 20}},
		{"files", many, runner.Limits{Files: 1000}},
		{"too deep to be counted", deep, runner.Limits{Disk: 10 << 20}},
	}
	ways := append(tiers(), tier{"E", nil, runner.ConfineAuto})
	for _, i := range ways {
		for _, tt := range tests {
			for _, limited := range []bool{true, false} {
				t.Run(i.name+"/"+tt.name+"/"+map[bool]string{true: "limited", false: "control"}[limited], func(t *testing.T) {
					t.Parallel()
					seconds := "0.5" // in which the control could be ended
					if limited {
						seconds = "600"
					}
					c := i.command(t, python, "-c", strings.ReplaceAll(tt.program, "SECONDS", seconds))
					c.Own, c.Timeout = c.Write, 5*time.Minute
					if limited {
						c.Limits = tt.limits
					}
					var r runner.Runner = runner.Exec{}
					if i.name != "E" {
						r = i.runner(t, Options{})
					}
					out, err := r.Run(t.Context(), c)
					if err != nil {
						t.Fatal(err)
					}
					if out.Filled != limited || (out.Signal == "killed") != limited || (string(out.Stdout) == "written\n") == limited {
						t.Errorf("got filled %v, signal %q, %s %s", out.Filled, out.Signal, out.Stdout, out.Stderr)
					}
				})
			}
		}
	}
}
