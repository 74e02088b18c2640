package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// R179, security 2.15 SB14: ordinary programs run as without a sandbox, also with the network.
func TestOrdinaryPrograms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want string // in the output
		a    bool   // in tier A alone
	}{
		{"bash pipeline", []string{"bash", "-c", "set -o pipefail; seq 1 1000 | sort -n | tail -1; echo $((6*7)) > out && cat out; cat <(echo sub) <<< x"}, "1000\n42\nsub\n", false},
		{"python threads", []string{python, "-c", "import threading; r = []; ts = [threading.Thread(target=r.append, args=(i,)) for i in range(8)]; [t.start() for t in ts]; [t.join() for t in ts]; print(len(r))"}, "8\n", false},
		{"python manager", []string{python, "-c", "import multiprocessing as m, tempfile\ntempfile.tempdir = '/tmp' # a socket has a short path\nif __name__ == '__main__':\n with m.Manager() as g:\n  d = g.dict(a=1)\n  print(d['a'])"}, "1\n", true},
		{"python multiprocessing", []string{python, "-c", "import multiprocessing as m; print(sum(m.Pool(2).map(abs, [-1, -2])))"}, "3\n", true},
		{"python asyncio", []string{python, "-c", `
import asyncio
async def f():
    p = await asyncio.create_subprocess_exec('/bin/echo', 'hi', stdout=-1)
    print((await p.communicate())[0].decode().strip())
asyncio.run(f())`}, "hi\n", false},
		{"python sqlite and tempfile", []string{python, "-c", "import tempfile, sqlite3; f = tempfile.NamedTemporaryFile(); c = sqlite3.connect('x.db'); c.execute('create table t(a)'); c.commit(); print(f.name.startswith('/'))"}, "True\n", false},
		{"python subprocess", []string{python, "-c", "import subprocess; print(subprocess.run('echo a | wc -l', shell=True, capture_output=True, text=True).stdout.strip())"}, "1\n", false},
		{"python home and user", []string{python, "-c", "import os, pathlib, pwd; print(pathlib.Path.home() == pathlib.Path(os.environ['HOME']), len(pwd.getpwall()) > 1)"}, "True True\n", false},
		{"python certificates and time zone", []string{python, "-c", "import ssl, time, zoneinfo, locale; print(len(ssl.create_default_context().get_ca_certs()) > 10, time.tzname != None)"}, "True True\n", false},
		{"python processors", []string{python, "-c", "import os; print(os.cpu_count() >= 1)"}, "True\n", false},
		{"python http error is quick", []string{python, "-c", "import urllib.request\ntry: urllib.request.urlopen('https://example.com', timeout=5)\nexcept OSError as e: print(type(e).__name__)"}, "URLError\n", false},
		{"python serves itself", []string{python, "-c", `
import http.server, threading, urllib.request
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=s.serve_forever, daemon=True).start()
open("x", "w").write("served")
print(urllib.request.urlopen("http://localhost:%d/x" % s.server_port).read().decode())`}, "served\n", true},
		{"threads are placed", []string{python, "-c", "import os, threading\nt = threading.Thread(target=lambda: (os.sched_setaffinity(threading.get_native_id(), {min(os.sched_getaffinity(0))}), print('ok')))\nt.start(); t.join()"}, "ok\n", true},
		{"python own name", []string{python, "-c", "import socket; print(socket.gethostbyname(socket.gethostname()) != '')"}, "True\n", true},
		{"node serves itself", []string{"node", "-e", "const s = require('http').createServer((q, r) => r.end('served')).listen(0, () => fetch('http://localhost:' + s.address().port).then(r => r.text()).then(t => { console.log(t); process.exit() }))"}, "served\n", true},
		{"machine", []string{"bash", "-c", "grep -q ^MemTotal /proc/meminfo && grep -q ^processor /proc/cpuinfo && grep -q ^cpu /proc/stat && grep -q . /proc/loadavg /proc/uptime /proc/sys/kernel/osrelease && test -e /sys/devices/system/cpu/online && free >/dev/null && uptime >/dev/null && ps >/dev/null && echo ok"}, "ok\n", false},
		{"node machine", []string{"node", "-e", "const os = require('os'); console.log(os.cpus().length > 0, os.totalmem() > 0, os.loadavg().length)"}, "true true 3\n", false},
		{"perl", []string{"perl", "-e", "print 6*7, qq(\\n)"}, "42\n", false},
		{"git", []string{"bash", "-c", "git init -q . && echo a > a && git add a && git -c user.name=a -c user.email=a@a commit -qm x && git log --oneline | wc -l"}, "1\n", false},
		{"node", []string{"node", "-e", "const w = require('worker_threads'), os = require('os'); require('fs').writeFileSync('x', 'y'); require('child_process').execSync('true'); console.log(6*7, os.cpus().length >= 0, os.homedir() == process.env.HOME)"}, "42 true true\n", false},
		{"node workers", []string{"node", "-e", "const {Worker} = require('worker_threads'); new Worker('console.log(7)', {eval: true})"}, "7\n", false},
		// SB14
		{"rename", []string{"bash", "-c", "mkdir -p a b c/d; echo x > a/f; mv a/f b/g && mv c/d b/e && ln b/g a/h && cat a/h && ls b | tr '\\n' ' '"}, "x\ne g ", false},
		{"find and tar", []string{"bash", "-c", "mkdir a; touch a/b; tar cf - a | tar tf - | wc -l; find . -name b | wc -l"}, "2\n1\n", false},
		{"shell probes", []string{"bash", "-c", "id -u >/dev/null && whoami && date +%Y >/dev/null && nproc && locale >/dev/null && uname -s; type python3; : > /dev/null; [ -e /dev/stdin ]; mktemp -d >/dev/null && echo ok"}, "ok\n", false},
		{"awk and sed", []string{"bash", "-c", "echo 'a b' | awk '{print $2}' | sed s/b/c/"}, "c\n", false},
	}
	each(t, func(t *testing.T, i tier) {
		for _, tt := range tests {
			if tt.a && i.name != "A" { // it needs a network or a /dev/shm of its own
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				c := i.command(t, tt.args...)
				temp := filepath.Join(c.Dir, "tmp")
				if err := os.Mkdir(temp, 0o700); err != nil {
					t.Fatal(err)
				}
				c.Env = append(c.Env, "TMPDIR="+temp, "LANG=C.UTF-8")
				c.Network.All = tt.name == "rename"
				out := run(t, i.runner(t, Options{}), c)
				if out.ExitCode != 0 || !strings.HasSuffix(string(out.Stdout), tt.want) {
					t.Errorf("got %d, %q, %s", out.ExitCode, out.Stdout, out.Stderr)
				}
			})
		}
	})
}

