// Definitions, policies and objects whose short text means much work: expensive rules and policies, many rules and
// policies, and definitions with many properties, columns, versions and values. A number sets the size of each.
import type { Json, JsonObject } from '../../src/api/object.ts'
import type { Call } from './load.ts'
import type { Definition } from './memory-target.ts'
import { configurationCases } from './wide-configurations.ts'
import {
  DEFINITIONS,
  GROUP,
  WIDES,
  created,
  definitionOf,
  get,
  many,
  post,
  schemaOf,
  wide,
} from './wide-definitions.ts'
import type { Version } from './wide-definitions.ts'

export interface WideCase {
  readonly what: string
  /** The largest size that a definition, a policy or a body may have. */
  readonly most: number
  readonly definitions?: (n: number) => readonly Definition[]
  /** Objects that exist before the first request: group, resource, object. */
  readonly stored?: (n: number) => readonly (readonly [group: string, resource: string, object: JsonObject])[]
  /** The bench measures the last call. */
  readonly calls: (n: number) => readonly Call[]
}

const INTEGERS = { type: 'array', maxItems: 1000, items: { type: 'integer' } }
const ruled = (rules: readonly JsonObject[], schema: JsonObject): JsonObject => ({
  ...schema,
  'x-kubernetes-validations': rules as JsonObject[],
})
/** An expensive rule: it costs about eight times the square of the number of items. */
const DEAR = { rule: 'self.all(a, self.all(b, a + b >= 0))' }

const objectWith = (schema: (n: number) => JsonObject, spec: (n: number) => Json) => ({
  definitions: (n: number) => [definitionOf([{ schema: schemaOf(schema(n)) }])],
  calls: (n: number) => [post(WIDES, wide(spec(n)))],
})

const rules: readonly WideCase[] = [
  {
    what: 'a dear rule',
    most: 350,
    ...objectWith(
      () => ruled([DEAR], INTEGERS),
      (n) => many(n, (at) => at),
    ),
  },
  {
    what: 'ten dear rules at a place',
    most: 350,
    ...objectWith(
      () =>
        ruled(
          many(10, () => DEAR),
          INTEGERS,
        ),
      (n) => many(n, (at) => at),
    ),
  },
  {
    what: 'a rule on each of many items',
    most: 100_000,
    ...objectWith(
      () => ({ type: 'array', items: ruled([{ rule: 'self >= 0' }], { type: 'integer' }) }),
      (n) => many(n, (at) => at),
    ),
  },
  {
    what: 'a rule that many items break',
    most: 100_000,
    ...objectWith(
      () => ({ type: 'array', items: ruled([{ rule: 'self < 0' }], { type: 'integer' }) }),
      (n) => many(n, (at) => at),
    ),
  },
  {
    what: 'many rules at a place, for the first time',
    most: 15_000,
    ...objectWith(
      (n) =>
        ruled(
          many(n, (at) => ({ rule: `self.size() >= 0 || ${at} > 0`, message: 'm' })),
          INTEGERS,
        ),
      () => [1],
    ),
  },
  {
    what: 'a definition with many rules',
    most: 15_000,
    calls: (n) => [
      created(
        definitionOf([
          {
            schema: schemaOf(
              ruled(
                many(n, (at) => ({ rule: `self.size() >= 0 || ${at} > 0` })),
                INTEGERS,
              ),
            ),
          },
        ]),
      ),
    ],
  },
  {
    what: 'a definition with a rule on each of many properties',
    most: 10_000,
    calls: (n) => [
      created(
        definitionOf([
          {
            schema: schemaOf({
              type: 'object',
              properties: Object.fromEntries(
                many(n, (at) => [`p${at}`, ruled([{ rule: `self > ${at}` }], { type: 'integer' })]),
              ),
            }),
          },
        ]),
      ),
    ],
  },
  {
    what: 'a rule of many terms',
    most: 12_000,
    calls: (n) => [
      created(
        definitionOf([
          { schema: schemaOf(ruled([{ rule: many(n, () => 'self>0').join('||') }], { type: 'integer' })) },
        ]),
      ),
    ],
  },
  {
    what: 'a default that a dear rule looks at',
    most: 300,
    calls: (n) => [
      created(
        definitionOf([
          {
            schema: schemaOf({
              type: 'object',
              properties: {
                list: {
                  ...ruled(
                    many(8, () => DEAR),
                    { ...INTEGERS, maxItems: n },
                  ),
                  default: many(n, (at) => at),
                },
              },
            }),
          },
        ]),
      ),
    ],
  },
]

