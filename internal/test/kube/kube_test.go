// Package kube asks Kubernetes' own code whether it takes what internal/fleet/kube makes: its strict decoding, its defaults, its validation
// and the level "restricted" of Pod Security. It is a module of its own, for nothing else needs that code.
package kube

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/apis/batch"
	batchconvert "k8s.io/kubernetes/pkg/apis/batch/v1"
	batchcheck "k8s.io/kubernetes/pkg/apis/batch/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	coreconvert "k8s.io/kubernetes/pkg/apis/core/v1"
	corecheck "k8s.io/kubernetes/pkg/apis/core/validation"
	psa "k8s.io/pod-security-admission/api"
	podsecurity "k8s.io/pod-security-admission/policy"
	kjson "sigs.k8s.io/json"

	"github.com/agent-base/agent-base/internal/fleet/kube"
)

type object = map[string]any

// spec is that of the test's pods, with all that a Spec can say.
var spec = kube.Spec{Image: "registry.example/agent@sha256:" + strings.Repeat("0", 64), Args: []string{"worker"}, RuntimeClass: "gvisor", CPU: "500m", Memory: "512Mi", Disk: "256Mi"}

func job(t *testing.T) object {
	t.Helper()
	now := time.Now()
	j, err := spec.Job(&kube.Run{ID: "First", Tenant: "Team Ä/..", Until: now.Add(time.Hour)}, now)
	if err != nil {
		t.Fatal(err)
	}
	j["metadata"].(object)["namespace"] = "runs" // the server takes it from the path
	return again(t, j).(object)
}

// again returns what a server reads of v.
func again(t *testing.T, v any) (out any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// strict decodes an object as a server does that is asked to be strict, and returns what it complains about.
func strict(t *testing.T, v, into any) (complaints []string) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	errs, err := kjson.UnmarshalStrict(b, into)
	if err != nil {
		errs = append(errs, err)
	}
	for _, e := range errs {
		complaints = append(complaints, e.Error())
	}
	return complaints
}

// judge returns what Kubernetes has against a Job.
func judge(t *testing.T, v object) (complaints []string) {
	t.Helper()
	var j batchv1.Job
	if complaints := strict(t, v, &j); len(complaints) > 0 {
		return complaints
	}
	batchconvert.SetObjectDefaults_Job(&j)
	var in batch.Job
	if err := batchconvert.Convert_v1_Job_To_batch_Job(&j, &in, nil); err != nil {
		return []string{err.Error()}
	}
	byHand := true // in its place the server makes a selector
	in.Spec.ManualSelector = &byHand
	for _, e := range batchcheck.ValidateJob(&in, batchcheck.JobValidationOptions{}) {
		if e.Field != "spec.selector" && e.Field != "spec.template.metadata.labels" {
			complaints = append(complaints, e.Error())
		}
	}
	if why := restricted(t, &j.Spec.Template.ObjectMeta, &j.Spec.Template.Spec); why != "" {
		complaints = append(complaints, why)
	}
	return complaints
}

// restricted returns what the level "restricted" has against a pod.
func restricted(t *testing.T, meta *metav1.ObjectMeta, spec *corev1.PodSpec) string {
	t.Helper()
	evaluator, err := podsecurity.NewEvaluator(podsecurity.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := psa.LevelVersion{Level: psa.LevelRestricted, Version: psa.LatestVersion()}
	if r := podsecurity.AggregateCheckResults(evaluator.EvaluatePod(level, meta, spec)); !r.Allowed {
		return r.ForbiddenDetail()
	}
	return ""
}

func TestJob(t *testing.T) {
	pod := func(j object) object { return j["spec"].(object)["template"].(object)["spec"].(object) }
	container := func(j object) object { return pod(j)["containers"].([]any)[0].(object) }
	for _, row := range []struct {
		name string
		edit func(j object)
		want string // that it is refused for; "" if it is taken
	}{
		{"as it is", func(object) {}, ""},
		{"without seccomp", func(j object) { delete(pod(j)["securityContext"].(object), "seccompProfile") }, "seccompProfile"},
		{"with capabilities", func(j object) { delete(container(j)["securityContext"].(object), "capabilities") }, "unrestricted capabilities"},
		{"as root of the node", func(j object) { // with users of its own it may be root of those
			delete(pod(j), "hostUsers")
			pod(j)["securityContext"].(object)["runAsUser"] = 0
		}, "runAsUser=0"},
		{"with more rights later", func(j object) {
			container(j)["securityContext"].(object)["allowPrivilegeEscalation"] = true
		}, "allowPrivilegeEscalation"},
		{"with the network of the node", func(j object) { pod(j)["hostNetwork"] = true }, "host namespaces"},
		{"with a folder of the node", func(j object) {
			pod(j)["volumes"] = append(pod(j)["volumes"].([]any), object{"name": "h", "hostPath": object{"path": "/"}})
		}, "hostPath"},
		{"with an unknown key", func(j object) { pod(j)["automountServiceAccountTokens"] = false }, "unknown field"},
		{"started again", func(j object) { pod(j)["restartPolicy"] = "Always" }, "restartPolicy"},
		{"with a name that is none", func(j object) { j["metadata"].(object)["name"] = "R/1" }, "metadata.name"},
		{"with a label that is none", func(j object) {
			j["metadata"].(object)["labels"].(object)["agent-base.github.io/tenant"] = "Team Ä"
		}, "metadata.labels"},
		{"with an amount that is none", func(j object) {
			container(j)["resources"].(object)["limits"].(object)["memory"] = "-1"
		}, "memory"},
		{"with two mounts at one place", func(j object) {
			for _, m := range container(j)["volumeMounts"].([]any) {
				m.(object)["mountPath"] = "/x"
			}
		}, "mountPath"},
	} {
		t.Run(row.name, func(t *testing.T) {
			j := job(t)
			row.edit(j)
			got := strings.Join(judge(t, j), "\n")
			if (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
				t.Errorf("Kubernetes says %q, want %q", got, row.want)
			}
		})
	}
}

func TestSecret(t *testing.T) {
	look := func(o any) string {
		var s corev1.Secret
		complaints := strict(t, o, &s)
		var in core.Secret
		if err := coreconvert.Convert_v1_Secret_To_core_Secret(&s, &in, nil); err != nil {
			t.Fatal(err)
		}
		for _, e := range corecheck.ValidateSecret(&in) {
			complaints = append(complaints, e.Error())
		}
		return strings.Join(complaints, "\n")
	}
	run := &kube.Run{ID: "First", Tenant: "Team Ä/..", Files: map[string][]byte{"creds": []byte("x"), "server": []byte("y")}}
	made, err := run.Secret("5d3c0b42-0000-0000-0000-000000000000")
	if err != nil {
		t.Fatal(err)
	}
	made["metadata"].(object)["namespace"] = "runs"
	if got := look(made); got != "" {
		t.Error(got)
	}
	made["data"] = object{"a/b": "eA=="}
	if got := look(made); !strings.Contains(got, "a/b") {
		t.Errorf("a file in a folder: %q", got)
	}
}
