package clients

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "example.com/copied"

// copier keeps a Secret of the same name and content for every ConfigMap with the label.
type copier struct{ client.Client }

func (c copier) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	source := &corev1.ConfigMap{}
	if err := c.Get(ctx, request.NamespacedName, source); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if source.Labels["copy"] != "yes" {
		return ctrl.Result{}, nil
	}
	copied := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: source.Name}}
	if source.DeletionTimestamp != nil {
		if err := client.IgnoreNotFound(c.Delete(ctx, copied)); err != nil {
			return ctrl.Result{}, err
		}
		controllerutil.RemoveFinalizer(source, finalizer)
		return ctrl.Result{}, c.Update(ctx, source)
	}
	if controllerutil.AddFinalizer(source, finalizer) {
		if err := c.Update(ctx, source); err != nil {
			return ctrl.Result{}, err
		}
	}
	_, err := controllerutil.CreateOrUpdate(ctx, c.Client, copied, func() error {
		copied.StringData = source.Data
		return controllerutil.SetControllerReference(source, copied, c.Scheme())
	})
	return ctrl.Result{}, err
}

func TestControllerRuntimeManager(t *testing.T) {
	ctrl.SetLogger(klog.NewKlogr())
	typed := kubernetes.NewForConfigOrDie(config(t))
	ns := namespace(t, typed, "go-manager")
	manager, err := ctrl.NewManager(config(t), ctrl.Options{
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
		// A controller elects its leader with a Lease, and tells of it with an Event.
		LeaderElection: true, LeaderElectionID: "copier", LeaderElectionNamespace: ns, LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	err = ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(copier{manager.GetClient()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- manager.Start(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()

	maps, secrets := typed.CoreV1().ConfigMaps(ns), typed.CoreV1().Secrets(ns)
	source := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "source", Labels: map[string]string{"copy": "yes"}},
		Data:       map[string]string{"a": "1"},
	}
	if _, err := maps.Create(t.Context(), source, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	holds := func(value string) func() bool {
		return func() bool {
			secret, err := secrets.Get(t.Context(), "source", metav1.GetOptions{})
			return err == nil && string(secret.Data["a"]) == value && metav1.GetControllerOf(secret).Name == "source"
		}
	}
	eventually(t, "a copy", holds("1"))
	// A copy that somebody spoils is made good: the manager watches what it owns.
	if err := secrets.Delete(t.Context(), "source", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a new copy", holds("1"))
	if err := maps.Delete(t.Context(), "source", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "source and copy gone", func() bool {
		_, noMap := maps.Get(t.Context(), "source", metav1.GetOptions{})
		_, noSecret := secrets.Get(t.Context(), "source", metav1.GetOptions{})
		return apierrors.IsNotFound(noMap) && apierrors.IsNotFound(noSecret)
	})
}
