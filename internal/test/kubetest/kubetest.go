// Package kubetest has an API server as Kubernetes has it, as far as internal/fleet/kube relies on it. The step kube of scripts/test.sh asks
// Kubernetes' own code about the objects, and TestLive of that package a real server about all of it.
package kubetest

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// Object is a JSON object.
type Object = map[string]any

// Server is an API server with one namespace, runs. Its methods may be called by several goroutines.
type Server struct {
	URL   string
	CA    []byte // its certificate in PEM
	Token string // that it wants

	// Begin is called, in a goroutine, when a Job has its Secret, as its pod can begin then. End is called when the Job is removed.
	Begin func(job, secret Object)
	End   func(job string)

	on      *httptest.Server
	mu      sync.Mutex
	made    int
	objects map[string]Object // by KIND/NAME
	fail    map[string]int
	calls   []string
}

// New starts a Server. The caller closes it.
func New() *Server {
	k := &Server{Token: "t0ken", objects: map[string]Object{}, fail: map[string]int{}}
	k.on = httptest.NewTLSServer(k)
	k.URL = k.on.URL
	k.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: k.on.Certificate().Raw})
	return k
}

// Close ends the server.
func (k *Server) Close() { k.on.Close() }

// Calls returns the calls that were made, such as "create jobs".
func (k *Server) Calls() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.calls)
}

// Fail answers a call, such as "POST jobs", with a status; 0 is the usual answer.
func (k *Server) Fail(call string, status int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fail[call] = status
}

// Get returns an object, such as jobs/NAME; nil if there is none.
func (k *Server) Get(path string) Object {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.objects[path]
}

// Set stores an object.
func (k *Server) Set(path string, o Object) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.objects[path] = o
}

// Paths returns those of all objects.
func (k *Server) Paths() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.objects))
}

// ServeHTTP answers a call.
func (k *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	parts := strings.Split(strings.Trim(strings.NewReplacer("/apis/batch/v1", "", "/api/v1", "").Replace(r.URL.Path), "/"), "/")
	kind := parts[2] // namespaces/runs/KIND[/NAME]
	call := r.Method + " " + kind
	status, out := k.answer(call, r, kind, parts)
	if status > 299 {
		out = Object{"reason": out["reason"], "message": call}
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

// refuse returns what is said for an error.
func refuse(status int, reason string) (int, Object) { return status, Object{"reason": reason} }

// answer returns what a call is answered with. The caller holds the lock.
func (k *Server) answer(call string, r *http.Request, kind string, parts []string) (int, Object) {
	var in Object
	switch err := json.NewDecoder(r.Body).Decode(&in); {
	case r.Header.Get("Authorization") != "Bearer "+k.Token || parts[1] != "runs":
		return refuse(http.StatusUnauthorized, "Unauthorized")
	case k.fail[call] != 0:
		return refuse(k.fail[call], "Forbidden")
	case err != nil && r.Method != http.MethodGet:
		return refuse(http.StatusBadRequest, "BadRequest")
	}
	path := strings.Join(parts[2:], "/")
	verb := map[string]string{http.MethodPost: "create", http.MethodDelete: "delete", http.MethodGet: "get"}[r.Method]
	if r.Method == http.MethodGet && len(parts) == 3 {
		verb = "list"
	}
	k.calls = append(k.calls, verb+" "+kind)
	switch {
	case r.Method == http.MethodPost:
		return k.create(kind, in, r.URL.Query().Get("dryRun") == "All")
	case len(parts) == 3:
		items := []Object{}
		for _, p := range slices.Sorted(maps.Keys(k.objects)) {
			if strings.HasPrefix(p, path+"/") {
				items = append(items, k.objects[p])
			}
		}
		return http.StatusOK, Object{"items": items}
	case k.objects[path] == nil:
		return refuse(http.StatusNotFound, "NotFound")
	case r.Method == http.MethodDelete:
		k.remove(path)
		return http.StatusOK, Object{}
	}
	return http.StatusOK, k.objects[path]
}

func (k *Server) create(kind string, in Object, dry bool) (int, Object) {
	meta := in["metadata"].(Object)
	path := fmt.Sprint(kind, "/", meta["name"])
	if k.objects[path] != nil {
		return refuse(http.StatusConflict, "AlreadyExists")
	}
	if dry {
		return http.StatusCreated, in
	}
	k.made++
	meta["uid"] = fmt.Sprint("uid-", k.made)
	k.objects[path] = in
	if job := k.objects[fmt.Sprint("jobs/", meta["name"])]; kind == "secrets" && job != nil && k.Begin != nil {
		go k.Begin(job, in)
	}
	return http.StatusCreated, in
}

// remove removes an object and what it owns.
func (k *Server) remove(path string) {
	gone := k.objects[path]["metadata"].(Object)
	delete(k.objects, path)
	for p, o := range k.objects {
		if owners, ok := o["metadata"].(Object)["ownerReferences"].([]any); ok && owners[0].(Object)["uid"] == gone["uid"] {
			delete(k.objects, p)
		}
	}
	if k.End != nil {
		go k.End(fmt.Sprint(gone["name"]))
	}
}
