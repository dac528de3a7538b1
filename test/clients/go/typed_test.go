package clients

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

func TestTypedClientInProtobuf(t *testing.T) {
	client := kubernetes.NewForConfigOrDie(protobuf(t))
	ns := namespace(t, client, "go-typed")
	deployments := client.AppsV1().Deployments(ns)
	replicas := int32(3)
	labels := map[string]string{"app": "web"}
	made, err := deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "c", Image: "nginx",
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1500m")}},
				}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if made.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyAlways || made.Generation != 1 {
		t.Errorf("defaults are missing: %+v", made)
	}

	scale, err := deployments.GetScale(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scale.Spec.Replicas = 5
	if _, err := deployments.UpdateScale(t.Context(), "web", scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	// What was read before the scaling is stale now.
	made.Annotations = map[string]string{"a": "b"}
	if _, err := deployments.Update(t.Context(), made, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("want a conflict, got %v", err)
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		live, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		live.Status = appsv1.DeploymentStatus{ObservedGeneration: live.Generation, Replicas: 5}
		_, err = deployments.UpdateStatus(t.Context(), live, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	patched, err := deployments.Patch(t.Context(), "web", types.StrategicMergePatchType,
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"busybox"}]}}}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(patched.Spec.Template.Spec.Containers) != 2 || *patched.Spec.Replicas != 5 || patched.Status.Replicas != 5 {
		t.Errorf("patched wrongly: %+v", patched)
	}

	list, err := deployments.List(t.Context(), metav1.ListOptions{LabelSelector: "app=web", FieldSelector: "metadata.name=web"})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("want one deployment, got %v, %v", list, err)
	}
	if err := deployments.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := deployments.Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("want not found, got %v", err)
	}
}

func TestServerSideApplyFromApplyConfigurations(t *testing.T) {
	client := kubernetes.NewForConfigOrDie(protobuf(t))
	ns := namespace(t, client, "go-apply")
	maps := client.CoreV1().ConfigMaps(ns)
	apply := func(manager, key, value string, force bool) (*corev1.ConfigMap, error) {
		return maps.Apply(t.Context(), applycorev1.ConfigMap("shared", ns).WithData(map[string]string{key: value}),
			metav1.ApplyOptions{FieldManager: manager, Force: force})
	}
	if _, err := apply("one", "a", "1", false); err != nil {
		t.Fatal(err)
	}
	if _, err := apply("two", "b", "2", false); err != nil {
		t.Fatal(err)
	}
	if _, err := apply("two", "a", "other", false); !apierrors.IsConflict(err) {
		t.Errorf("want a conflict of managers, got %v", err)
	}
	both, err := apply("two", "a", "other", true)
	if err != nil {
		t.Fatal(err)
	}
	if len(both.Data) != 1 || both.Data["a"] != "other" {
		t.Errorf("what an applier leaves out goes, got %v", both.Data)
	}
	extracted, err := applycorev1.ExtractConfigMap(both, "two")
	if err != nil || extracted.Data["a"] != "other" {
		t.Errorf("managedFields can't be read back: %v, %v", extracted, err)
	}
}
