// Bodies near the size limit that consist mostly of small values, which cost most for their length.
import type { Call } from './load.ts'

export interface LargeBody {
  readonly what: string
  readonly call: Call
  /** The case gives the body as JSON; the server in this process receives it encoded by its Content-Type. */
  readonly isEncoded?: boolean
  /** Later cases read or change the object that this one creates. */
  readonly isNeeded?: boolean
}

const NAMESPACE = '/api/v1/namespaces/default'
const PODS = `${NAMESPACE}/pods`
const THINGS = '/apis/bench.example.com/v1/namespaces/default/things'

const many = <T>(n: number, one: (at: number) => T): T[] => Array.from({ length: n }, (_, at) => one(at))
const post = (path: string, body: unknown): Call => ({ method: 'POST', path, body: JSON.stringify(body) })

const pod = (name: string, spec: object, container: object = {}): Call =>
  post(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'a', image: 'b', ...container }], ...spec },
  })

const thing = (name: string, spec: object): Call =>
  post(THINGS, { apiVersion: 'bench.example.com/v1', kind: 'Thing', metadata: { name }, spec })

const listOf = (items: object) => ({ type: 'array', items })

/** The CustomResourceDefinition of the custom resources in the cases below. */
export const definition: Call = post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.bench.example.com' },
  spec: {
    group: 'bench.example.com',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  set: { ...listOf({ type: 'string' }), 'x-kubernetes-list-type': 'set' },
                  words: listOf({ type: 'string', enum: ['one', 'two'] }),
                  objects: listOf({ type: 'object', properties: { a: { type: 'string', default: 'x' } } }),
                  keyed: {
                    ...listOf({ type: 'object', required: ['name'], properties: { name: { type: 'string' } } }),
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                  },
                  map: { type: 'object', additionalProperties: { type: 'integer' } },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
            },
          },
        },
      },
    ],
  },
})

const ports = (n: number) => many(n, (at) => ({ containerPort: (at % 65_000) + 1, protocol: at % 2 ? 'TCP' : 'UDP' }))
const label = (at: number) => `label-${at}`