const POLICIES = 'admissionregistration.k8s.io'
const policy = (spec: JsonObject): readonly (readonly [string, string, JsonObject])[] => [
  [
    POLICIES,
    'validatingadmissionpolicies',
    {
      apiVersion: `${POLICIES}/v1`,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'p', generation: 1 },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          matchPolicy: 'Equivalent',
          namespaceSelector: {},
          objectSelector: {},
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'], scope: '*' },
          ],
        },
        ...spec,
      },
    },
  ],
  [
    POLICIES,
    'validatingadmissionpolicybindings',
    {
      apiVersion: `${POLICIES}/v1`,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'p' },
      spec: { policyName: 'p', validationActions: ['Deny'] },
    },
  ],
]
const LISTS = 'lists.range(%n)'
const dear = (n: number): string => `${LISTS}.all(a, ${LISTS}.all(b, a + b >= 0))`.replaceAll('%n', String(n))
const configMap = (data: JsonObject = {}): Call[] => [
  post('/api/v1/namespaces/default/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data }),
]

const policies: readonly WideCase[] = [
  {
    what: 'a policy with dear validations',
    most: 350,
    stored: (n) => policy({ validations: many(10, () => ({ expression: dear(n) })) }),
    calls: () => configMap(),
  },
  {
    what: 'a policy with dear variables',
    most: 350,
    stored: (n) =>
      policy({
        variables: many(10, (at) => ({ name: `v${at}`, expression: dear(n) })),
        validations: [{ expression: many(10, (at) => `variables.v${at}`).join(' && ') }],
      }),
    calls: () => configMap(),
  },
  {
    what: 'a policy with dear conditions',
    most: 350,
    stored: (n) =>
      policy({
        matchConditions: many(3, (at) => ({ name: `c${at}`, expression: dear(n) })),
        validations: [{ expression: 'true' }],
      }),
    calls: () => configMap(),
  },
  {
    what: 'a policy with many validations, for the first time',
    most: 10_000,
    stored: (n) => policy({ validations: many(n, (at) => ({ expression: `object.metadata.name != "n${at}"` })) }),
    calls: () => configMap(),
  },
  {
    what: 'a pattern of many states',
    most: 1_000_000,
    stored: () => policy({ validations: [{ expression: 'object.data.text.matches("[ab]{0,1000}c")' }] }),
    calls: (n) => configMap({ text: 'ab'.repeat(n / 2) }),
  },
  {
    what: 'a text that is asked for its size again and again',
    most: 1_000_000,
    stored: () => policy({ validations: [{ expression: 'lists.range(100000).all(i, object.data.text.size() > i)' }] }),
    calls: (n) => configMap({ text: 'x'.repeat(n) }),
  },
  {
    what: 'a map that is asked for its size again and again',
    most: 40_000,
    stored: () => policy({ validations: [{ expression: 'lists.range(100000).all(i, object.data.size() > i)' }] }),
    calls: (n) => configMap(Object.fromEntries(many(n, (at) => [`k${at}`, '']))),
  },
]

const properties = (n: number, one: (at: number) => JsonObject): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(many(n, (at) => [`p${at}`, one(at)])),
})
const TEXT = { type: 'string' }
const columns = (n: number): JsonObject => ({
  additionalPrinterColumns: many(n, (at) => ({ name: `c${at}`, type: 'string', jsonPath: `.spec.p${at}` })),
})
const nested = (n: number): JsonObject => {
  let schema: JsonObject = TEXT
  for (let at = 0; at < n; at++) schema = { type: 'object', properties: { a: schema } }
  return schema
}
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

const ANY_OBJECT: JsonObject = { type: 'object' }

/** Definitions by their wide part: the largest size, and the versions for a size. */
const shapes: readonly (readonly [what: string, most: number, versions: (n: number) => readonly Version[]])[] = [
  ['properties', 40_000, (n) => [{ schema: schemaOf(properties(n, () => TEXT)) }]],
  ['columns', 20_000, (n) => [{ schema: schemaOf(properties(1, () => TEXT)), more: columns(n) }]],
  [
    'versions',
    3_000,
    (n) => many(n, (at) => ({ name: `v${at + 1}`, schema: schemaOf(properties(3, () => TEXT)), more: columns(2) })),
  ],
  [
    'deprecated versions',
    10_000,
    (n) => many(n, (at) => ({ name: `v${at + 1}alpha1`, schema: ANY_OBJECT, more: { deprecated: at % 2 === 0 } })),
  ],
  [
    'values of an enum',
    100_000,
    (n) => [{ schema: schemaOf(properties(1, () => ({ type: 'string', enum: many(n, (at) => `value${at}`) }))) }],
  ],
  ['deep properties', 20_000, (n) => [{ schema: schemaOf(properties(n / 40, () => nested(40))) }]],
  [
    'required properties',
    30_000,
    (n) => [{ schema: schemaOf({ ...properties(n, () => TEXT), required: many(n, (at) => `p${at}`) }) }],
  ],
]

