package kube

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	appscheck "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corecheck "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/networking"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	networkingcheck "k8s.io/kubernetes/pkg/apis/networking/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	policycheck "k8s.io/kubernetes/pkg/apis/policy/validation"
	"k8s.io/kubernetes/pkg/apis/rbac"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	rbaccheck "k8s.io/kubernetes/pkg/apis/rbac/validation"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/agent-base/agent-base/internal/fleet/kube"
	"github.com/agent-base/agent-base/internal/test/kubetest"
)

// built returns the objects of a folder of deploy/kubernetes, after an edit of its files, and what Kubernetes has against them.
func built(t *testing.T, folder string, edit *strings.Replacer) (objects []runtime.Object, complaints []string) {
	t.Helper()
	const root = "../../../deploy/kubernetes"
	files := filesys.MakeFsInMemory()
	edited := false
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		out := edit.Replace(string(text))
		edited = edited || out != string(text)
		return files.WriteFile("/"+name, []byte(out))
	})
	if err != nil {
		t.Fatal(err)
	}
	if !edited && edit != nothing {
		t.Fatal("the edit changes nothing")
	}
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/"+folder)
	if err != nil {
		return nil, []string{err.Error()}
	}
	decoder := serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, r := range made.Resources() {
		text, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		o, _, err := decoder.Decode(text, nil, nil)
		if err != nil {
			complaints = append(complaints, fmt.Sprint(r.CurId(), ": ", err))
			continue
		}
		objects = append(objects, o)
		legacyscheme.Scheme.Default(o)
		in, err := legacyscheme.Scheme.ConvertToVersion(o, runtime.InternalGroupVersioner)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range check(t, in) {
			complaints = append(complaints, fmt.Sprint(r.CurId(), ": ", e))
		}
		if s, ok := o.(*appsv1.StatefulSet); ok {
			if why := restricted(t, &s.Spec.Template.ObjectMeta, &s.Spec.Template.Spec); why != "" {
				complaints = append(complaints, why)
			}
		}
	}
	return objects, complaints
}

var nothing = strings.NewReplacer()

// check asks Kubernetes about an object.
func check(t *testing.T, o runtime.Object) field.ErrorList {
	t.Helper()
	switch o := o.(type) {
	case *core.Namespace:
		return corecheck.ValidateNamespace(o)
	case *core.ServiceAccount:
		return corecheck.ValidateServiceAccount(o)
	case *core.ConfigMap:
		return corecheck.ValidateConfigMap(o)
	case *core.Service:
		if o.Spec.ClusterIP == "" { // the server gives it one
			o.Spec.ClusterIP, o.Spec.ClusterIPs = "10.0.0.1", []string{"10.0.0.1"}
			o.Spec.IPFamilies = []core.IPFamily{core.IPv4Protocol}
		} else {
			o.Spec.ClusterIPs = []string{o.Spec.ClusterIP}
		}
		return corecheck.ValidateServiceCreate(o)
	case *core.ResourceQuota:
		return corecheck.ValidateResourceQuota(o)
	case *apps.StatefulSet:
		return appscheck.ValidateStatefulSet(o, corecheck.PodValidationOptions{})
	case *policy.PodDisruptionBudget:
		return policycheck.ValidatePodDisruptionBudget(o, policycheck.PodDisruptionBudgetValidationOptions{})
	case *networking.NetworkPolicy:
		return networkingcheck.ValidateNetworkPolicy(o, networkingcheck.NetworkPolicyValidationOptions{})
	case *rbac.Role:
		return rbaccheck.ValidateRole(o)
	case *rbac.RoleBinding:
		return rbaccheck.ValidateRoleBinding(o)
	}
	t.Errorf("nothing looks at a %T", o)
	return nil
}

// of returns the objects of a type.
func of[T runtime.Object](objects []runtime.Object) (out []T) {
	for _, o := range objects {
		if o, ok := o.(T); ok {
			out = append(out, o)
		}
	}
	return out
}

