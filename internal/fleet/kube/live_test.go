package kube

import (
	"errors"
	"os"
	"testing"
	"time"
)

// TestLive does with a real API server what TestStart and TestWait do with one of their own. It needs one that makes no pods, or may try:
// AGENT_TEST_KUBE is its address, AGENT_TEST_KUBE_TOKEN the token of an administrator, AGENT_TEST_KUBE_CA the file of its certificate.
func TestLive(t *testing.T) {
	api, token := os.Getenv("AGENT_TEST_KUBE"), os.Getenv("AGENT_TEST_KUBE_TOKEN")
	if api == "" {
		t.Skip("AGENT_TEST_KUBE names no API server: see CONTRIBUTING.md")
	}
	ca, err := os.ReadFile(os.Getenv("AGENT_TEST_KUBE_CA"))
	if err != nil {
		t.Fatal(err)
	}
	namespace := "runs-" + short(time.Now().String())[:8]
	c, err := New(&Options{API: api, Namespace: namespace, Token: func() (string, error) { return token, nil }, CA: ca}, &Spec{Image: digest})
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.call(t.Context(), "POST", "/api/v1/namespaces", nil, "application/json", object{"apiVersion": "v1", "kind": "Namespace",
		"metadata": object{"name": namespace, "labels": object{"pod-security.kubernetes.io/enforce": "restricted"}}}, nil))
	_ = c.create(t.Context(), "serviceaccounts", object{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": object{"name": "default"}}, nil, false) // a controller makes it, if there is one
	must(c.Check(t.Context()))
	must(c.Start(t.Context(), run()))
	if err := c.Start(t.Context(), run()); !errors.Is(err, ErrExists) {
		t.Errorf("a second one: %v", err)
	}
	var made job
	must(c.call(t.Context(), "GET", c.path("jobs", Name("First")), nil, "", nil, &made))
	if made.Spec.Suspend {
		t.Error("the Job does not begin")
	}
	var secret struct {
		Metadata struct{ OwnerReferences []struct{ UID string } }
		Data     map[string][]byte
	}
	must(c.call(t.Context(), "GET", c.path("secrets", Name("First")), nil, "", nil, &secret))
	if string(secret.Data["creds"]) != "s3cret" || secret.Metadata.OwnerReferences[0].UID != made.Metadata.UID {
		t.Errorf("the secret is %+v", secret)
	}
	if why, err := c.Why(t.Context(), "First"); err != nil {
		t.Errorf("%q, %v", why, err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := c.Wait(t.Context(), "First")
		ended <- err
	}()
	time.Sleep(time.Second) // it watches by then, or asks later; both end
	must(c.call(t.Context(), "DELETE", c.path("jobs", Name("First")), nil, "application/json", object{"propagationPolicy": "Background"}, nil))
	if err := <-ended; !errors.Is(err, ErrGone) {
		t.Errorf("Wait: %v", err)
	}
	for i, at := range []time.Duration{0, time.Hour} { // one that is left, and one that may still begin
		left := run()
		left.ID = []string{"Left", "New"}[i]
		j, err := c.Job(left, time.Now())
		must(err)
		must(c.create(t.Context(), "jobs", j, nil, false))
		got, err := c.Sweep(t.Context(), at)
		if err != nil || len(got) != 1-i {
			t.Errorf("swept %v, %v", got, err)
		}
	}
	must(c.Remove(t.Context(), "New"))
}
