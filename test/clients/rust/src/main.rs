//! kube-rs against the server of $KUBECONFIG: typed, dynamic, apply, finalizers, a reflector's watch.

use std::{error::Error, pin::pin, time::Duration};

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
    discovery::Discovery,
    runtime::{WatchStreamExt, watcher},
    Client, ResourceExt,
};
use serde_json::json;

const NAMESPACE: &str = "rust";

type Outcome = Result<(), Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let client = Client::try_default().await?;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace = serde_json::from_value(json!({"metadata": {"name": NAMESPACE}}))?;
    namespaces.create(&PostParams::default(), &namespace).await?;
    typed(client.clone()).await?;
    dynamic(client.clone()).await?;
    watched(client.clone()).await?;
    namespaces.delete(NAMESPACE, &DeleteParams::default()).await?;
    println!("kube-rs: all passed");
    Ok(())
}

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"a": "1"}})).expect("a config map")
}

async fn typed(client: Client) -> Outcome {
    let maps: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
    let made = maps.create(&PostParams::default(), &config_map("typed")).await?;
    assert!(made.uid().is_some());
    match maps.create(&PostParams::default(), &config_map("typed")).await {
        Err(kube::Error::Api(status)) => assert_eq!((status.code, status.reason.as_str()), (409, "AlreadyExists")),
        other => panic!("want AlreadyExists, got {other:?}"),
    }
    let patch = json!({"data": {"b": "2"}});
    let patched = maps.patch("typed", &PatchParams::default(), &Patch::Merge(patch)).await?;
    assert_eq!(patched.data.expect("data").len(), 2);
    let page = maps.list(&ListParams::default().fields("metadata.name=typed").limit(1)).await?;
    assert_eq!(page.items.len(), 1);
    maps.delete("typed", &DeleteParams::default()).await?;
    assert!(maps.get_opt("typed").await?.is_none());
    Ok(())
}

async fn dynamic(client: Client) -> Outcome {
    let discovery = Discovery::new(client.clone()).run_aggregated().await?;
    assert!(discovery.groups().count() > 20);
    let kind = GroupVersionKind::gvk("apps", "v1", "Deployment");
    let (resource, _): (ApiResource, _) = discovery.resolve_gvk(&kind).ok_or("no deployments in discovery")?;
    let deployments: Api<DynamicObject> = Api::namespaced_with(client, NAMESPACE, &resource);
    let body = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "nginx"}]},
            },
        },
    });
    for _ in 0..2 {
        let applied = deployments.patch("web", &PatchParams::apply("kube-rs"), &Patch::Apply(&body)).await?;
        assert_eq!(applied.data["spec"]["replicas"], 1);
        assert_eq!(applied.managed_fields().len(), 1);
    }
    deployments.delete("web", &DeleteParams::default()).await?;
    Ok(())
}

async fn watched(client: Client) -> Outcome {
    let maps: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
    maps.create(&PostParams::default(), &config_map("before")).await?;
    // The first state comes from the watch itself.
    let config = watcher::Config::default().streaming_lists().fields("metadata.name!=kube-root-ca.crt");
    let mut events = pin!(watcher(maps.clone(), config).applied_objects());
    let next = async {
        let first = events.try_next().await?.ok_or("the watch has ended")?;
        assert_eq!(first.name_any(), "before");
        maps.create(&PostParams::default(), &config_map("after")).await?;
        let second = events.next().await.ok_or("the watch has ended")??;
        assert_eq!(second.name_any(), "after");
        Outcome::Ok(())
    };
    tokio::time::timeout(Duration::from_secs(20), next).await?
}
