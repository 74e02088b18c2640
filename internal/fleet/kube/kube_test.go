package kube

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

const digest = "registry.example/agent@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// server behaves as the API server of Kubernetes does in what this package relies on. The step kube of scripts/test.sh asks Kubernetes'
// own code about the objects, and TestLive a real server about all of it.
type server struct {
	t *testing.T

	mu      sync.Mutex
	version int
	objects map[string]object // by path
	watches map[chan object]bool
	fail    map[string]int // status for a method and the kind of an object
	calls   []string
}

func start(t *testing.T, s *Spec) (*server, *Cluster) {
	t.Helper()
	k := &server{t: t, objects: map[string]object{}, watches: map[chan object]bool{}, fail: map[string]int{}}
	on := httptest.NewTLSServer(k)
	t.Cleanup(on.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: on.Certificate().Raw})
	c, err := New(&Options{API: on.URL, Namespace: "runs", Token: func() (string, error) { return "t0ken", nil }, CA: ca}, s)
	if err != nil {
		t.Fatal(err)
	}
	return k, c
}

func (k *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	parts := strings.Split(strings.Trim(strings.NewReplacer("/apis/batch/v1", "", "/api/v1", "").Replace(r.URL.Path), "/"), "/")
	kind := parts[2] // namespaces/runs/KIND[/NAME]
	call := r.Method + " " + kind
	k.calls = append(k.calls, call)
	answer := func(status int, v any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	refuse := func(status int, reason string) { answer(status, object{"reason": reason, "message": call}) }
	if r.Header.Get("Authorization") != "Bearer t0ken" || parts[1] != "runs" {
		refuse(http.StatusUnauthorized, "Unauthorized")
		return
	}
	if status := k.fail[call]; status != 0 {
		refuse(status, "Forbidden")
		return
	}
	var in object
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			k.t.Errorf("%s: %v", call, err)
		}
	}
	path := r.URL.Path
	switch {
	case r.Method == http.MethodPost:
		path += "/" + in["metadata"].(object)["name"].(string)
		if k.objects[path] != nil {
			refuse(http.StatusConflict, "AlreadyExists")
			return
		}
		if r.URL.Query().Get("dryRun") != "All" {
			in["metadata"].(object)["uid"] = "uid-" + fmt.Sprint(k.version)
			in["metadata"].(object)["creationTimestamp"] = time.Now().UTC().Format(time.RFC3339)
			k.set(path, in)
		}
		answer(http.StatusCreated, in)
	case r.URL.Query().Get("watch") != "":
		k.watch(w, r)
	case len(parts) == 3:
		var items []object
		for p, o := range k.objects {
			if strings.HasPrefix(p, path+"/") {
				items = append(items, o)
			}
		}
		answer(http.StatusOK, object{"items": items})
	case k.objects[path] == nil:
		refuse(http.StatusNotFound, "NotFound")
	case r.Method == http.MethodPatch:
		o := k.objects[path]
		if uid := in["metadata"].(object)["uid"]; uid != o["metadata"].(object)["uid"] {
			refuse(http.StatusConflict, "Conflict")
			return
		}
		for key, value := range in["spec"].(object) {
			o["spec"].(object)[key] = value
		}
		k.set(path, o)
		answer(http.StatusOK, o)
	case r.Method == http.MethodDelete:
		k.remove(path)
		answer(http.StatusOK, object{})
	default:
		answer(http.StatusOK, k.objects[path])
	}
}

// set stores an object, and tells whoever watches.
func (k *server) set(path string, o object) {
	k.version++
	o["metadata"].(object)["resourceVersion"] = fmt.Sprint(k.version)
	k.objects[path] = o
	k.tell("MODIFIED", o)
}

// remove removes an object and what it owns.
func (k *server) remove(path string) {
	gone := k.objects[path]
	delete(k.objects, path)
	k.tell("DELETED", gone)
	for p, o := range k.objects {
		if owners, ok := o["metadata"].(object)["ownerReferences"].([]any); ok && owners[0].(object)["uid"] == gone["metadata"].(object)["uid"] {
			delete(k.objects, p)
		}
	}
}

