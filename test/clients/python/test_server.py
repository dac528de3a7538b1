"""The official client for Python, against the server of $KUBECONFIG: typed, dynamic, watching. Standard unittest."""

import json
import os
import threading
import time
import unittest

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.exceptions import ApiException

NAMESPACE = "python"
OBJECTS_FILE = os.path.join(os.path.dirname(__file__), "../minimal-objects.json")


def setUpModule():
    config.load_kube_config(os.environ["KUBECONFIG"])
    namespace = client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE))
    client.CoreV1Api().create_namespace(namespace)


def tearDownModule():
    client.CoreV1Api().delete_namespace(NAMESPACE)


class Typed(unittest.TestCase):
    def test_deployment(self):
        api = client.AppsV1Api()
        labels = {"app": "web"}
        container = client.V1Container(name="c", image="nginx", ports=[client.V1ContainerPort(container_port=80)])
        template = client.V1PodTemplateSpec(
            metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container])
        )
        spec = client.V1DeploymentSpec(
            replicas=2, selector=client.V1LabelSelector(match_labels=labels), template=template
        )
        body = client.V1Deployment(metadata=client.V1ObjectMeta(name="web"), spec=spec)
        made = api.create_namespaced_deployment(NAMESPACE, body)
        self.assertEqual(made.spec.template.spec.restart_policy, "Always")
        with self.assertRaises(ApiException) as again:
            api.create_namespaced_deployment(NAMESPACE, body)
        self.assertEqual(again.exception.status, 409)
        self.assertEqual(json.loads(again.exception.body)["reason"], "AlreadyExists")
        patched = api.patch_namespaced_deployment("web", NAMESPACE, {"spec": {"replicas": 3}})
        self.assertEqual(patched.spec.replicas, 3)
        self.assertEqual(api.read_namespaced_deployment_scale("web", NAMESPACE).spec.replicas, 3)
        self.assertEqual([item.metadata.name for item in api.list_namespaced_deployment(NAMESPACE).items], ["web"])
        api.delete_namespaced_deployment("web", NAMESPACE)
        with self.assertRaises(ApiException) as gone:
            api.read_namespaced_deployment("web", NAMESPACE)
        self.assertEqual(gone.exception.status, 404)

    def test_invalid_objects_are_refused(self):
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="Not A Name"))
        with self.assertRaises(ApiException) as invalid:
            client.CoreV1Api().create_namespaced_config_map(NAMESPACE, body)
        self.assertEqual(invalid.exception.status, 422)
        self.assertEqual(json.loads(invalid.exception.body)["details"]["causes"][0]["field"], "metadata.name")

    def test_create_from_dict(self):
        body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}
        utils.create_from_dict(client.ApiClient(), body, namespace=NAMESPACE)
        service = client.CoreV1Api().read_namespaced_service("web", NAMESPACE)
        self.assertRegex(service.spec.cluster_ip, r"^10\.96\.")

    def test_watch(self):
        api = client.CoreV1Api()
        since = api.list_namespaced_config_map(NAMESPACE).metadata.resource_version

        def write():
            time.sleep(0.2)
            api.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": "watched"}})
            api.patch_namespaced_config_map("watched", NAMESPACE, {"data": {"a": "1"}})
            api.delete_namespaced_config_map("watched", NAMESPACE)

        writer = threading.Thread(target=write)
        writer.start()
        seen = []
        stream = watch.Watch()
        for event in stream.stream(
            api.list_namespaced_config_map,
            NAMESPACE,
            resource_version=since,
            field_selector="metadata.name=watched",
            timeout_seconds=10,
        ):
            seen.append(event["type"])
            if len(seen) == 3:
                stream.stop()
        writer.join()
        self.assertEqual(seen, ["ADDED", "MODIFIED", "DELETED"])


class Dynamic(unittest.TestCase):
    def test_every_resource(self):
        api = dynamic.DynamicClient(client.ApiClient())
        with open(OBJECTS_FILE, encoding="utf-8") as file:
            objects = json.loads(file.read().replace("${NAMESPACE}", NAMESPACE))
        for name, body in objects.items():
            with self.subTest(name):
                resource = api.resources.get(api_version=body["apiVersion"], kind=body["kind"])
                where = {"namespace": NAMESPACE} if resource.namespaced else {}
                made = resource.create(body=body, **where)
                self.assertEqual(made.kind, body["kind"])
                if "list" not in resource.verbs:
                    continue  # reviews are answers, not objects
                names = [item.metadata.name for item in resource.get(**where).items]
                self.assertIn(made.metadata.name, names)
                resource.delete(name=made.metadata.name, body={"gracePeriodSeconds": 0}, **where)

    def test_server_side_apply(self):
        api = dynamic.DynamicClient(client.ApiClient())
        resource = api.resources.get(api_version="v1", kind="ConfigMap")
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": "1"}}
        for _ in range(2):
            made = resource.server_side_apply(body=body, namespace=NAMESPACE, field_manager="python")
        self.assertEqual(made.metadata.managedFields[0].manager, "python")
        self.assertEqual(made.metadata.managedFields[0].operation, "Apply")


if __name__ == "__main__":
    unittest.main()
