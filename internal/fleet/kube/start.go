package kube

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Check asks the server whether it would take the pod of a run, and changes nothing. A program calls it when it starts: the server takes a
// Job even if it takes none of its pods, and each run would wait for a pod that never comes.
func (c *Cluster) Check(ctx context.Context) error {
	spec := c.pod(component)
	pod := object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": component, "labels": object{labelName: component}}, "spec": spec}
	if err := c.create(ctx, "pods", pod, nil, true); err != nil {
		return fmt.Errorf("namespace %s takes no pod of a run: %w", c.namespace, err)
	}
	return nil
}

// Start makes the Job of a run, with its Secret. What exists stays: another process may have made it, and may have ended before it was done.
func (c *Cluster) Start(ctx context.Context, r *Run) error {
	in, err := c.Job(r, time.Now())
	if err != nil {
		return err
	}
	made := &job{}
	if err = c.create(ctx, "jobs", in, made, false); refused(err, http.StatusConflict) {
		made, err = c.read(ctx, r.ID)
	}
	if err != nil {
		return err
	}
	secret, err := r.Secret(made.Metadata.UID)
	if err != nil {
		return err
	}
	if err = c.create(ctx, "secrets", secret, nil, false); refused(err, http.StatusConflict) {
		return nil
	}
	return err
}

// Stop ends the pod of a run, if there is one, and removes its Job and its Secret.
func (c *Cluster) Stop(ctx context.Context, run string) error {
	err := c.call(ctx, http.MethodDelete, c.path("jobs", Name(run)), nil,
		object{"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground"}, nil)
	if refused(err, http.StatusNotFound) {
		return nil
	}
	return err
}

// condition is one of a Job or a pod.
type condition struct{ Type, Status, Reason, Message string }

// job is what is read of a Job.
type job struct {
	Metadata struct{ UID string }
	Status   struct{ Conditions []condition }
}

func (c *Cluster) read(ctx context.Context, run string) (*job, error) {
	j := &job{}
	return j, c.call(ctx, http.MethodGet, c.path("jobs", Name(run)), nil, nil, j)
}

// Why says what keeps the pod of a run from its work, as far as the cluster knows: an image that cannot be had, no node with room, a quota,
// too little memory. It is "" if nothing is known to be wrong. Over means that there is no pod any more, and never will be.
func (c *Cluster) Why(ctx context.Context, run string) (why string, over bool, _ error) {
	j, err := c.read(ctx, run)
	if refused(err, http.StatusNotFound) {
		return "its Job was removed", true, nil
	}
	if err != nil {
		return "", false, err
	}
	ended := ""
	for _, k := range j.Status.Conditions {
		if over = over || k.Status == "True" && (k.Type == "Complete" || k.Type == "Failed"); over && ended == "" {
			ended = text(k.Reason, k.Message)
		}
	}
	var pods struct{ Items []pod }
	if err := c.list(ctx, "pods", url.Values{"labelSelector": {"batch.kubernetes.io/job-name=" + Name(run)}}, &pods); err != nil {
		return "", false, err
	}
	for _, p := range pods.Items {
		why = cmp.Or(why, p.why())
	}
	if why == "" && len(pods.Items) == 0 && !over { // the Job makes no pod
		var events struct{ Items []condition }
		if err := c.list(ctx, "events", url.Values{"fieldSelector": {"type=Warning,involvedObject.kind=Job,involvedObject.name=" + Name(run)}}, &events); err != nil {
			return "", false, err
		}
		for _, e := range events.Items {
			why = text(e.Reason, e.Message)
		}
	}
	return cmp.Or(why, ended), over, nil
}

// list reads the objects of a kind that are selected.
func (c *Cluster) list(ctx context.Context, kind string, q url.Values, out any) error {
	return c.call(ctx, http.MethodGet, c.path(kind), q, nil, out)
}

// pod is what is read of a pod.
type pod struct {
	Status struct {
		Reason, Message   string // such as that its node had no room any more
		Conditions        []condition
		ContainerStatuses []struct {
			State struct{ Waiting, Terminated *condition }
		}
	}
}

func (p *pod) why() string {
	if p.Status.Reason != "" {
		return text(p.Status.Reason, p.Status.Message)
	}
	for _, s := range p.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return text(w.Reason, w.Message)
		}
		if e := s.State.Terminated; e != nil {
			return text(e.Reason, e.Message)
		}
	}
	for _, k := range p.Status.Conditions {
		if k.Type == "PodScheduled" && k.Status == "False" {
			return text(k.Reason, k.Message)
		}
	}
	return ""
}

func text(reason, message string) string {
	return strings.TrimSuffix(fmt.Sprintf("%s: %.1000s", reason, strings.TrimSpace(message)), ": ")
}
