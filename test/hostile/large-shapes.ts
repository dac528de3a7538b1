// Shapes of large objects, of built-in kinds and of custom resources.
import type { Json, JsonObject } from '../../src/api/object.ts'

const NAMESPACE = '/api/v1/namespaces/default'
const THINGS = '/apis/bench.example.com/v1/namespaces/default/things'

export interface Shape {
  readonly what: string
  readonly url: string
  readonly isCustom?: boolean
  /** Makes one of two objects that share their name and differ in many places. */
  readonly object: (n: number, other: boolean) => JsonObject
  /** The JSON Pointer of the field that holds the many parts. */
  readonly at: string
}

const many = <T>(n: number, one: (at: number) => T): T[] => Array.from({ length: n }, (_, at) => one(at))
const map = (n: number, value: (at: number) => Json): JsonObject =>
  Object.fromEntries(many(n, (at) => [`k${(at * 7919) % 100_003}`, value(at)]))
const nested = (n: number, within: (inner: Json) => Json, innermost: Json): Json => {
  let value = innermost
  for (let at = 0; at < n; at++) value = within(value)
  return value
}
const of = (apiVersion: string, kind: string, rest: JsonObject): JsonObject => ({
  apiVersion,
  kind,
  metadata: {},
  ...rest,
})
const pod = (spec: JsonObject, container: JsonObject = {}): JsonObject =>
  of('v1', 'Pod', { spec: { containers: [{ name: 'a', image: 'b', ...container }], ...spec } })
const thing = (spec: JsonObject): JsonObject => of('bench.example.com/v1', 'Thing', { spec })
const deep = (n: number, other: boolean) => many(n / 50, (at) => nested(40, (a) => ({ a }), other ? at : 'x'))

export const shapes: readonly Shape[] = [
  {
    what: 'ConfigMap, wide map',
    url: `${NAMESPACE}/configmaps`,
    at: '/data',
    object: (n, o) => of('v1', 'ConfigMap', { data: map(n, (at) => (o ? `v${at}` : 'v')) }),
  },
  {
    what: 'ConfigMap, wide binary map',
    url: `${NAMESPACE}/configmaps`,
    at: '/binaryData',
    object: (n, o) => of('v1', 'ConfigMap', { binaryData: map(n, () => (o ? 'AAAA' : 'AAAB')) }),
  },
  {
    what: 'ConfigMap, long string',
    url: `${NAMESPACE}/configmaps`,
    at: '/data/text',
    object: (n, o) => of('v1', 'ConfigMap', { data: { text: (o ? 'line of <text>\n' : 'line\n').repeat(n) } }),
  },
  {
    what: 'Pod, many small objects by key',
    url: `${NAMESPACE}/pods`,
    at: '/metadata/labels',
    object: (n, o) => pod({}, { env: many(n, (at) => ({ name: `V${at}`, value: o ? `v${at}` : 'v' })) }),
  },
  {
    what: 'Pod, long list',
    url: `${NAMESPACE}/pods`,
    at: '/metadata/labels',
    object: (n) => pod({}, { args: many(n, (at) => `a${at}`) }),
  },
  {
    what: 'ClusterRole, many small objects',
    url: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    at: '/rules',
    object: (n, o) =>
      of('rbac.authorization.k8s.io/v1', 'ClusterRole', {
        rules: many(n, (at) => ({ apiGroups: [''], resources: [`r${at}`], verbs: [o ? 'get' : 'list'] })),
      }),
  },
  {
    what: 'ServiceAccount, set',
    url: `${NAMESPACE}/serviceaccounts`,
    at: '/secrets',
    object: (n, o) => of('v1', 'ServiceAccount', { secrets: many(n, (at) => ({ name: `${o ? 's' : 't'}${at}` })) }),
  },
  {
    what: 'ControllerRevision, wide raw',
    url: '/apis/apps/v1/namespaces/default/controllerrevisions',
    at: '/metadata/labels',
    object: (n) => of('apps/v1', 'ControllerRevision', { revision: 1, data: map(n, (at) => at) }),
  },
  {
    what: 'ControllerRevision, deep raw',
    url: '/apis/apps/v1/namespaces/default/controllerrevisions',
    at: '/metadata/labels',
    object: (n) => of('apps/v1', 'ControllerRevision', { revision: 1, data: { deep: deep(n, false) } }),
  },
  {
    what: 'ConfigMap, annotations',
    url: `${NAMESPACE}/configmaps`,
    at: '/metadata/annotations',
    object: (n, o) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { annotations: map(n, (at) => (o ? `v${at}` : 'v')) },
    }),
  },
  {
    what: 'thing, wide map',
    isCustom: true,
    url: THINGS,
    at: '/spec/map',
    object: (n, o) => thing({ map: map(n, (at) => (o ? at : 1)) }),
  },
  {
    what: 'thing, set',
    isCustom: true,
    url: THINGS,
    at: '/spec/set',
    object: (n, o) => thing({ set: many(n, (at) => `${o ? 'e' : 'f'}${at}`) }),
  },
  {
    what: 'thing, keyed list',
    isCustom: true,
    url: THINGS,
    at: '/spec/keyed',
    object: (n, o) => thing({ keyed: many(n, (at) => ({ name: `${o ? 'e' : 'f'}${at}` })) }),
  },
  {
    what: 'thing, many small objects',
    isCustom: true,
    url: THINGS,
    at: '/spec/objects',
    object: (n, o) => thing({ objects: many(n, (at) => ({ a: o ? `${at}` : 'y' })) }),
  },
  {
    what: 'thing, many empty objects',
    isCustom: true,
    url: THINGS,
    at: '/spec/objects',
    object: (n, o) => thing({ objects: many(n, () => ({})), map: { a: o ? 1 : 2 } }),
  },
  {
    what: 'thing, deep nest',
    isCustom: true,
    url: THINGS,
    at: '/spec/free',
    object: (n, o) => thing({ free: { deep: deep(n, o) } }),
  },
  {
    what: 'thing, long string',
    isCustom: true,
    url: THINGS,
    at: '/spec/free',
    object: (n, o) => thing({ free: { text: (o ? 'line of <text>\n' : 'line\n').repeat(n) } }),
  },
  {
    what: 'thing, wide free map',
    isCustom: true,
    url: THINGS,
    at: '/spec/free',
    object: (n, o) => thing({ free: map(n, (at) => (o ? at : { a: 1 })) }),
  },
]
