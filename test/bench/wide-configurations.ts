// Long objects that every request reads: webhook configurations, roles, flow schemas and quotas. Also defaults, of
// which a definition may declare tens of thousands.
import type { Json, JsonObject } from '../../src/api/object.ts'
import type { Call } from './load.ts'
import type { WideCase } from './wide-cases.ts'
import { GROUP, WIDES, definitionOf, many, post, schemaOf, wide } from './wide-definitions.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const configMap: Call = post(CONFIG_MAPS, {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', labels: { a: 'b' } },
})

const WEBHOOKS = 'admissionregistration.k8s.io'
const rule = (resource = 'pods'): JsonObject => ({
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: [resource],
  scope: '*',
})
const webhook = (at: number, more: JsonObject): JsonObject => ({
  name: `w${at}.example.com`,
  clientConfig: { url: 'https://127.0.0.1:1/' },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  failurePolicy: 'Ignore',
  matchPolicy: 'Equivalent',
  timeoutSeconds: 1,
  namespaceSelector: {},
  objectSelector: {},
  rules: [rule()],
  ...more,
})
const webhooks = (all: readonly JsonObject[], kind = 'ValidatingWebhookConfiguration'): JsonObject => ({
  apiVersion: `${WEBHOOKS}/v1`,
  kind,
  metadata: { name: 'w' },
  webhooks: all as JsonObject[],
})
const values = (n: number): string[] => many(n, (at) => `value${at}`)
const configurations: Readonly<Record<string, readonly [most: number, all: (n: number) => readonly JsonObject[]]>> = {
  'webhooks for something else': [3_000, (n) => many(n, (at) => webhook(at, {}))],
  'webhooks whose selector leaves it out': [
    2_700,
    (n) =>
      many(n, (at) =>
        webhook(at, { rules: [rule('configmaps')], objectSelector: { matchLabels: { [`l${at}`]: 'x' } } }),
      ),
  ],
  'webhooks whose condition leaves it out': [
    2_300,
    (n) =>
      many(n, (at) =>
        webhook(at, {
          rules: [rule('configmaps')],
          matchConditions: [{ name: 'c', expression: `object.metadata.name == "x${at}"` }],
        }),
      ),
  ],
  'rules of a webhook': [14_000, (n) => [webhook(0, { rules: many(n, () => rule()) })]],
  'resources of a rule of a webhook': [
    60_000,
    (n) => [webhook(0, { rules: [{ ...rule(), resources: many(n, (at) => `resources${at}`) }] })],
  ],
  'values of a selector of a webhook': [
    100_000,
    (n) => [
      webhook(0, {
        rules: [rule('configmaps')],
        objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: values(n) }] },
      }),
    ],
  ],
  'requirements of a selector of a webhook': [
    30_000,
    (n) => [
      webhook(0, {
        rules: [rule('configmaps')],
        objectSelector: {
          matchExpressions: many(n, (at) => ({ key: `k${at}`, operator: 'DoesNotExist' })).concat({
            key: 'a',
            operator: 'DoesNotExist',
          }),
        },
      }),
    ],
  ],
}

const ofWebhooks = Object.entries(configurations).flatMap(([what, [most, all]]): WideCase[] => [
  {
    what: `many ${what}`,
    most,
    stored: (n) => [[WEBHOOKS, 'validatingwebhookconfigurations', webhooks(all(n))]],
    calls: () => [configMap],
  },
  {
    what: `many ${what}, mutating`,
    most,
    stored: (n) => [[WEBHOOKS, 'mutatingwebhookconfigurations', webhooks(all(n), 'MutatingWebhookConfiguration')]],
    calls: () => [configMap],
  },
  {
    what: `many ${what}, created`,
    most,
    calls: (n) => [post(`/apis/${WEBHOOKS}/v1/validatingwebhookconfigurations`, webhooks(all(n)))],
  },
])

