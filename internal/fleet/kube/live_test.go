package kube

import (
	"os"
	"testing"
	"time"
)

// TestLive does with a real API server what TestStart and TestWhy do with one of their own. It needs one that makes no pods, or may try:
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
	c, err := New(&Options{API: api, Namespace: namespace, Token: func() (string, error) { return token, nil }, CA: ca}, &Spec{Image: digest, CPU: "500m", Memory: "256Mi", Disk: "256Mi"})
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.call(t.Context(), "POST", "/api/v1/namespaces", nil, object{"apiVersion": "v1", "kind": "Namespace",
		"metadata": object{"name": namespace, "labels": object{"pod-security.kubernetes.io/enforce": "restricted"}}}, nil))
	_ = c.create(t.Context(), "serviceaccounts", object{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": object{"name": "default"}}, nil, false) // a controller makes it, if there is one
	must(c.Check(t.Context()))
	for range 2 {
		must(c.Start(t.Context(), run()))
	}
	made, err := c.read(t.Context(), "First")
	must(err)
	var secret struct {
		Metadata struct{ OwnerReferences []struct{ UID string } }
		Data     map[string][]byte
	}
	must(c.call(t.Context(), "GET", c.path("secrets", Name("First")), nil, nil, &secret))
	if string(secret.Data["creds"]) != "s3cret" || secret.Metadata.OwnerReferences[0].UID != made.Metadata.UID {
		t.Errorf("the secret is %+v", secret)
	}
	if why, over, err := c.Why(t.Context(), "First"); err != nil || over {
		t.Errorf("%q, %v, %v", why, over, err)
	}
	must(c.Stop(t.Context(), "First"))
	must(c.Stop(t.Context(), "Second"))
}
