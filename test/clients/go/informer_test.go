package clients

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/pager"

	"context"
	"k8s.io/apimachinery/pkg/runtime"
)

// An informer gets its first state by a watch with sendInitialEvents (WatchList is on by default in client-go 0.36).
func TestInformer(t *testing.T) {
	client := kubernetes.NewForConfigOrDie(protobuf(t))
	ns := namespace(t, client, "go-informer")
	maps := client.CoreV1().ConfigMaps(ns)
	create := func(i int) {
		t.Helper()
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("map-%d", i), Labels: map[string]string{"of": "test"}}}
		if _, err := maps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		create(i)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(ns),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "of=test" }))
	informer := factory.Core().V1().ConfigMaps()
	var added, updated, deleted atomic.Int32
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(any, any) { updated.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer factory.Shutdown()
	defer cancel()
	factory.Start(ctx.Done())
	synced, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	if !cache.WaitForCacheSync(synced.Done(), informer.Informer().HasSynced) {
		t.Fatal("the informer has not synced within ten seconds")
	}
	if all, err := informer.Lister().ConfigMaps(ns).List(labels.Everything()); err != nil || len(all) != 30 {
		t.Fatalf("%d in the cache, %v", len(all), err)
	}
	create(30)
	live, err := maps.Get(t.Context(), "map-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live.Data = map[string]string{"changed": "yes"}
	if _, err := maps.Update(t.Context(), live, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	// An object that loses the label leaves what is watched.
	live, err = maps.Get(t.Context(), "map-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live.Labels = nil
	if _, err := maps.Update(t.Context(), live, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), "map-2", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "31 added, 1 updated, 2 deleted", func() bool {
		return added.Load() == 31 && updated.Load() == 1 && deleted.Load() == 2
	})
}

func TestPager(t *testing.T) {
	client := kubernetes.NewForConfigOrDie(protobuf(t))
	ns := namespace(t, client, "go-pager")
	for i := range 25 {
		object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("secret-%02d", i)}}
		if _, err := client.CoreV1().Secrets(ns).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return client.CoreV1().Secrets(ns).List(ctx, options)
	})
	pages.PageSize = 10
	seen := 0
	err := pages.EachListItem(t.Context(), metav1.ListOptions{}, func(runtime.Object) error { seen++; return nil })
	if err != nil || seen != 25 {
		t.Fatalf("%d seen, %v", seen, err)
	}
}

func TestLeaderElection(t *testing.T) {
	client := kubernetes.NewForConfigOrDie(protobuf(t))
	ns := namespace(t, client, "go-leader")
	leading := make(chan string, 2)
	stand := func(ctx context.Context, who string) {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Namespace: ns, Name: "leader"},
				Client:     client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: who},
			},
			LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leading <- who },
				OnStoppedLeading: func() {},
			},
		})
	}
	wait := func(who string) {
		t.Helper()
		select {
		case got := <-leading:
			if got != who {
				t.Fatalf("%s leads instead of %s", got, who)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s does not come to lead", who)
		}
	}
	first, resign := context.WithCancel(t.Context())
	defer resign()
	go stand(first, "first")
	wait("first")
	second, stop := context.WithCancel(t.Context())
	defer stop()
	go stand(second, "second")
	resign()
	wait("second")
}