// TestManifests: Kubernetes takes what deploy/kubernetes has, and not what is broken.
func TestManifests(t *testing.T) {
	for _, row := range []struct {
		folder   string
		old, new string // "" for as it is
		want     string // that it is refused for; "" if it is taken
	}{
		{"base", "", "", ""},
		{"jobs", "", "", ""},
		{"workers", "", "", ""},
		{"base", "podManagementPolicy: Parallel", "podManagement: Parallel", "unknown field"},
		{"base", "defaultMode: 0440", "defaultMode: 0999", "defaultMode"},
		{"base", "drop: [ALL]", "drop: [KILL]", "unrestricted capabilities"},
		{"base", "seccompProfile: {type: RuntimeDefault}", "seccompProfile: {type: Unconfined}", "seccompProfile"},
		{"base", "{name: health, containerPort: 8081}", "{name: health, containerPort: 80810}", "containerPort"},
		{"base", "{name: secrets, mountPath", "{name: secret, mountPath", "volumeMounts"},
		{"base", "requests: {storage: 10Gi}", "requests: {storage: ten}", "quantities"},
		{"base", "maxUnavailable: 1", "maxUnavailable: -1", "maxUnavailable"},
		{"base", "port: 6222}]", "port: 6222, protocol: IP}]", "protocol"},
		{"base", "policyTypes: [Ingress]", "policyTypes: [In]", "policyTypes"},
		{"jobs", "kind: Role, name: agent", "kind: Rule, name: agent", "roleRef"},
		{"jobs", "verbs: [list]", "verbs: []", "verbs"},
		{"jobs", `hard: {pods: "100"}`, `hard: {pods: "-1"}`, "pods"},
		{"jobs", "behavior: merge", "behavior: create", "merging"},
		{"jobs", "name=AGENT_SERVE_POD_IMAGE", "name=AGENT_POD_IMAGE", "AGENT_POD_IMAGE"},
		{"workers", "hostUsers: false", "hostNetwork: true", "host namespaces"},
	} {
		edit := nothing
		if row.old != "" {
			edit = strings.NewReplacer(row.old, row.new)
		}
		_, complaints := built(t, row.folder, edit)
		got := strings.Join(complaints, "\n")
		if (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
			t.Errorf("%s with %q: %q, want %q", row.folder, row.new, got, row.want)
		}
	}
}

// TestManifestsAgree: what names something in another object names what is there.
func TestManifestsAgree(t *testing.T) {
	for _, folder := range []string{"jobs", "workers"} {
		objects, _ := built(t, folder, nothing)
		if found := disagree(objects); len(found) > 0 {
			t.Errorf("%s: %s", folder, strings.Join(found, "\n"))
		}
	}
	for old, new := range map[string]string{
		"serviceName: agent-nodes":                                        "serviceName: agent",
		"selector: {app.kubernetes.io/name: agent-serve}":                 "selector: {app.kubernetes.io/name: agent}",
		"labels: {app.kubernetes.io/name: agent-serve}":                   "labels: {app.kubernetes.io/name: agent}",
		"[{port: 4222}]":                                                  "[{port: 4223}]",
		"{name: workers, port: 4222}":                                     "{name: workers, port: 4223}",
		"targetPort: http":                                                "targetPort: web",
		"configMapRef: {name: agent}":                                     "configMapRef: {name: agent-config}",
		"{matchLabels: {kubernetes.io/metadata.name: agent-runs}}":        "{matchLabels: {kubernetes.io/metadata.name: runs}}",
		"          podSelector: {matchLabels: {app.kubernetes.io/name: a": "          podSelector: {matchLabels: {app.kubernetes.io/name: b",
		"agent-2.agent-nodes":                                             "agent-3.agent-nodes",
		"policyTypes: [Ingress, Egress]":                                  "policyTypes: [Egress]",
	} {
		objects, complaints := built(t, "jobs", strings.NewReplacer(old, new))
		if len(disagree(objects)) == 0 && len(complaints) == 0 {
			t.Errorf("nothing is wrong with %q", new)
		}
	}
}

