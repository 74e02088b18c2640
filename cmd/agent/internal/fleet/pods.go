package fleet

import (
	"context"
	"path"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/kube"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/lockfile"
)

// Names of the files of a pod.
const (
	podCA    = "ca.crt"
	podCreds = "creds"
)

// toTell is how long a pod stays after the deadline of its run, to say how it ended.
const toTell = time.Minute

// PodArgs returns the arguments of the worker in a pod that reaches the nodes at some address.
func PodArgs(server string) []string {
	return []string{"worker", "--at-once=1", "--server=" + server, "--ca=" + path.Join(kube.Folder, podCA),
		"--creds=" + path.Join(kube.Folder, podCreds), "--signers=" + path.Join(kube.Folder, signers)}
}

// pods give each run a worker in a pod of its own: they are a dispatch.Alone.
type pods struct {
	*kube.Cluster
	node    *node.Cluster
	signers []byte
}

// Start starts the pod of a run, with a credential that is for its worker alone.
func (p *pods) Start(ctx context.Context, r *dispatch.Run, worker string) error {
	until := r.Until.Add(toTell)
	creds, err := p.node.Issuer.Credential(worker, until)
	if err != nil {
		return err
	}
	ca, err := lockfile.Read(p.node.CA, 0)
	if err != nil {
		return err
	}
	return p.Cluster.Start(ctx, &kube.Run{ID: r.ID, Tenant: r.Tenant, Until: until,
		Files: map[string][]byte{podCA: ca, podCreds: creds, signers: p.signers}})
}
