// Package kube starts a worker of a fleet for one run, as a Job of Kubernetes: untrusted code gets a pod and a credential of its own. The
// worker connects to the fleet from inside; nothing connects to the pod.
//
// It speaks with the API server in plain REST, with the rights of a service account in one namespace: to create, read and delete Jobs, to
// create Secrets, to create Pods, which it does not, but asks whether it could, and to list Pods and Events.
package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Spec is what the pods of all runs have in common.
type Spec struct {
	Image        string // of the agent and the interpreters, by digest: NAME@sha256:…
	Args         []string
	RuntimeClass string // such as gvisor; "" for that of the cluster

	CPU    string // such as "500m"
	Memory string // such as "512Mi"
	Disk   string // of the folder that it may write
}

// Places in the container. Nothing else of it can be written.
const (
	Folder = "/run/agent" // has Run.Files, which only the worker reads
	Home   = "/work"      // of the worker, as long as the pod
)

// Run is what a pod is for.
type Run struct {
	ID     string
	Tenant string
	Until  time.Time         // the pod is ended then
	Files  map[string][]byte // by name, what the worker needs to reach the fleet; kept in a Secret that goes with the Job
}

// Bounds of a Run.
const (
	maxFiles = 512 << 10       // bytes of all files; a Secret can have 1 MiB
	longest  = 24 * time.Hour  // of a pod
	after    = 5 * time.Minute // that a Job stays after its end if it was not stopped
)

// Labels by which the Jobs, Secrets and pods of runs are found. The values of run and tenant are digests, for their names may be any text;
// the names stand in annotations.
const (
	labelName   = "app.kubernetes.io/name"
	labelPart   = "app.kubernetes.io/part-of"
	labelTenant = "agent-base.github.io/tenant"
	noteTenant  = "agent-base.github.io/tenant-name"
	noteRun     = "agent-base.github.io/run"

	component = "agent-run"
)

// object is a JSON object for the API server.
type object = map[string]any

var image = regexp.MustCompile(`^[a-z0-9][a-z0-9._:/-]*@sha256:[0-9a-f]{64}$`)

// check returns what is wrong with a Spec.
func (s *Spec) check() error {
	if !image.MatchString(s.Image) {
		return fmt.Errorf("image %.200q: name it by its digest, as NAME@sha256:…, so that no other image takes its place", s.Image)
	}
	return nil
}

// Name returns the name of the Job of a run, and of its Secret. It is the same for the same run, so that a second Job for it is refused.
func Name(run string) string { return "agent-run-" + short(run) }

// short returns a text in letters that a name and a label can have.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func (r *Run) meta() object {
	return object{
		"name":        Name(r.ID),
		"labels":      object{labelName: component, labelPart: "agent-base", labelTenant: short(r.Tenant)},
		"annotations": object{noteTenant: r.Tenant, noteRun: r.ID},
	}
}

// Job returns the Job of a run. Its pod begins when it has the Secret, and ends at the deadline also without one. Kubernetes never starts it
// twice, and the pod keeps the rules of the level "restricted".
func (s *Spec) Job(r *Run, now time.Time) (object, error) {
	left := min(r.Until.Sub(now), longest)
	switch {
	case r.ID == "":
		return nil, errors.New("kube.Run: no ID")
	case left < time.Second:
		return nil, errors.New("its deadline has passed")
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	meta := r.meta()
	return object{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": object{
		"backoffLimit": 0, "completions": 1, "parallelism": 1,
		"podReplacementPolicy":    "Failed", // no second pod of a run while there may be a first
		"activeDeadlineSeconds":   int(left.Seconds()),
		"ttlSecondsAfterFinished": int(after.Seconds()),
		"template":                object{"metadata": object{"labels": meta["labels"], "annotations": meta["annotations"]}, "spec": s.pod(Name(r.ID))},
	}}, nil
}

// pod returns the pod of a run whose Secret has a name.
func (s *Spec) pod(secret string) object {
	amounts := object{"cpu": s.CPU, "memory": s.Memory, "ephemeral-storage": s.Disk}
	pod := object{
		"restartPolicy": "Never", "terminationGracePeriodSeconds": 10,
		"automountServiceAccountToken": false, "enableServiceLinks": false,
		"hostUsers": false, // a process that escapes from the container has no rights on the node
		"securityContext": object{"runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532,
			"seccompProfile": object{"type": "RuntimeDefault"}},
		"containers": []any{object{
			"name": "worker", "image": s.Image, "args": s.Args, "workingDir": Home,
			"terminationMessagePolicy": "FallbackToLogsOnError", // Why says what the worker said last
			"env": []any{object{"name": "HOME", "value": Home}, object{"name": "TMPDIR", "value": Home},
				object{"name": "AGENT_HOME", "value": Home + "/.agent"},
				object{"name": "CREDENTIALS_DIRECTORY", "value": Folder}}, // the mode of its files says that a group reads them
			"securityContext": object{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": object{"drop": []any{"ALL"}}},
			"resources":       object{"requests": amounts, "limits": amounts},
			"volumeMounts": []any{object{"name": "run", "mountPath": Folder, "readOnly": true},
				object{"name": "work", "mountPath": Home}},
		}},
		"volumes": []any{object{"name": "run", "secret": object{"secretName": secret, "defaultMode": 0o440}},
			object{"name": "work", "emptyDir": object{"sizeLimit": s.Disk}}},
	}
	if s.RuntimeClass != "" {
		pod["runtimeClassName"] = s.RuntimeClass
	}
	return pod
}

// Secret returns the Secret of a run whose Job has an UID. It goes with its Job.
func (r *Run) Secret(uid string) (object, error) {
	size := 0
	for _, data := range r.Files {
		size += len(data)
	}
	if size > maxFiles {
		return nil, fmt.Errorf("the files of a run have %d bytes, at most %d can be given to it", size, maxFiles)
	}
	meta := r.meta()
	meta["ownerReferences"] = []any{object{"apiVersion": "batch/v1", "kind": "Job", "name": Name(r.ID), "uid": uid}}
	return object{"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": "Opaque", "immutable": true, "data": r.Files}, nil
}