// disagree returns what names something that does not exist.
func disagree(objects []runtime.Object) (found []string) {
	miss := func(format string, a ...any) { found = append(found, fmt.Sprintf(format, a...)) }
	services, policies, configs := of[*corev1.Service](objects), of[*networkingv1.NetworkPolicy](objects), of[*corev1.ConfigMap](objects)
	pods := map[string]*corev1.PodTemplateSpec{}
	for _, s := range of[*appsv1.StatefulSet](objects) {
		pods[s.Name] = &s.Spec.Template
		if !labels.SelectorFromSet(s.Spec.Selector.MatchLabels).Matches(labels.Set(s.Spec.Template.Labels)) {
			miss("%s does not select its pods", s.Name)
		}
		if s.Name == "agent" && !slices.ContainsFunc(services, func(of *corev1.Service) bool { return of.Name == s.Spec.ServiceName && of.Spec.ClusterIP == "None" }) {
			miss("%s is in no Service %s", s.Name, s.Spec.ServiceName)
		}
		for _, c := range slices.Concat(s.Spec.Template.Spec.InitContainers, s.Spec.Template.Spec.Containers) {
			for _, from := range c.EnvFrom {
				if !slices.ContainsFunc(configs, func(m *corev1.ConfigMap) bool { return m.Name == from.ConfigMapRef.Name }) {
					miss("%s of %s has no %s", c.Name, s.Name, from.ConfigMapRef.Name)
				}
			}
		}
	}
	serve := pods["agent"]
	ports := map[string]int32{}
	for _, p := range serve.Spec.Containers[0].Ports {
		ports[p.Name] = p.ContainerPort
	}
	for _, s := range services {
		if !labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(serve.Labels)) {
			miss("the Service %s selects no server", s.Name)
		}
		for _, p := range s.Spec.Ports {
			if port := ports[p.TargetPort.StrVal]; port != p.Port && p.TargetPort.IntVal != p.Port || ports[p.Name] != p.Port {
				miss("the Service %s has a port %s that no server has", s.Name, p.Name)
			}
		}
	}
	for _, m := range configs {
		nodes := strings.Split(m.Data["AGENT_SERVE_NODES"], ",")
		for i, n := range nodes {
			if n != fmt.Sprintf("agent-%d.agent-nodes.agent.svc.cluster.local:%d", i, ports["nodes"]) || len(nodes) != 3 {
				miss("there is no server %s", n)
			}
		}
	}
	return append(found, policiesMiss(policies, of[*corev1.Namespace](objects), serve, ports)...)
}

// policiesMiss returns what keeps runs and servers apart that are to meet.
func policiesMiss(policies []*networkingv1.NetworkPolicy, spaces []*corev1.Namespace, serve *corev1.PodTemplateSpec, ports map[string]int32) (found []string) {
	in, out := false, false
	for _, p := range policies {
		for _, rule := range p.Spec.Ingress {
			for _, from := range rule.From {
				in = in || from.NamespaceSelector != nil && has(from.NamespaceSelector, map[string]string{"kubernetes.io/metadata.name": "agent-runs"}) && rule.Ports[0].Port.IntVal == ports["workers"]
			}
		}
		for _, rule := range p.Spec.Egress {
			for _, to := range rule.To {
				out = out || has(to.NamespaceSelector, map[string]string{"kubernetes.io/metadata.name": "agent"}) && has(to.PodSelector, serve.Labels) && rule.Ports[0].Port.IntVal == ports["workers"]
			}
		}
		if p.Namespace == "agent-runs" && (len(p.Spec.PolicyTypes) != 2 || len(p.Spec.Ingress) > 0 || len(p.Spec.PodSelector.MatchLabels) > 0) {
			found = append(found, "something comes in where scripts run")
		}
	}
	if !in || !out || len(spaces) != 2 {
		found = append(found, "runs do not reach the servers")
	}
	return found
}

func has(s *metav1.LabelSelector, set map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && !selector.Empty() && selector.Matches(labels.Set(set))
}

// TestRights: the servers may do what they do, and nothing else.
func TestRights(t *testing.T) {
	k := kubetest.New()
	defer k.Close()
	c, err := kube.New(&kube.Options{API: k.URL, Namespace: "runs", Token: func() (string, error) { return k.Token, nil }, CA: k.CA}, &spec)
	if err != nil {
		t.Fatal(err)
	}
	run := &kube.Run{ID: "First", Until: time.Now().Add(time.Hour)}
	for _, do := range []func() error{
		func() error { return c.Check(t.Context()) },
		func() error { return c.Start(t.Context(), run) },
		func() error { return c.Start(t.Context(), run) },
		func() error { _, _, err := c.Why(t.Context(), "First"); return err },
		func() error { return c.Stop(t.Context(), "First") },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	objects, _ := built(t, "jobs", nothing)
	may := map[string]bool{}
	for _, role := range of[*rbacv1.Role](objects) {
		for _, rule := range role.Rules {
			for _, verb := range rule.Verbs {
				may[verb+" "+strings.Join(rule.Resources, ",")] = true
			}
		}
	}
	does := map[string]bool{}
	for _, call := range k.Calls() {
		does[call] = true
	}
	if !maps.Equal(may, does) {
		t.Errorf("the servers may %v, and do %v", may, does)
	}
}