const RBAC = 'rbac.authorization.k8s.io'
const role = (rules: readonly JsonObject[], name = 'r', more: JsonObject = {}): JsonObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: { name, ...more },
  rules: rules as JsonObject[],
})
const bound = (subjects: readonly JsonObject[], name = 'r'): JsonObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  subjects: subjects as JsonObject[],
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
})
const USER: JsonObject = { kind: 'User', apiGroup: RBAC, name: 'jane' }
const MAKES_ROLES: readonly (readonly [string, string, JsonObject])[] = [
  [RBAC, 'clusterroles', role([{ apiGroups: [RBAC], resources: ['*'], verbs: ['create'] }], 'a')],
  [RBAC, 'clusterrolebindings', bound([USER], 'a')],
]
const rights: Readonly<Record<string, readonly [most: number, rules: (n: number) => readonly JsonObject[]]>> = {
  rules: [20_000, (n) => many(n, (at) => ({ apiGroups: [''], resources: [`things${at}`], verbs: ['get'] }))],
  'resources of a rule': [
    100_000,
    (n) => [{ apiGroups: [''], resources: many(n, (at) => `things${at}`), verbs: ['get'] }],
  ],
  'names of a rule': [
    100_000,
    (n) => [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['create'], resourceNames: many(n, (at) => `thing${at}`) },
    ],
  ],
  'paths of a rule': [100_000, (n) => [{ nonResourceURLs: many(n, (at) => `/path${at}`), verbs: ['get'] }]],
}
const asJane = (call: Call): Call => ({ ...call, as: 'jane' })
const review = (spec: JsonObject, kind: string): Call =>
  post(`/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`, {
    apiVersion: 'authorization.k8s.io/v1',
    kind,
    spec,
  })

const ofRights = Object.entries(rights).flatMap(([what, [most, rules]]): WideCase[] => {
  const stored = (n: number) =>
    [
      [RBAC, 'clusterroles', role(rules(n))],
      [RBAC, 'clusterrolebindings', bound([USER])],
    ] as const
  return [
    {
      what: `many ${what} of a role: refused`,
      most,
      stored,
      calls: () => [asJane({ method: 'GET', path: '/api/v1/secrets' })],
    },
    {
      what: `many ${what} of a role: its user's rights`,
      most,
      stored,
      calls: () => [asJane(review({ namespace: 'default' }, 'SelfSubjectRulesReview'))],
    },
    {
      what: `many ${what} of a role, created`,
      most,
      calls: (n) => [post(`/apis/${RBAC}/v1/clusterroles`, role(rules(n)))],
    },
    {
      what: `many ${what} of a role, handed on by somebody without them`,
      most,
      stored: () => MAKES_ROLES,
      calls: (n) => [asJane(post(`/apis/${RBAC}/v1/clusterroles`, role(rules(n), 'x')))],
    },
    {
      what: `many ${what} of a role, handed on`,
      most,
      stored: (n) => [...MAKES_ROLES, ...stored(n)],
      calls: (n) => [asJane(post(`/apis/${RBAC}/v1/clusterroles`, role(rules(n), 'x')))],
    },
    {
      what: `many ${what} of a role, bound by somebody who has them`,
      most,
      stored: (n) => [...MAKES_ROLES, ...stored(n)],
      calls: () => [
        asJane(post(`/apis/${RBAC}/v1/clusterrolebindings`, { ...bound([USER]), metadata: { name: 'x' } })),
      ],
    },
  ]
})

const manySubjects: readonly WideCase[] = [
  {
    what: 'many subjects of a binding',
    most: 12_000,
    stored: (n) => [
      [RBAC, 'clusterroles', role([])],
      [RBAC, 'clusterrolebindings', bound(many(n, (at) => ({ kind: 'User', apiGroup: RBAC, name: `u${at}` })))],
    ],
    calls: () => [asJane({ method: 'GET', path: '/api/v1/secrets' })],
  },
  {
    what: 'many subjects of a binding, accounts',
    most: 12_000,
    stored: (n) => [
      [RBAC, 'clusterroles', role([])],
      [
        RBAC,
        'clusterrolebindings',
        bound(many(n, (at) => ({ kind: 'ServiceAccount', namespace: 'n', name: `u${at}` }))),
      ],
      ...many(20, (at) => [RBAC, 'clusterrolebindings', bound([], `b${at}`)] as const),
    ],
    calls: () => [asJane({ method: 'GET', path: '/api/v1/secrets' })],
  },
]

