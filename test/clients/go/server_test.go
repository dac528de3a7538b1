// Package clients drives a Kubernetes API server with the Go libraries that most of its users are written in. The
// server is the one of $KUBECONFIG.
package clients

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// config is that of $KUBECONFIG, without client-side limits on the rate of requests.
func config(t *testing.T) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

// protobuf is the same, speaking protobuf as Kubernetes' own components do.
func protobuf(t *testing.T) *rest.Config {
	config := config(t)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return config
}

// namespace makes one for a test, deleted at its end.
func namespace(t *testing.T, client kubernetes.Interface, name string) string {
	t.Helper()
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{})
	})
	return name
}

// minimalObjects is the table that all client libraries share, by group/version/resource.
func minimalObjects(t *testing.T, namespace string) map[string]map[string]any {
	t.Helper()
	text, err := os.ReadFile("../minimal-objects.json")
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]map[string]any{}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), "${NAMESPACE}", namespace)), &objects); err != nil {
		t.Fatal(err)
	}
	return objects
}

// eventually fails the test where the condition does not come to hold within ten seconds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("not within ten seconds: %s", what)
}