// Git does not end because of the machine's configuration, which it may not read.
func TestSystemGit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, i tier) {
		for _, tt := range []struct {
			read []string
			env  string
			want string // in tier B
		}{{nil, "A=b", "1\n"}, {[]string{"/etc/gitconfig"}, "A=b", "\n"}, {[]string{"/"}, "A=b", "\n"}, {nil, "GIT_CONFIG_NOSYSTEM=0", "0\n"}} {
			c := i.command(t, "bash", "-c", "echo $GIT_CONFIG_NOSYSTEM")
			c.Read, c.Env = tt.read, append(c.Env, tt.env)
			if i.name != "B" && tt.want == "1\n" {
				tt.want = "\n"
			}
			if out := run(t, i.runner(t, Options{}), c); string(out.Stdout) != tt.want {
				t.Errorf("read %q, %s: got %q, %s, want %q", tt.read, tt.env, out.Stdout, out.Stderr, tt.want)
			}
		}
	})
}

// The interpreter of a virtual environment is found with its libraries, wherever it was installed.
func TestInterpreterElsewhere(t *testing.T) {
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, python, "-m", "venv", "--without-pip", "env")
		if out := run(t, i.runner(t, Options{}), c); out.ExitCode != 0 {
			t.Skipf("no venv: %s", out.Stderr)
		}
		use := i.command(t, python, "-c", "import sys, json, ssl; print(sys.prefix)")
		use.Path = filepath.Join(c.Dir, "env/bin/python3")
		use.Args[0] = use.Path
		reach := &runner.Reach{Own: use.Write, Confine: i.confine} // which asks what belongs to a program
		use, err := reach.Command(*use)
		if err != nil {
			t.Fatal(err)
		}
		out := run(t, i.runner(t, Options{}), use)
		if got := strings.TrimSpace(string(out.Stdout)); got != filepath.Join(c.Dir, "env") {
			t.Errorf("got %q, %s", got, out.Stderr)
		}
	})
}

// A working directory that is not granted is empty or closed; a command is not given the root by it.
func TestDirIsNotGranted(t *testing.T) {
	each(t, func(t *testing.T, i tier) {
		secret := t.TempDir()
		write(t, filepath.Join(secret, "secret"), "x")
		for _, dir := range []string{secret, "/", filepath.Dir(secret)} {
			c := i.command(t, "/bin/sh", "-c", "pwd; cat secret "+secret+"/secret; echo x > new")
			c.Dir, c.Write = dir, nil
			out := run(t, i.runner(t, Options{}), c)
			if string(out.Stdout) != dir+"\n" {
				t.Errorf("%s: got %q, %s", dir, out.Stdout, out.Stderr)
			}
			if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
				t.Errorf("%s was written", dir)
			}
		}
	})
}

// A grant of the root is one of everything in it but what a command has of its own.
func TestRootIsGranted(t *testing.T) {
	each(t, func(t *testing.T, i tier) {
		dir, err := os.MkdirTemp("/var/tmp", "confine") //nolint:usetesting // a private /tmp would cover it
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		write(t, filepath.Join(dir, "file"), "read")
		c := i.command(t, "/bin/sh", "-c", "cat $0; ps -e | wc -l; echo x > $0", filepath.Join(dir, "file"))
		c.Read = []string{"/"}
		if out := run(t, i.runner(t, Options{}), c); !strings.HasPrefix(string(out.Stdout), "read") || out.ExitCode == 0 {
			t.Errorf("got %q, %s", out.Stdout, out.Stderr)
		}
	})
}