const FLOWS = 'flowcontrol.apiserver.k8s.io'
const flowSchema = (rules: readonly JsonObject[]): JsonObject => ({
  apiVersion: `${FLOWS}/v1`,
  kind: 'FlowSchema',
  metadata: { name: 'f' },
  spec: {
    priorityLevelConfiguration: { name: 'global-default' },
    matchingPrecedence: 2,
    rules: rules as JsonObject[],
  },
})
const ALL_RESOURCES: JsonObject = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  namespaces: ['*'],
  clusterScope: true,
}
const users = (n: number): JsonObject[] => many(n, (at) => ({ kind: 'User', user: { name: `u${at}` } }))
const flows: Readonly<Record<string, readonly [most: number, rules: (n: number) => readonly JsonObject[]]>> = {
  subjects: [30_000, (n) => [{ subjects: users(n), resourceRules: [ALL_RESOURCES] }]],
  rules: [
    8_000,
    (n) => many(n, () => ({ subjects: users(1), resourceRules: [{ ...ALL_RESOURCES, resources: ['x'] }] })),
  ],
  'resources of a rule': [
    80_000,
    (n) => [
      {
        subjects: [{ kind: 'User', user: { name: '*' } }],
        resourceRules: [{ ...ALL_RESOURCES, resources: many(n, (at) => `things${at}`) }],
      },
    ],
  ],
}
const ofFlows = Object.entries(flows).flatMap(([what, [most, rules]]): WideCase[] => [
  {
    what: `many ${what} of a flow schema`,
    most,
    stored: (n) => [[FLOWS, 'flowschemas', flowSchema(rules(n))]],
    calls: () => [asJane({ method: 'GET', path: '/api/v1/secrets' })],
  },
  {
    what: `many ${what} of a flow schema, created`,
    most,
    calls: (n) => [post(`/apis/${FLOWS}/v1/flowschemas`, flowSchema(rules(n)))],
  },
])

const hard = (n: number): JsonObject => Object.fromEntries(many(n, (at) => [`count/things${at}.example.com`, '1']))
const quota = (n: number, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q', namespace: 'default' },
  spec: { hard: { ...hard(n), 'count/configmaps': '10' } },
  ...more,
})
const quotas: readonly WideCase[] = [
  {
    what: 'many names of a quota',
    most: 9_000,
    stored: (n) => [
      [
        '',
        'resourcequotas',
        quota(n, {
          status: { hard: { ...hard(n), 'count/configmaps': '10' }, used: { ...hard(n), 'count/configmaps': '0' } },
        }),
      ],
    ],
    calls: () => [configMap],
  },
  {
    what: 'many names of a quota, created',
    most: 30_000,
    calls: (n) => [post('/api/v1/namespaces/default/resourcequotas', quota(n))],
  },
]

const defaults = (n: number, value: Json): JsonObject =>
  Object.fromEntries(many(n, (at) => [`p${at}`, { type: 'string', default: value }]))
const withDefaults: readonly WideCase[] = [
  ['properties with defaults', 31_000, (n: number) => ({ type: 'object', properties: defaults(n, 'a') }), {}],
  [
    'items of a default',
    100_000,
    (n: number) => ({
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'integer' }, default: many(n, (at) => at) } },
    }),
    {},
  ],
  [
    'items of a list, each of which gets defaults',
    20_000,
    () => ({
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'object', properties: defaults(20, 'a') } } },
    }),
    (n: number) => ({ list: many(n, () => ({})) }),
  ],
  [
    'names in a default',
    60_000,
    (n: number) => ({
      type: 'object',
      properties: {
        map: {
          type: 'object',
          additionalProperties: { type: 'string' },
          default: Object.fromEntries(many(n, (at) => [`k${at}`, ''])),
        },
      },
    }),
    {},
  ],
].flatMap(([what, most, schema, spec]): WideCase[] => {
  const definitions = (n: number) => [definitionOf([{ schema: schemaOf((schema as (n: number) => JsonObject)(n)) }])]
  const specOf = (n: number): Json => (typeof spec === 'function' ? (spec(n) as Json) : (spec as Json))
  return [
    {
      what: `many ${what as string}, first object`,
      most: most as number,
      definitions,
      calls: (n) => [post(WIDES, wide(specOf(n)))],
    },
    {
      what: `many ${what as string}, second object`,
      most: most as number,
      definitions,
      calls: (n) => [post(WIDES, wide(specOf(n), 'before')), post(WIDES, wide(specOf(n)))],
    },
    {
      what: `many ${what as string}, read`,
      most: most as number,
      definitions,
      stored: (n) => [[GROUP, 'wides', wide(specOf(n))]],
      calls: () => [{ method: 'GET', path: `${WIDES}/w` }],
    },
    {
      what: `many ${what as string}, listed`,
      most: most as number,
      definitions,
      stored: (n) => many(3, (at) => [GROUP, 'wides', wide(specOf(n), `w${at}`)] as const),
      calls: () => [{ method: 'GET', path: WIDES }],
    },
  ]
})

export const configurationCases: readonly WideCase[] = [
  ...withDefaults,
  ...ofWebhooks,
  ...ofRights,
  ...manySubjects,
  ...ofFlows,
  ...quotas,
]
