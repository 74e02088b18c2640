package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// job is what is read of a Job.
type job struct {
	Metadata struct {
		Name              string
		UID               string
		ResourceVersion   string
		CreationTimestamp time.Time
		DeletionTimestamp *time.Time
		Annotations       map[string]string
	}
	Spec   struct{ Suspend bool }
	Status struct {
		Conditions []struct{ Type, Status, Reason, Message string }
	}
}

// end returns how a Job ended, and whether it did.
func (j *job) end() (string, bool) {
	for _, c := range j.Status.Conditions {
		if c.Status != "True" {
			continue
		}
		switch c.Type {
		case "Complete":
			return "", true
		case "Failed":
			return fmt.Sprintf("%s: %.1000s", c.Reason, c.Message), true
		}
	}
	return "", false
}

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

// Start makes the Job of a run, with its Secret. The error is ErrExists if there is a Job for the run; another process may be starting it.
func (c *Cluster) Start(ctx context.Context, r *Run) error {
	in, err := c.Job(r, time.Now())
	if err != nil {
		return err
	}
	var made job
	switch err := c.create(ctx, "jobs", in, &made, false); {
	case refused(err, http.StatusConflict):
		return ErrExists
	case err != nil:
		return err
	}
	if err = c.begin(ctx, r, &made); err != nil { // it would wait for ever
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
		defer cancel()
		return errors.Join(err, c.Remove(ctx, r.ID))
	}
	return nil
}

// begin gives a Job its Secret, and lets it begin.
func (c *Cluster) begin(ctx context.Context, r *Run, made *job) error {
	secret, err := r.Secret(made.Metadata.UID)
	if err != nil {
		return err
	}
	if err := c.create(ctx, "secrets", secret, nil, false); err != nil {
		return err
	}
	return c.call(ctx, http.MethodPatch, c.path("jobs", made.Metadata.Name), url.Values{"fieldValidation": {"Strict"}}, "application/merge-patch+json",
		object{"metadata": object{"uid": made.Metadata.UID}, "spec": object{"suspend": false}}, nil)
}

// Remove ends the pod of a run, if there is one, and removes its Job and its Secret.
func (c *Cluster) Remove(ctx context.Context, run string) error {
	err := c.call(ctx, http.MethodDelete, c.path("jobs", Name(run)), nil, "application/json",
		object{"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground"}, nil)
	if refused(err, http.StatusNotFound) {
		return nil
	}
	return err
}

// Wait waits until the Job of a run has ended, and says why its pod failed; "" if it did not. The error is ErrGone if there is no such Job,
// or no longer.
func (c *Cluster) Wait(ctx context.Context, run string) (failed string, err error) {
	for {
		var now job
		err := c.call(ctx, http.MethodGet, c.path("jobs", Name(run)), nil, "", nil, &now)
		switch {
		case refused(err, http.StatusNotFound):
			return "", ErrGone
		case err != nil:
			return "", err
		}
		if failed, ended := now.end(); ended {
			return failed, nil
		}
		failed, err = c.watch(ctx, &now)
		if !errors.Is(err, errAgain) {
			return failed, err
		}
		select { // a server that ends each watch at once is not asked without a pause
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// errAgain means that a watch ended, and the Job has not.
var errAgain = errors.New("the watch ended")

// watch follows a Job from the state in which it was read.
func (c *Cluster) watch(ctx context.Context, from *job) (failed string, _ error) {
	body, err := c.send(ctx, http.MethodGet, c.path("jobs"), url.Values{"watch": {"1"}, "fieldSelector": {"metadata.name=" + from.Metadata.Name},
		"resourceVersion": {from.Metadata.ResourceVersion}, "timeoutSeconds": {"300"}}, "", nil)
	if refused(err, http.StatusGone) {
		return "", errAgain
	}
	if err != nil {
		return "", err
	}
	defer body.Close()
	limited := &io.LimitedReader{R: body}
	for d := json.NewDecoder(limited); ; {
		limited.N = maxAnswer
		var e struct {
			Type   string
			Object json.RawMessage
		}
		if err := d.Decode(&e); err != nil {
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			return "", errAgain
		}
		var now job
		switch e.Type {
		case "ERROR": // most often that the version is too old
			return "", errAgain
		case "DELETED":
			return "", ErrGone
		case "ADDED", "MODIFIED":
			if err := json.Unmarshal(e.Object, &now); err != nil {
				return "", err
			}
			if now.Metadata.UID != from.Metadata.UID {
				return "", ErrGone
			}
			if failed, ended := now.end(); ended {
				return failed, nil
			}
		}
	}
}

// Why says why the pod of a run does not begin, as far as the cluster knows: an image that cannot be had, no node with room, a quota. It is
// "" if nothing is known to be wrong.
func (c *Cluster) Why(ctx context.Context, run string) (string, error) {
	var pods struct {
		Items []struct {
			Status struct {
				Conditions        []struct{ Type, Status, Reason, Message string }
				ContainerStatuses []struct {
					State struct {
						Waiting *struct{ Reason, Message string }
					}
				}
			}
		}
	}
	if err := c.call(ctx, http.MethodGet, c.path("pods"), url.Values{"labelSelector": {"batch.kubernetes.io/job-name=" + Name(run)}}, "", nil, &pods); err != nil {
		return "", err
	}
	for _, p := range pods.Items {
		for _, s := range p.Status.ContainerStatuses {
			if w := s.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
				return strings.TrimSuffix(fmt.Sprintf("%s: %.1000s", w.Reason, w.Message), ": "), nil
			}
		}
		for _, k := range p.Status.Conditions {
			if k.Type == "PodScheduled" && k.Status == "False" {
				return fmt.Sprintf("%s: %.1000s", k.Reason, k.Message), nil
			}
		}
	}
	return "", nil
}

// Sweep removes Jobs that a process left before they began, after some time, and returns their runs.
func (c *Cluster) Sweep(ctx context.Context, after time.Duration) (runs []string, _ error) {
	var jobs struct{ Items []job }
	if err := c.call(ctx, http.MethodGet, c.path("jobs"), url.Values{"labelSelector": {labelName + "=" + component}}, "", nil, &jobs); err != nil {
		return nil, err
	}
	for _, j := range jobs.Items {
		run := j.Metadata.Annotations[noteRun]
		if !j.Spec.Suspend || j.Metadata.DeletionTimestamp != nil || time.Since(j.Metadata.CreationTimestamp) < after || Name(run) != j.Metadata.Name {
			continue
		}
		if err := c.Remove(ctx, run); err != nil {
			return runs, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}
