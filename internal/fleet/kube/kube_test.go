package kube

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/kubetest"
)

const digest = "registry.example/agent@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func start(t *testing.T, s *Spec) (*kubetest.Server, *Cluster) {
	t.Helper()
	k := kubetest.New()
	t.Cleanup(k.Close)
	c, err := New(&Options{API: k.URL, Namespace: "runs", Token: func() (string, error) { return k.Token, nil }, CA: k.CA}, s)
	if err != nil {
		t.Fatal(err)
	}
	return k, c
}

func run() *Run {
	return &Run{ID: "First", Tenant: "Team Ä/..", Until: time.Now().Add(time.Hour), Files: map[string][]byte{"creds": []byte("s3cret")}}
}

func TestStart(t *testing.T) {
	k, c := start(t, &Spec{Image: digest})
	if err := c.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := k.Paths(); len(got) != 0 {
		t.Fatalf("Check made %v", got)
	}
	for range 2 { // another process starts it, too
		if err := c.Start(t.Context(), run()); err != nil {
			t.Fatal(err)
		}
	}
	name := Name("First")
	if got := k.Paths(); !slices.Equal(got, []string{"jobs/" + name, "secrets/" + name}) {
		t.Errorf("there are %v", got)
	}
	job, secret := k.Get("jobs/"+name), k.Get("secrets/"+name)
	if secret["data"].(object)["creds"] != "czNjcmV0" {
		t.Errorf("the secret is %v", secret)
	}
	if text, _ := json.Marshal(job); strings.Contains(string(text), "czNjcmV0") || strings.Contains(string(text), "s3cret") {
		t.Errorf("the job has the credential: %s", text)
	}
	for range 2 {
		if err := c.Stop(t.Context(), "First"); err != nil {
			t.Fatal(err)
		}
	}
	if got := k.Paths(); len(got) != 0 {
		t.Errorf("%v stays", got)
	}
}

// TestStartAgain: what a process did not do before its end, the next one does.
func TestStartAgain(t *testing.T) {
	k, c := start(t, &Spec{Image: digest})
	for _, call := range []string{"POST jobs", "POST secrets"} {
		k.Fail(call, http.StatusForbidden)
		if err := c.Start(t.Context(), run()); err == nil || !strings.Contains(err.Error(), "403 Forbidden: "+call) {
			t.Errorf("%s: %v", call, err)
		}
		k.Fail(call, 0)
	}
	if err := c.Start(t.Context(), run()); err != nil {
		t.Fatal(err)
	}
	job, secret := k.Get("jobs/"+Name("First")), k.Get("secrets/"+Name("First"))
	owner := secret["metadata"].(object)["ownerReferences"].([]any)[0].(object)
	if owner["uid"] != job["metadata"].(object)["uid"] {
		t.Errorf("the Secret goes with %v", owner)
	}
}

