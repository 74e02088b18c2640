package cli_test

import (
	"encoding/base64"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-base/agent-base/internal/fleet/kube"
	"github.com/agent-base/agent-base/internal/test/kubetest"
)

// kubernetes starts an API server, in which the command agent has a service account. The pod of a Job is a process in the folder pods/JOB; that
// of an image "broken" gets a flag that does not exist. "kubernetes empty" waits until no object is left.
func kubernetes(ts *testscript.TestScript, neg bool, args []string) {
	c := ts.Value(kubernetesKey{}).(*pods)
	if !neg && len(args) == 1 && args[0] == "empty" {
		for i := 0; len(c.k.Paths()) > 0; i++ {
			if time.Sleep(50 * time.Millisecond); i > 200 {
				ts.Fatalf("there are still %v", c.k.Paths())
			}
		}
		return
	}
	if neg || len(args) != 0 {
		ts.Fatalf("usage: kubernetes [empty]")
	}
	c.k, c.work, c.path, c.running = kubetest.New(), ts.Getenv("WORK"), ts.Getenv("PATH"), map[string]*exec.Cmd{}
	ts.Defer(c.k.Close)
	ts.Defer(c.all.Wait)
	c.k.Begin, c.k.End = c.begin, c.end
	account := filepath.Join(c.work, "account")
	ts.Check(os.MkdirAll(account, 0o700))
	ts.Check(os.WriteFile(filepath.Join(account, "ca.crt"), c.k.CA, 0o600))
	ts.Check(os.WriteFile(filepath.Join(account, "token"), []byte(c.k.Token+"\n"), 0o600))
	at, err := url.Parse(c.k.URL)
	ts.Check(err)
	ts.Setenv("KUBERNETES_SERVICE_HOST", at.Hostname())
	ts.Setenv("KUBERNETES_SERVICE_PORT", at.Port())
	ts.Setenv("TEST_POD_ACCOUNT", account)
}

// pods are those of a script.
type pods struct {
	k          *kubetest.Server
	work, path string

	all     sync.WaitGroup
	mu      sync.Mutex
	running map[string]*exec.Cmd // by Job
}

type kubernetesKey struct{}

func (p *pods) begin(job, secret kubetest.Object) {
	p.all.Add(1)
	defer p.all.Done()
	name := job["metadata"].(kubetest.Object)["name"].(string)
	c, err := p.command(name, job, secret)
	var said strings.Builder
	if err == nil {
		c.Stderr = &said
		p.mu.Lock()
		if err = c.Start(); err == nil {
			p.running[name] = c
		}
		p.mu.Unlock()
	}
	if err == nil {
		err = c.Wait()
	}
	if p.k.Get("jobs/"+name) == nil { // it was removed
		return
	}
	ended := kubetest.Object{"reason": "Completed"}
	if err != nil {
		ended = kubetest.Object{"reason": "Error", "message": said.String() + err.Error()}
	}
	meta := kubetest.Object{"name": name, "ownerReferences": []any{kubetest.Object{"uid": job["metadata"].(kubetest.Object)["uid"]}}}
	p.k.Set("pods/"+name, kubetest.Object{"metadata": meta, "status": kubetest.Object{
		"containerStatuses": []any{kubetest.Object{"state": kubetest.Object{"terminated": ended}}}}})
	job = maps.Clone(job)
	job["status"] = kubetest.Object{"conditions": []any{kubetest.Object{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}}}
	p.k.Set("jobs/"+name, job)
}

// command returns the process of a pod. Its files are where the pod has them.
func (p *pods) command(name string, job, secret kubetest.Object) (*exec.Cmd, error) {
	dir := filepath.Join(p.work, "pods", name)
	run, home := filepath.Join(dir, "run"), filepath.Join(dir, "home")
	for _, one := range []string{filepath.Join(run, "..1"), home} {
		if err := os.MkdirAll(one, 0o755); err != nil {
			return nil, err
		}
	}
	err := os.Symlink("..1", filepath.Join(run, "..data"))
	for file, text := range secret["data"].(kubetest.Object) {
		b, _ := base64.StdEncoding.DecodeString(text.(string))
		if err == nil {
			err = os.WriteFile(filepath.Join(run, "..1", file), b, 0o440)
		}
		if err == nil {
			err = os.Symlink("..data/"+file, filepath.Join(run, file))
		}
	}
	container := job["spec"].(kubetest.Object)["template"].(kubetest.Object)["spec"].(kubetest.Object)["containers"].([]any)[0].(kubetest.Object)
	at := strings.NewReplacer(kube.Folder, run, kube.Home, home)
	c := exec.Command("/proc/self/exe")
	c.Args, c.Dir, c.Env = []string{"agent"}, home, []string{"PATH=" + p.path}
	for _, arg := range container["args"].([]any) {
		c.Args = append(c.Args, at.Replace(arg.(string)))
	}
	if strings.Contains(container["image"].(string), "broken") {
		c.Args = append(c.Args, "--broken")
	}
	for _, e := range container["env"].([]any) {
		c.Env = append(c.Env, e.(kubetest.Object)["name"].(string)+"="+at.Replace(e.(kubetest.Object)["value"].(string)))
	}
	return c, err
}

func (p *pods) end(job string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.running[job]; c != nil {
		_ = c.Process.Signal(syscall.SIGTERM)
	}
}