export const largeBodies: readonly LargeBody[] = [
  {
    what: 'JSON of empty objects that no field takes',
    call: { method: 'POST', path: `${NAMESPACE}/configmaps`, body: `{"x":[${'{},'.repeat(1_000_000)}{}]}` },
  },
  {
    what: 'ConfigMap with 20,000 keys',
    call: post(`${NAMESPACE}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'keys' },
      data: Object.fromEntries(many(20_000, (at) => [`k${at}`, 'v'])),
    }),
  },
  {
    what: 'ConfigMap that is refused: 50,000 wrong keys',
    call: post(`${NAMESPACE}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'wrong' },
      data: Object.fromEntries(many(50_000, (at) => [`k/${at}`, 'v'])),
    }),
  },
  {
    what: 'ConfigMap of one text of 1 MB',
    isNeeded: true,
    call: post(`${NAMESPACE}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'text' },
      data: { text: 'x\n'.repeat(500_000) },
    }),
  },
  {
    what: 'Pod with 15,000 variables',
    isNeeded: true,
    call: pod('variables', {}, { env: many(15_000, (at) => ({ name: `V${at}`, value: 'v' })) }),
  },
  {
    what: 'Pod with 20,000 variables from fields',
    call: pod(
      'fields',
      {},
      { env: many(10_000, (at) => ({ name: `V${at}`, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } })) },
    ),
  },
  { what: 'Pod with 20,000 ports', call: pod('ports', {}, { ports: ports(20_000) }) },
  {
    what: 'Pod with 3,000 containers',
    call: pod('containers', { containers: many(3_000, (at) => ({ name: `c${at}`, image: 'b' })) }),
  },
  { what: 'Pod with 400,000 empty containers', call: pod('empty', { containers: many(400_000, () => ({})) }) },
  {
    what: 'Pod with 10,000 volumes and mounts',
    call: pod(
      'volumes',
      { volumes: many(10_000, (at) => ({ name: `v${at}`, emptyDir: {} })) },
      { volumeMounts: many(10_000, (at) => ({ name: `v${at}`, mountPath: `/m${at}` })) },
    ),
  },
  {
    what: 'Pod with 20,000 tolerations',
    call: pod('tolerations', { tolerations: many(20_000, (at) => ({ key: `k${at}`, operator: 'Exists' })) }),
  },
  {
    what: 'Pod with 20,000 wrong variables',
    call: pod('wrong', {}, { env: many(20_000, (at) => ({ name: `=${at}`, value: 'v' })) }),
  },
  {
    what: 'Pod with 20,000 labels',
    call: post(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'labels', labels: Object.fromEntries(many(20_000, (at) => [label(at), 'v'])) },
      spec: { containers: [{ name: 'a', image: 'b' }] },
    }),
  },
  {
    what: 'Deployment with 20,000 variables',
    call: post('/apis/apps/v1/namespaces/default/deployments', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'variables' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: {
            containers: [{ name: 'a', image: 'b', env: many(20_000, (at) => ({ name: `V${at}`, value: 'v' })) }],
          },
        },
      },
    }),
  },
  {
    what: 'ClusterRole with 10,000 rules',
    call: post('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'many-rules' },
      rules: many(10_000, (at) => ({ apiGroups: [''], resources: [`r${at}`], verbs: ['get'] })),
    }),
  },
  {
    what: 'NetworkPolicy with 20,000 blocks',
    call: post('/apis/networking.k8s.io/v1/namespaces/default/networkpolicies', {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'blocks' },
      spec: {
        podSelector: {},
        ingress: [{ from: many(20_000, (at) => ({ ipBlock: { cidr: `10.${(at >> 8) & 255}.${at & 255}.0/24` } })) }],
      },
    }),
  },
  {
    what: 'Ingress with 10,000 rules',
    call: post('/apis/networking.k8s.io/v1/namespaces/default/ingresses', {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'rules' },
      spec: {
        rules: many(6_000, (at) => ({
          host: `h${at}.example.com`,
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'a', port: { number: 80 } } } }],
          },
        })),
      },
    }),
  },
  {
    what: 'Endpoints with 20,000 addresses',
    call: post(`${NAMESPACE}/endpoints`, {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'addresses' },
      subsets: [{ addresses: many(20_000, (at) => ({ ip: `10.0.${at >> 8}.${at & 255}` })), ports: [{ port: 80 }] }],
    }),
  },
  {
    what: 'CustomResourceDefinition with 8,000 properties',
    call: post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'wides.bench.example.com' },
      spec: {
        group: 'bench.example.com',
        names: { plural: 'wides', kind: 'Wide' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    properties: Object.fromEntries(
                      many(8_000, (at) => [
                        `p${at}`,
                        {
                          type: 'object',
                          description: 'what it is',
                          properties: { a: { type: 'string' }, b: { type: 'integer' } },
                        },
                      ]),
                    ),
                  },
                },
              },
            },
          },
        ],
      },
    }),
  },
  {
    what: 'thing with a set of 45,000',
    isNeeded: true,
    call: thing('set', { set: many(45_000, (at) => `e${at}`) }),
  },
  { what: 'thing with a set of 100,000', call: thing('sets', { set: many(100_000, (at) => `e${at}`) }) },
  {
    what: 'thing with 40,000 keyed elements',
    call: thing('keyed', { keyed: many(30_000, (at) => ({ name: `e${at}` })) }),
  },
  { what: 'thing with 200,000 empty objects', call: thing('objects', { objects: many(100_000, () => ({})) }) },
  {
    what: 'thing with a map of 45,000',
    isNeeded: true,
    call: thing('map', { map: Object.fromEntries(many(45_000, (at) => [`k${at}`, at])) }),
  },
  {
    what: 'thing with 300,000 words of which none is allowed',
    call: thing('words', { words: many(300_000, (at) => `w${at}`) }),
  },
  { what: 'thing with 200,000 values of no type', call: thing('free', { free: { a: many(200_000, () => ({})) } }) },
  {
    what: 'thing with 45,000 names of no type',
    call: thing('names', { free: Object.fromEntries(many(45_000, (at) => [`k${at}`, {}])) }),
  },
  {
    what: 'JSON patch of 9,000 operations',
    call: {
      method: 'PATCH',
      path: `${NAMESPACE}/configmaps/text`,
      contentType: 'application/json-patch+json',
      body: JSON.stringify(
        many(9_000, (at) => ({ op: 'add', path: `/metadata/annotations`, value: { [`a${at}`]: 'b' } })),
      ),
    },
  },
  {
    what: 'server-side apply of a Pod with 20,000 variables',
    call: {
      method: 'PATCH',
      path: `${PODS}/applied?fieldManager=a`,
      contentType: 'application/apply-patch+yaml',
      body: pod('applied', {}, { env: many(15_000, (at) => ({ name: `V${at}`, value: 'v' })) }).body as string, // JSON
    },
  },
  {
    what: 'server-side apply of a thing with a map of 60,000',
    call: {
      method: 'PATCH',
      path: `${THINGS}/applied?fieldManager=a`,
      contentType: 'application/apply-patch+yaml',
      body: thing('applied', { map: Object.fromEntries(many(40_000, (at) => [`k${at}`, at])) }).body as string, // JSON
    },
  },
  {
    what: 'merge patch of the thing with a map',
    call: {
      method: 'PATCH',
      path: `${THINGS}/map`,
      contentType: 'application/merge-patch+json',
      body: '{"spec":{"map":{"k1":7}}}',
    },
  },
  {
    what: 'YAML: a ConfigMap with 40,000 keys',
    call: {
      method: 'POST',
      path: `${NAMESPACE}/configmaps`,
      contentType: 'application/yaml',
      body: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata:\n${many(40_000, (at) => `  k${at}: v`).join('\n')}`,
    },
  },
  {
    what: 'YAML: a Pod with 12,000 variables',
    call: {
      method: 'POST',
      path: PODS,
      contentType: 'application/yaml',
      body: `apiVersion: v1\nkind: Pod\nmetadata: {name: yaml}\nspec:\n  containers:\n  - name: a\n    image: b\n    env:\n${many(12_000, (at) => `    - name: V${at}\n      value: v`).join('\n')}`,
    },
  },
  {
    what: 'YAML: a thing of 600,000 empty maps',
    call: {
      method: 'POST',
      path: THINGS,
      contentType: 'application/yaml',
      body: `apiVersion: bench.example.com/v1\nkind: Thing\nmetadata: {name: flow}\nspec: {objects: [${'{},'.repeat(600_000)}]}`,
    },
  },
  {
    what: 'protobuf: a ConfigMap with 20,000 keys',
    isEncoded: true,
    call: {
      method: 'POST',
      path: `${NAMESPACE}/configmaps`,
      contentType: 'application/vnd.kubernetes.protobuf',
      body: JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'protobuf' },
        data: Object.fromEntries(many(20_000, (at) => [`k${at}`, 'v'])),
      }),
    },
  },
  {
    what: 'protobuf: a Pod with 15,000 variables',
    isEncoded: true,
    call: {
      method: 'POST',
      path: PODS,
      contentType: 'application/vnd.kubernetes.protobuf',
      body: pod('protobuf', {}, { env: many(15_000, (at) => ({ name: `V${at}`, value: 'v' })) }).body as string, // JSON
    },
  },
  {
    what: 'CBOR: a thing with a map of 45,000',
    isEncoded: true,
    call: {
      method: 'POST',
      path: THINGS,
      contentType: 'application/cbor',
      body: thing('cbor', { map: Object.fromEntries(many(45_000, (at) => [`k${at}`, at])) }).body as string, // JSON
    },
  },
  {
    what: 'merge patch that a Pod refuses, of 25,000 volumes',
    call: {
      method: 'PATCH',
      path: `${PODS}/variables`,
      contentType: 'application/merge-patch+json',
      body: JSON.stringify({ spec: { volumes: many(25_000, (at) => ({ name: `v${at}`, emptyDir: {} })) } }),
    },
  },
  {
    what: 'merge patch that a Pod refuses, of 20,000 projected sources',
    call: {
      method: 'PATCH',
      path: `${PODS}/variables`,
      contentType: 'application/merge-patch+json',
      body: JSON.stringify({
        spec: {
          volumes: [{ name: 'v', projected: { sources: many(20_000, (at) => ({ secret: { name: `s${at}` } })) } }],
        },
      }),
    },
  },
  {
    what: 'strategic merge patch of the Pod with variables',
    call: {
      method: 'PATCH',
      path: `${PODS}/variables`,
      contentType: 'application/strategic-merge-patch+json',
      body: JSON.stringify({
        spec: { containers: [{ name: 'a', env: many(100_000, (at) => ({ name: `V${at}`, value: 'v' })) }] },
      }),
    },
  },
  {
    what: 'get of the thing with a set as a Table',
    call: { method: 'GET', path: `${THINGS}/set`, accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
  },
  ...(['yaml', 'cbor'] as const).map((format) => ({
    what: `list of the thing with a set in ${format.toUpperCase()}`,
    call: { method: 'GET', path: `${THINGS}?fieldSelector=metadata.name%3Dset`, accept: `application/${format}` },
  })),
  {
    what: 'get of the Pod with variables in protobuf',
    call: { method: 'GET', path: `${PODS}/variables`, accept: 'application/vnd.kubernetes.protobuf' },
  },
  {
    what: 'get of the Pod with variables in YAML',
    call: { method: 'GET', path: `${PODS}/variables`, accept: 'application/yaml' },
  },
  {
    what: 'get of the thing with a set in CBOR',
    call: { method: 'GET', path: `${THINGS}/set`, accept: 'application/cbor' },
  },
  {
    what: 'get of the Pod with variables, indented',
    call: { method: 'GET', path: `${PODS}/variables?pretty=true` },
  },
  {
    what: 'get of the text of 1 MB in YAML',
    call: { method: 'GET', path: `${NAMESPACE}/configmaps/text`, accept: 'application/yaml' },
  },
  {
    what: 'aggregated discovery',
    call: {
      method: 'GET',
      path: '/apis',
      accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    },
  },
  { what: 'OpenAPI v2', call: { method: 'GET', path: '/openapi/v2' } },
  { what: 'OpenAPI v2, once more', call: { method: 'GET', path: '/openapi/v2' } },
  { what: 'OpenAPI v3 of core', call: { method: 'GET', path: '/openapi/v3/api/v1' } },
  { what: 'OpenAPI v3 of a large definition', call: { method: 'GET', path: '/openapi/v3/apis/bench.example.com/v1' } },
]