func TestWhy(t *testing.T) {
	for _, row := range []struct {
		name             string
		job, pod, events string // the status of a Job, of its pod, and events; "" for none
		why              string
		over             bool
	}{
		{"a pod that is new", `{}`, `{}`, ``, "", false},
		{"that is made", `{}`, `{"containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}]}`, ``, "", false},
		{"without an image", `{}`, `{"containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]}`, ``,
			"ImagePullBackOff: no such image", false},
		{"that runs", `{}`, `{"containerStatuses": [{"state": {"running": {}}}]}`, ``, "", false},
		{"without room", `{}`, `{"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes fit"}]}`, ``,
			"Unschedulable: 0/3 nodes fit", false},
		{"that took too much", `{"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "of the Job"}]}`,
			`{"containerStatuses": [{"state": {"terminated": {"reason": "OOMKilled"}}}]}`, ``, "OOMKilled", true},
		{"that failed", `{"conditions": [{"type": "FailureTarget", "status": "True"}, {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}`,
			`{"containerStatuses": [{"state": {"terminated": {"reason": "Error", "message": "no such command\n"}}}]}`, ``, "Error: no such command", true},
		{"that was evicted", `{}`, `{"reason": "Evicted", "message": "low on memory"}`, ``, "Evicted: low on memory", false},
		{"that ended", `{"conditions": [{"type": "Complete", "status": "True", "reason": "CompletionsReached"}]}`, ``, ``, "CompletionsReached", true},
		{"that took too long", `{"conditions": [{"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "too long"}]}`, ``, ``,
			"DeadlineExceeded: too long", true},
		{"that may not be", `{}`, ``, `{"reason": "FailedCreate", "message": "exceeded quota"}`, "FailedCreate: exceeded quota", false},
		{"whose Job is gone", ``, ``, ``, "its Job was removed", true},
	} {
		k, c := start(t, &Spec{Image: digest})
		for path, text := range map[string]string{"jobs/" + Name("First"): row.job, "pods/p": row.pod, "events/e": row.events} {
			var status object
			if text == "" {
				continue
			}
			if err := json.Unmarshal([]byte(text), &status); err != nil {
				t.Fatal(err)
			}
			if path == "events/e" {
				k.Set(path, status)
			} else {
				k.Set(path, object{"metadata": object{"name": "x"}, "status": status})
			}
		}
		if why, over, err := c.Why(t.Context(), "First"); why != row.why || over != row.over || err != nil {
			t.Errorf("a pod %s: %q, %v, %v", row.name, why, over, err)
		}
	}
}

func TestRefused(t *testing.T) {
	token := func() (string, error) { return "", nil }
	for _, row := range []struct {
		o     Options
		image string
		want  string
	}{
		{Options{API: "http://10.0.0.1", Namespace: "n", Token: token}, digest, "must be reached by https"},
		{Options{API: "10.0.0.1:443", Namespace: "n", Token: token}, digest, "write it as https://HOST:PORT"},
		{Options{API: "https://10.0.0.1", Namespace: "a/../b", Token: token}, digest, `"a/../b" is no namespace`},
		{Options{API: "https://10.0.0.1", Namespace: "", Token: token}, digest, "no namespace"},
		{Options{API: "https://10.0.0.1", Namespace: "n"}, digest, "no Token"},
		{Options{API: "https://10.0.0.1", Namespace: "n", Token: token, CA: []byte("x")}, digest, "are no PEM"},
		{Options{API: "https://10.0.0.1", Namespace: "n", Token: token}, "agent:latest", "name it by its digest"},
	} {
		if _, err := New(&row.o, &Spec{Image: row.image}); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v %s: %v", row.o.API, row.image, err)
		}
	}
	_, c := start(t, &Spec{Image: digest})
	for want, r := range map[string]*Run{
		"no ID":          {Until: time.Now().Add(time.Hour)},
		"deadline":       {ID: "x", Until: time.Now().Add(-time.Second)},
		"files of a run": {ID: "x", Until: time.Now().Add(time.Hour), Files: map[string][]byte{"a": make([]byte, maxFiles+1)}},
	} {
		if err := c.Start(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestRedirect: the token of the account goes to no other host.
func TestRedirect(t *testing.T) {
	_, c := start(t, &Spec{Image: digest})
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("it got %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	moved := httptest.NewTLSServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer moved.Close()
	c.api, c.client.Transport = moved.URL, moved.Client().Transport
	if err := c.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "307") {
		t.Error(err)
	}
}

func TestInCluster(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := InCluster(func(string) string { return "" }, dir); err == nil || !strings.Contains(err.Error(), "not in a pod") {
		t.Error(err)
	}
	if _, err := InCluster(func(k string) string { return env[k] }, dir); err == nil || !strings.Contains(err.Error(), "service account") {
		t.Error(err)
	}
	write("ca.crt", "ca")
	write("token", "one\n")
	o, err := InCluster(func(k string) string { return env[k] }, dir)
	if err != nil || o.API != "https://[fd00::1]:443" || string(o.CA) != "ca" {
		t.Fatalf("%+v, %v", o, err)
	}
	for _, want := range []string{"one", "two"} {
		write("token", want+"\n")
		if got, err := o.Token(); got != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
}