func (k *server) tell(what string, o object) {
	b, err := json.Marshal(o)
	if err != nil {
		k.t.Error(err)
	}
	for c := range k.watches {
		c <- object{"type": what, "object": json.RawMessage(b)}
	}
}

// watch sends what changes. The caller holds the lock.
func (k *server) watch(w http.ResponseWriter, r *http.Request) {
	if got := r.URL.Query().Get("resourceVersion"); got != fmt.Sprint(k.version) { // this one keeps no history
		w.WriteHeader(http.StatusGone)
		return
	}
	c := make(chan object, 100)
	k.watches[c] = true
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	k.mu.Unlock()
	defer k.mu.Lock()
	for {
		select {
		case <-r.Context().Done():
			k.mu.Lock()
			delete(k.watches, c)
			k.mu.Unlock()
			return
		case e, more := <-c:
			if !more {
				return
			}
			_ = json.NewEncoder(w).Encode(e)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// finish writes a condition of the only Job.
func (k *server) finish(kind, reason string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for p, o := range k.objects {
		if strings.Contains(p, "/jobs/") {
			o["status"] = object{"conditions": []any{object{"type": kind, "status": "True", "reason": reason, "message": "told by the test"}}}
			k.set(p, o)
		}
	}
}

func (k *server) paths() (out []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for p := range k.objects {
		out = append(out, p)
	}
	return out
}

func run() *Run {
	return &Run{ID: "First", Tenant: "Team Ä/..", Until: time.Now().Add(time.Hour), Files: map[string][]byte{"creds": []byte("s3cret")}}
}

func TestStart(t *testing.T) {
	k, c := start(t, &Spec{Image: digest})
	if err := c.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := k.paths(); len(got) != 0 {
		t.Fatalf("Check made %v", got)
	}
	if err := c.Start(t.Context(), run()); err != nil {
		t.Fatal(err)
	}
	job := k.objects[c.path("jobs", Name("First"))]
	secret := k.objects[c.path("secrets", Name("First"))]
	if job["spec"].(object)["suspend"] != false || secret["data"].(object)["creds"] != "czNjcmV0" {
		t.Errorf("the job has %v, the secret %v", job["spec"], secret)
	}
	if text, _ := json.Marshal(job); strings.Contains(string(text), "czNjcmV0") || strings.Contains(string(text), "s3cret") {
		t.Errorf("the job has the credential: %s", text)
	}
	if err := c.Start(t.Context(), run()); !errors.Is(err, ErrExists) {
		t.Errorf("a second one: %v", err)
	}
	if err := c.Remove(t.Context(), "First"); err != nil {
		t.Fatal(err)
	}
	if got := k.paths(); len(got) != 0 {
		t.Errorf("%v stays", got)
	}
	if err := c.Remove(t.Context(), "First"); err != nil {
		t.Errorf("again: %v", err)
	}
}

// TestStartFails: whatever fails after the Job is made, nothing stays that would wait for ever.
func TestStartFails(t *testing.T) {
	for _, call := range []string{"POST jobs", "POST secrets", "PATCH jobs"} {
		k, c := start(t, &Spec{Image: digest})
		k.fail[call] = http.StatusForbidden
		if err := c.Start(t.Context(), run()); err == nil || !strings.Contains(err.Error(), "403 Forbidden: "+call) {
			t.Errorf("%s: %v", call, err)
		}
		if got := k.paths(); len(got) != 0 {
			t.Errorf("%s: %v stays", call, got)
		}
	}
}

func TestWait(t *testing.T) {
	for _, row := range []struct {
		name string
		do   func(k *server, c *Cluster)
		want string
		err  error
	}{
		{"done", func(k *server, _ *Cluster) { k.finish("Complete", "CompletionsReached") }, "", nil},
		{"failed", func(k *server, _ *Cluster) { k.finish("Failed", "DeadlineExceeded") }, "DeadlineExceeded: told by the test", nil},
		{"removed", func(k *server, c *Cluster) { _ = c.Remove(t.Context(), "First") }, "", ErrGone},
		{"a watch that ends", func(k *server, _ *Cluster) {
			k.mu.Lock()
			for w := range k.watches {
				close(w)
				delete(k.watches, w)
			}
			k.mu.Unlock()
			k.finish("Complete", "CompletionsReached")
		}, "", nil},
		{"a version that is too old", func(k *server, _ *Cluster) {
			k.mu.Lock()
			k.tell("ERROR", object{"code": 410})
			k.mu.Unlock()
			k.finish("Failed", "BackoffLimitExceeded")
		}, "BackoffLimitExceeded: told by the test", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			k, c := start(t, &Spec{Image: digest})
			if err := c.Start(t.Context(), run()); err != nil {
				t.Fatal(err)
			}
			type end struct {
				failed string
				err    error
			}
			ended := make(chan end, 1)
			go func() {
				failed, err := c.Wait(t.Context(), "First")
				ended <- end{failed, err}
			}()
			for watched := false; !watched; time.Sleep(time.Millisecond) {
				k.mu.Lock()
				watched = len(k.watches) > 0
				k.mu.Unlock()
			}
			row.do(k, c)
			if got := <-ended; got.failed != row.want || !errors.Is(got.err, row.err) {
				t.Errorf("%q, %v", got.failed, got.err)
			}
		})
	}
}

func TestWhy(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "",
		`{"containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}]}`:                                     "",
		`{"containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]}`:          "ImagePullBackOff: no such image",
		`{"containerStatuses": [{"state": {"running": {}}}]}`:                                                                  "",
		`{"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes fit"}]}`: "Unschedulable: 0/3 nodes fit",
	} {
		k, c := start(t, &Spec{Image: digest})
		var status object
		if err := json.Unmarshal([]byte(text), &status); err != nil {
			t.Fatal(err)
		}
		k.objects[c.path("pods", "p")] = object{"metadata": object{"name": "p"}, "status": status}
		if got, err := c.Why(t.Context(), "First"); got != want || err != nil {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// TestSweep: a Job that a process left suspended is removed, and no other one.
func TestSweep(t *testing.T) {
	k, c := start(t, &Spec{Image: digest})
	make := func(id string, suspended bool, age time.Duration) {
		if err := c.Start(t.Context(), &Run{ID: id, Until: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		o := k.objects[c.path("jobs", Name(id))]
		o["spec"].(object)["suspend"] = suspended
		o["metadata"].(object)["creationTimestamp"] = time.Now().Add(-age).UTC().Format(time.RFC3339)
	}
	make("left", true, time.Hour)
	make("new", true, 0)
	make("begun", false, time.Hour)
	k.objects[c.path("jobs", "foreign")] = object{"metadata": object{"name": "foreign", "annotations": object{noteRun: "begun"},
		"creationTimestamp": "2020-01-01T00:00:00Z"}, "spec": object{"suspend": true}}
	got, err := c.Sweep(t.Context(), time.Minute)
	if err != nil || !reflect.DeepEqual(got, []string{"left"}) {
		t.Errorf("%v, %v", got, err)
	}
	if k.objects[c.path("jobs", Name("left"))] != nil || len(k.paths()) != 5 {
		t.Errorf("%v stay", k.paths())
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
	if _, err := inCluster(func(string) string { return "" }, dir); err == nil || !strings.Contains(err.Error(), "not in a pod") {
		t.Error(err)
	}
	if _, err := inCluster(func(k string) string { return env[k] }, dir); err == nil || !strings.Contains(err.Error(), "service account") {
		t.Error(err)
	}
	write("ca.crt", "ca")
	write("namespace", "runs\n")
	write("token", "one\n")
	o, err := inCluster(func(k string) string { return env[k] }, dir)
	if err != nil || o.API != "https://[fd00::1]:443" || o.Namespace != "runs" || string(o.CA) != "ca" {
		t.Fatalf("%+v, %v", o, err)
	}
	for _, want := range []string{"one", "two"} {
		write("token", want+"\n")
		if got, err := o.Token(); got != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
}
