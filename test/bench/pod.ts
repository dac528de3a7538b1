/** A Pod with the fields that a Deployment and a kubelet set, for measuring the codecs and the schema. */
const TIME = '2026-01-01T00:00:00Z'

const condition = (type: string) => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: TIME })

export const pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: 'web-5d4f8c7b9-x2x4q',
    generateName: 'web-5d4f8c7b9-',
    namespace: 'default',
    uid: '2b3d5a52-6a0c-4f0e-9d6b-6f8f0b8d1c11',
    resourceVersion: '184467440',
    generation: 1,
    creationTimestamp: TIME,
    labels: { app: 'web', 'pod-template-hash': '5d4f8c7b9' },
    annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9090' },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'web-5d4f8c7b9',
        uid: '7c7a8f6e-1d0e-4a57-8f3a-0c4f2a1b9e22',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
    managedFields: [
      {
        manager: 'kube-controller-manager',
        operation: 'Update',
        apiVersion: 'v1',
        time: TIME,
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { '.': {}, 'f:app': {}, 'f:pod-template-hash': {} }, 'f:generateName': {} },
          'f:spec': {
            'f:containers': {
              'k:{"name":"web"}': { '.': {}, 'f:image': {}, 'f:name': {}, 'f:resources': {}, 'f:env': {} },
            },
            'f:dnsPolicy': {},
            'f:restartPolicy': {},
          },
        },
      },
    ],
  },
  spec: {
    volumes: [
      {
        name: 'kube-api-access-7kq2m',
        projected: {
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          ],
          defaultMode: 420,
        },
      },
    ],
    containers: [
      {
        name: 'web',
        image: 'registry.example.com/web:1.27.3',
        ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
        env: [
          { name: 'LOG_LEVEL', value: 'info' },
          { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
        ],
        resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
        volumeMounts: [
          { name: 'kube-api-access-7kq2m', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
        ],
        livenessProbe: {
          httpGet: { path: '/healthz', port: 'http', scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'default',
    serviceAccount: 'default',
    nodeName: 'node-1',
    securityContext: {},
    schedulerName: 'default-scheduler',
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  },
  status: {
    phase: 'Running',
    conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(condition),
    hostIP: '10.0.0.4',
    podIP: '10.244.1.17',
    podIPs: [{ ip: '10.244.1.17' }],
    startTime: TIME,
    containerStatuses: [
      {
        name: 'web',
        state: { running: { startedAt: TIME } },
        lastState: {},
        ready: true,
        restartCount: 0,
        image: 'registry.example.com/web:1.27.3',
        imageID: 'registry.example.com/web@sha256:9f1c6d0e8a7b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d',
        containerID: 'containerd://5e4d3c2b1a0f9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4b3a2f1e0d9c8b7a6f5e4d',
        started: true,
      },
    ],
    qosClass: 'Burstable',
  },
}