const DOCUMENTS: Readonly<Record<string, Call>> = {
  'OpenAPI v3': get(`/openapi/v3/apis/${GROUP}/v1`),
  'the index of OpenAPI v3': get('/openapi/v3'),
  'OpenAPI v2': get('/openapi/v2'),
  'OpenAPI v3 in protobuf': get(
    `/openapi/v3/apis/${GROUP}/v1`,
    'application/com.github.proto-openapi.spec.v3@v1.0+protobuf',
  ),
  'its version': get(`/apis/${GROUP}/v1`),
  'its group': get(`/apis/${GROUP}`),
  'all groups': get('/apis'),
  'all groups, aggregated': get('/apis', AGGREGATED),
  'an empty list as a Table': get(WIDES, TABLE),
  'the definitions as a Table': get(DEFINITIONS, TABLE),
}

const documents: readonly WideCase[] = shapes.flatMap(([what, most, versions]) => [
  {
    what: `a definition of many ${what}, created`,
    most,
    calls: (n: number) => [created(definitionOf(versions(n)))],
  },
  ...Object.entries(DOCUMENTS).map(([document, call]) => ({
    what: `many ${what}: ${document}`,
    most,
    definitions: (n: number) => [definitionOf(versions(n))],
    calls: () => [call],
  })),
])

const ONE_GROUP = 1_000
const oneGroup: readonly WideCase[] = Object.entries(DOCUMENTS)
  .filter(([document]) => !document.includes('list'))
  .map(([document, call]) => ({
    what: `many definitions of one group: ${document}`,
    most: ONE_GROUP,
    definitions: (n) =>
      many(n, (at) =>
        definitionOf([{ schema: schemaOf(properties(20, () => TEXT)), more: columns(3) }], `wide${at}s`, `Wide${at}`),
      ),
    calls: () => [call],
  }))

/** Rows of a Table. */
const OBJECTS = 50

const tables: readonly WideCase[] = [
  {
    what: 'a Table of many columns',
    most: 20_000,
    definitions: (n) => [definitionOf([{ schema: schemaOf(properties(10, () => TEXT)), more: columns(n) }])],
    stored: () => many(OBJECTS, (at) => [GROUP, 'wides', wide({ p1: 'a' }, `w${at}`)] as const),
    calls: () => [get(WIDES, TABLE)],
  },
  {
    what: 'a Table of one huge object, by paths through all of it',
    most: 40_000,
    definitions: () => [
      definitionOf([
        {
          schema: schemaOf({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
          more: {
            additionalPrinterColumns: many(20, (at) => ({
              name: `c${at}`,
              type: 'string',
              jsonPath: ['.spec..a', '.spec.list[*].a', '.spec.list[?(@.a=="x")].a', '.spec.list[-1:].a'][at % 4]!,
            })),
          },
        },
      ]),
    ],
    stored: (n) => [[GROUP, 'wides', wide({ list: many(n, (at) => ({ a: `v${at}` })) })]],
    calls: () => [get(`${WIDES}/w`, TABLE)],
  },
  {
    what: 'a Table of one huge object, deep in it',
    most: 40_000,
    definitions: () => [
      definitionOf([
        {
          schema: schemaOf({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
          more: {
            additionalPrinterColumns: many(4, (at) => ({ name: `c${at}`, type: 'string', jsonPath: '.spec..a..b..c' })),
          },
        },
      ]),
    ],
    stored: (n) => [
      [GROUP, 'wides', wide({ list: many(n / 10, () => ({ a: { a: { a: { b: { b: { c: {} } } } } } })) })],
    ],
    calls: () => [get(`${WIDES}/w`, TABLE)],
  },
]

export const wideCases: readonly WideCase[] = [
  ...rules,
  ...policies,
  ...documents,
  ...oneGroup,
  ...tables,
  ...configurationCases,
]
