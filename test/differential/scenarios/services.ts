import { deployment, neverReady, pod, service } from '../manifests.ts'
import type { Action, Manifest, Scenario } from '../scenario.ts'

const WEB = 'v1/services/web'
const backends = (replicas = 2, template = {}): Action => ({ create: [deployment('web', { replicas }, template)] })
const make = (spec: Record<string, unknown> = {}): Action => ({ create: [service('web', spec)] })
const onNode = (number: number) => ({ spec: { nodeSelector: { 'example.com/number': String(number) } } })
const endpointsOf = (subsets: unknown): Action => ({
  create: [{ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'web' }, subsets }],
})

const podsOn = (...nodes: readonly number[]): Manifest[] =>
  nodes.map((node, index) => pod('abcdef'.charAt(index), { labels: { app: 'web' }, ...onNode(node) }))
const byTopology: Manifest = {
  ...service('web'),
  metadata: { name: 'web', annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
}

export const services: readonly Scenario[] = [
  { name: 'no pods', steps: [make()] },
  {
    name: 'pods that come and go',
    steps: [
      make(),
      backends(),
      { patch: 'apps/v1/deployments/web', with: { spec: { replicas: 1 } } },
      { delete: 'apps/v1/deployments/web' },
    ],
  },
  { name: 'pods that were there', steps: [backends(3), make()] },
  { name: 'pods that are not ready', steps: [backends(2, neverReady), make()] },
  {
    name: 'addresses of pods that are not ready',
    steps: [backends(2, neverReady), make({ publishNotReadyAddresses: true })],
  },
  { name: 'headless', steps: [backends(), make({ clusterIP: 'None' })] },
  { name: 'headless without ports', steps: [backends(), make({ clusterIP: 'None', ports: undefined })] },
  {
    name: 'a named port',
    steps: [
      backends(1, { container: { ports: [{ name: 'http', containerPort: 8080 }] } }),
      make({ ports: [{ name: 'web', port: 80, targetPort: 'http' }] }),
    ],
  },
  {
    name: 'a port that no pod has',
    steps: [backends(1), make({ ports: [{ name: 'web', port: 80, targetPort: 'http' }] })],
  },
  {
    name: 'a name for two ports',
    steps: [
      {
        create: [
          pod('a', { labels: { app: 'web' }, container: { ports: [{ name: 'http', containerPort: 8080 }] } }),
          pod('b', { labels: { app: 'web' }, container: { ports: [{ name: 'http', containerPort: 9090 }] } }),
        ],
      },
      make({ ports: [{ name: 'web', port: 80, targetPort: 'http' }] }),
    ],
  },
  {
    name: 'several ports',
    steps: [
      backends(1),
      make({
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 443, targetPort: 8443, appProtocol: 'https' },
          { name: 'c', port: 53, protocol: 'UDP' },
        ],
      }),
    ],
  },
  {
    name: 'a port that changes',
    steps: [backends(1), make(), { patch: WEB, with: { spec: { ports: [{ port: 80, targetPort: 8080 }] } } }],
  },
  {
    name: 'a selector that changes',
    steps: [backends(1), make(), { patch: WEB, with: { spec: { selector: { app: 'other' } } } }],
  },
  { name: 'no selector', steps: [make({ selector: undefined })] },
  {
    name: 'an outside name',
    steps: [make({ selector: undefined, ports: undefined, type: 'ExternalName', externalName: 'example.com' })],
  },
  {
    name: 'becomes an outside name',
    steps: [backends(1), make(), { patch: WEB, with: { spec: { type: 'ExternalName', externalName: 'example.com' } } }],
  },
  { name: 'node ports', steps: [backends(1), make({ type: 'NodePort', ports: [{ port: 80, nodePort: 31999 }] })] },
  {
    name: 'names of hosts',
    steps: [
      {
        create: [
          pod('a', { labels: { app: 'web' }, spec: { hostname: 'first', subdomain: 'web' } }),
          pod('b', { labels: { app: 'web' }, spec: { hostname: 'second', subdomain: 'other' } }),
        ],
      },
      make({ clusterIP: 'None' }),
    ],
  },
  {
    name: 'zones',
    comparesNodes: true,
    steps: [
      {
        create: [
          pod('a', { labels: { app: 'web' }, ...onNode(1) }),
          pod('b', { labels: { app: 'web' }, ...onNode(2) }),
        ],
      },
      make(),
    ],
  },
  ...['PreferClose', 'PreferSameZone', 'PreferSameNode'].map((trafficDistribution) => ({
    name: `traffic: ${trafficDistribution}`,
    comparesNodes: true,
    steps: [
      {
        create: [
          pod('a', { labels: { app: 'web' }, ...onNode(1) }),
          pod('b', { labels: { app: 'web' }, ...onNode(2) }),
          pod('c', { labels: { app: 'web' }, ...onNode(3) }),
        ],
      },
      make({ trafficDistribution }),
    ],
  })),
  {
    name: 'hints by topology',
    comparesNodes: true,
    steps: [
      { create: podsOn(1, 2, 3, 1, 2, 3) },
      { create: [byTopology] },
      { patch: WEB, with: { metadata: { annotations: { 'service.kubernetes.io/topology-mode': null } } } },
    ],
  },
  {
    name: 'hints by topology, with pods for a zone that has none',
    steps: [{ create: podsOn(1, 1, 1, 2, 2, 2) }, { create: [byTopology] }],
  },
  {
    name: 'hints by topology, with too few pods',
    comparesNodes: true,
    steps: [{ create: podsOn(1, 2, 3) }, { create: [byTopology] }, { delete: 'v1/pods/a' }],
  },
  {
    name: 'hints by topology, with pods that are not ready',
    comparesNodes: true,
    steps: [
      { create: [...podsOn(1, 2, 3), pod('z', { labels: { app: 'web' }, ...onNode(1), ...neverReady })] },
      { create: [byTopology] },
    ],
  },
  {
    name: 'a pod on the host’s network',
    steps: [{ create: [pod('a', { labels: { app: 'web' }, spec: { hostNetwork: true } })] }, make()],
  },
  {
    name: 'a pod that ended',
    steps: [
      { create: [pod('a', { labels: { app: 'web' } }), pod('b', { labels: { app: 'web' } })] },
      make(),
      { patch: 'v1/pods/a/status', with: { status: { phase: 'Succeeded' } } },
    ],
  },
  {
    name: 'a pod that is stopping',
    steps: [
      {
        create: [
          pod('a', {
            labels: { app: 'web' },
            annotations: { 'kedge.dev/stop-delay': '100000' },
            spec: { terminationGracePeriodSeconds: 3600 },
          }),
          pod('b', { labels: { app: 'web' } }),
        ],
      },
      make(),
      { delete: 'v1/pods/a' },
      { delete: 'v1/pods/a', graceSeconds: 0 },
    ],
  },
  {
    name: 'a pod whose label changes',
    steps: [backends(1), make(), { patch: 'v1/pods/*', with: { metadata: { labels: { app: 'other' } } } }],
  },
  {
    name: 'labels of the Service',
    steps: [
      backends(1),
      { create: [{ ...service('web'), metadata: { name: 'web', labels: { team: 'a' }, annotations: { note: 'x' } } }] },
      { patch: WEB, with: { metadata: { labels: { team: 'b' } } } },
    ],
  },
  {
    name: 'slices that somebody deletes',
    steps: [backends(1), make(), { delete: 'discovery.k8s.io/v1/endpointslices/*' }],
  },
  { name: 'Endpoints that somebody deletes', steps: [backends(1), make(), { delete: 'v1/endpoints/web' }] },
  { name: 'is deleted', steps: [backends(1), make(), { delete: WEB }] },
  {
    name: 'Endpoints of one’s own are mirrored',
    steps: [
      make({ selector: undefined }),
      endpointsOf([
        {
          addresses: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }],
          notReadyAddresses: [{ ip: '192.0.2.3' }],
          ports: [{ port: 80 }],
        },
      ]),
      { patch: 'v1/endpoints/web', with: { subsets: [{ addresses: [{ ip: '192.0.2.9' }], ports: [{ port: 81 }] }] } },
      { delete: 'v1/endpoints/web' },
    ],
  },
  {
    name: 'Endpoints of two subsets are mirrored',
    steps: [
      make({ selector: undefined }),
      endpointsOf([
        { addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'a', port: 80 }] },
        { addresses: [{ ip: '192.0.2.2' }], ports: [{ name: 'b', port: 81 }] },
      ]),
    ],
  },
  {
    name: 'Endpoints of IPv6 are mirrored',
    steps: [
      make({ selector: undefined }),
      endpointsOf([{ addresses: [{ ip: '2001:db8::1' }], ports: [{ port: 80 }] }]),
    ],
  },
  {
    name: 'Endpoints that ask not to be mirrored',
    steps: [
      make({ selector: undefined }),
      {
        create: [
          {
            apiVersion: 'v1',
            kind: 'Endpoints',
            metadata: { name: 'web', labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
            subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }],
          },
        ],
      },
    ],
  },
  {
    name: 'Endpoints without a Service',
    steps: [endpointsOf([{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }])],
  },
]
