import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;

/** fabric8's client against the server of $KUBECONFIG: typed, apply, edit with retries, an informer. */
public class Fabric8 {
  private static final String NAMESPACE = "java";

  public static void main(String[] arguments) throws Exception {
    Config config = Config.fromKubeconfig(Path.of(System.getenv("KUBECONFIG")).toFile());
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
      check("1".equals(client.getKubernetesVersion().getMajor()), "version");
      var namespace = new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build();
      client.namespaces().resource(namespace).create();
      typed(client);
      applied(client);
      informed(client);
      client.namespaces().withName(NAMESPACE).delete();
    }
    System.out.println("fabric8: all passed");
  }

  private static ConfigMap configMap(String name) {
    return new ConfigMapBuilder()
        .withNewMetadata().withName(name).withNamespace(NAMESPACE).endMetadata()
        .addToData("a", "1").build();
  }

  private static void typed(KubernetesClient client) {
    ConfigMap made = client.configMaps().resource(configMap("typed")).create();
    check(made.getMetadata().getUid() != null, "uid");
    try {
      client.configMaps().resource(configMap("typed")).create();
      throw new AssertionError("made twice");
    } catch (KubernetesClientException e) {
      check(e.getCode() == 409 && "AlreadyExists".equals(e.getStatus().getReason()), "conflict: " + e);
    }
    var resource = client.configMaps().inNamespace(NAMESPACE).withName("typed");
    ConfigMap edited = resource.edit(map -> new ConfigMapBuilder(map).addToData("b", "2").build());
    check(Map.of("a", "1", "b", "2").equals(edited.getData()), "edited: " + edited.getData());
    int listed = client.configMaps().inNamespace(NAMESPACE).withField("metadata.name", "typed").list().getItems().size();
    check(listed == 1, "listed: " + listed);
    resource.delete();
    check(resource.get() == null, "gone");
  }

  private static void applied(KubernetesClient client) {
    Deployment body = new DeploymentBuilder()
        .withNewMetadata().withName("web").withNamespace(NAMESPACE).endMetadata()
        .withNewSpec()
        .withNewSelector().addToMatchLabels("app", "web").endSelector()
        .withNewTemplate()
        .withNewMetadata().addToLabels("app", "web").endMetadata()
        .withNewSpec().addNewContainer().withName("c").withImage("nginx").endContainer().endSpec()
        .endTemplate()
        .endSpec().build();
    for (int i = 0; i < 2; i++) {
      Deployment applied = client.apps().deployments().resource(body).serverSideApply();
      check(applied.getSpec().getReplicas() == 1, "defaults");
      check(applied.getMetadata().getManagedFields().size() == 1, "one manager");
    }
    client.apps().deployments().inNamespace(NAMESPACE).withName("web").scale(3);
    Deployment scaled = client.apps().deployments().inNamespace(NAMESPACE).withName("web").get();
    check(scaled.getSpec().getReplicas() == 3, "scaled");
  }

  private static void informed(KubernetesClient client) throws InterruptedException {
    client.configMaps().resource(configMap("before")).create();
    Queue<String> seen = new ConcurrentLinkedQueue<>();
    ResourceEventHandler<ConfigMap> handler = new ResourceEventHandler<>() {
      @Override
      public void onAdd(ConfigMap map) {
        seen.add("add " + map.getMetadata().getName());
      }

      @Override
      public void onUpdate(ConfigMap old, ConfigMap map) {
        seen.add("update " + map.getMetadata().getName());
      }

      @Override
      public void onDelete(ConfigMap map, boolean unknown) {
        seen.add("delete " + map.getMetadata().getName());
      }
    };
    try (SharedIndexInformer<ConfigMap> informer = client.configMaps().inNamespace(NAMESPACE).inform(handler)) {
      eventually(() -> seen.contains("add before"), "the first state", seen);
      client.configMaps().resource(configMap("after")).create();
      eventually(() -> seen.contains("add after"), "an addition", seen);
      client.configMaps().resource(configMap("after")).delete();
      eventually(() -> seen.contains("delete after"), "a deletion", seen);
    }
  }

  private static void eventually(BooleanSupplier holds, String what, Queue<String> seen) throws InterruptedException {
    for (int i = 0; i < 500 && !holds.getAsBoolean(); i++) {
      Thread.sleep(20);
    }
    check(holds.getAsBoolean(), what + ", seen: " + seen);
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
