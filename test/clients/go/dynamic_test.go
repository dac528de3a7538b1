package clients

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"
)

func TestDiscovery(t *testing.T) {
	client := discovery.NewDiscoveryClientForConfigOrDie(config(t))
	groups, lists, err := client.ServerGroupsAndResources()
	if err != nil || len(groups) < 20 {
		t.Fatalf("%d groups, %v", len(groups), err)
	}
	count := 0
	for _, list := range lists {
		count += len(list.APIResources)
	}
	if count < 68 {
		t.Errorf("only %d resources", count)
	}
	version, err := client.ServerVersion()
	if err != nil || version.Major != "1" {
		t.Errorf("version %v, %v", version, err)
	}
	if document, err := client.OpenAPISchema(); err != nil || len(document.GetDefinitions().GetAdditionalProperties()) < 500 {
		t.Errorf("OpenAPI v2 in protobuf: %v", err)
	}
	if paths, err := client.OpenAPIV3().Paths(); err != nil || paths["apis/apps/v1"] == nil {
		t.Errorf("OpenAPI v3: %v", err)
	}
}

// Every resource that discovery names and the table has, through the dynamic client and the one for metadata.
func TestDynamicClientWithEveryResource(t *testing.T) {
	config := config(t)
	typed := kubernetes.NewForConfigOrDie(config)
	client := dynamic.NewForConfigOrDie(config)
	partial := metadata.NewForConfigOrDie(config)
	ns := namespace(t, typed, "go-dynamic")
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(typed.Discovery()))
	for id, content := range minimalObjects(t, ns) {
		t.Run(strings.ReplaceAll(id, "/", "_"), func(t *testing.T) {
			object := &unstructured.Unstructured{Object: content}
			kind := object.GroupVersionKind()
			mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
			if err != nil {
				t.Fatal(err)
			}
			where := ""
			if mapping.Scope.Name() == "namespace" {
				where = ns
			}
			resource := client.Resource(mapping.Resource).Namespace(where)
			made, err := resource.Create(t.Context(), object, metav1.CreateOptions{FieldValidation: "Strict"})
			if err != nil {
				t.Fatal(err)
			}
			if made.GetKind() != kind.Kind {
				t.Errorf("want %s, got %s", kind.Kind, made.GetKind())
			}
			if strings.HasSuffix(id, "reviews") {
				return // answers, not objects
			}
			metadatas, err := partial.Resource(mapping.Resource).Namespace(where).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, item := range metadatas.Items {
				found = found || item.UID == made.GetUID()
			}
			if !found {
				t.Errorf("%s is not among %d", made.GetName(), len(metadatas.Items))
			}
			zero := int64(0)
			if err := resource.Delete(t.Context(), made.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
				t.Fatal(err)
			}
			// Some wait for a finalizer first.
			after, err := resource.Get(t.Context(), made.GetName(), metav1.GetOptions{})
			if !apierrors.IsNotFound(err) && (err != nil || after.GetDeletionTimestamp() == nil) {
				t.Errorf("not deleted: %v, %v", after, err)
			}
		})
	}
}
