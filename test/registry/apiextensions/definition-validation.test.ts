import { beforeAll, describe, expect, test } from 'vitest'
import type { CustomResourceDefinition, JSONSchemaProps } from '../../../src/api/apiextensions/v1.ts'
import {
  validateDefinition,
  validateDefinitionUpdate,
} from '../../../src/registry/apiextensions/definition-validation.ts'
import { definitionHasRules, loadRuleEngine } from '../../../src/registry/custom-resources/rules.ts'
import type { Json } from '../../../src/api/object.ts'
import { loadPatterns } from '../../../src/validation/go-pattern.ts'

beforeAll(loadPatterns)

const withSchema = (openAPIV3Schema: JSONSchemaProps): CustomResourceDefinition => ({
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
  },
  status: { storedVersions: ['v1'] },
})

const texts = (definition: CustomResourceDefinition) =>
  validateDefinition(definition, undefined).map(({ field, message }) => `${field}: ${message}`)

const at = 'spec.validation.openAPIV3Schema'

const embedded: JSONSchemaProps = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
}

type Case = [name: string, schema: JSONSchemaProps, errors: string[]]

test.each<Case>([
  ['a structural schema', { type: 'object', properties: { spec: { type: 'object' } } }, []],
  [
    'no type',
    { type: 'object', properties: { a: {} } },
    [`${at}.properties[a].type: Required value: must not be empty for specified object fields`],
  ],
  [
    'a default with unknown fields, whose names are in order',
    { type: 'object', properties: { a: { type: 'object', default: { y: 1, b: '<', 10: 0 } } } },
    [`${at}.properties[a].default: Invalid value: {"10":0,"b":"\\u003c","y":1}: must not have unknown fields`],
  ],
  [
    'no items',
    { type: 'object', properties: { a: { type: 'array' } } },
    [`${at}.properties[a].items: Required value: must be specified`],
  ],
  [
    'a type in an alternative',
    { type: 'object', properties: { a: { type: 'string', anyOf: [{ type: 'string' }] } } },
    [`${at}.properties[a].anyOf[0].type: Forbidden: must be empty to be structural`],
  ],
  [
    'a constraint of what is not declared',
    { type: 'object', not: { properties: { b: {} } } },
    [`${at}.properties[b]: Required value: because it is defined in ${at}.not.properties[b]`],
  ],
  ...[{}, { default: null, title: '', type: '', nullable: false, additionalProperties: false }].map(
    (alternative): Case => [
      `an alternative with ${JSON.stringify(alternative)}`,
      { type: 'object', properties: { a: { type: 'string', anyOf: [alternative] } } },
      [],
    ],
  ),
  ...['default', 'additionalProperties', 'x-kubernetes-list-type', 'x-kubernetes-map-type'].map((keyword): Case => {
    const value = keyword === 'additionalProperties' ? true : keyword === 'default' ? '' : 'atomic'
    const here = `${at}.properties[a].anyOf[0].${keyword}`
    const type = keyword.includes('list') ? 'array' : 'object'
    return [
      `an alternative with ${keyword} ${JSON.stringify(value)}`,
      { type: 'object', properties: { a: { type: 'string', anyOf: [{ [keyword]: value }] } } },
      [
        `${here}: Forbidden: must be undefined to be structural`,
        ...(keyword.startsWith('x-')
          ? [`${at}.properties[a].anyOf[0].type: Required value: must be ${type} if ${keyword} is specified`]
          : []),
      ],
    ]
  }),
  [
    'alternatives of an int-or-string that have types, and additionalProperties false',
    {
      type: 'object',
      properties: {
        a: {
          'x-kubernetes-int-or-string': true,
          anyOf: [{ type: 'integer', additionalProperties: false }, { type: 'string' }],
        },
      },
    },
    [],
  ],
  ...[['a'], {}, true, 1.5].map((value): Case => [
    `the default ${JSON.stringify(value)} of an int-or-string, which has no type there`,
    { type: 'object', properties: { a: { 'x-kubernetes-int-or-string': true, default: value } } },
    [],
  ]),
  [
    'a default that does not fit',
    { type: 'object', properties: { a: { type: 'integer', default: 'x' } } },
    [
      // kube-apiserver validates a default by itself, so the message has no path
      `${at}.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"`,
    ],
  ],
  ...(
    [
      [
        { labels: { a: 1 } },
        'metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
      ],
      [
        { name: 5 },
        'metadata: Invalid value: {"name":5}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
      ],
      ['x', 'metadata: Invalid value: "x": json: cannot unmarshal string into Go value of type v1.ObjectMeta'],
      [
        { namespace: 'x/y' },
        `metadata.namespace: Invalid value: "x/y": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
      ],
      [{ annotations: { a: null } }, undefined],
      [null, undefined],
    ] as [Json, string | undefined][]
  ).map(([metadata, problem]): [string, JSONSchemaProps, string[]] => [
    `an embedded object with the metadata ${JSON.stringify(metadata)} as default`,
    {
      type: 'object',
      properties: { a: { ...embedded, default: { apiVersion: 'v1', kind: 'Pod', metadata } } },
    },
    problem === undefined ? [] : [`${at}.properties[a].default.${problem}`],
  ]),
  ...(
    [
      [
        'labels',
        { type: 'object', default: { a: 1 } },
        '{"a":1}: must result in valid metadata: metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
      ],
      [
        'generation',
        { type: 'string', default: 'x' },
        '"x": must result in valid metadata: metadata: Invalid value: {"generation":"x"}: json: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64',
      ],
      [
        'name',
        { type: 'string', default: 'a/b' },
        `"a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain '/'`,
      ],
      ['name', { type: 'string', default: 'ok' }, undefined],
    ] as [string, JSONSchemaProps, string | undefined][]
  ).map(([name, schema, problem]): [string, JSONSchemaProps, string[]] => [
    `${JSON.stringify(schema.default)} as default of metadata.${name}`,
    {
      type: 'object',
      properties: { a: { ...embedded, properties: { metadata: { type: 'object', properties: { [name]: schema } } } } },
    },
    problem === undefined
      ? []
      : [`${at}.properties[a].properties[metadata].properties[${name}].default: Invalid value: ${problem}`],
  ]),
  [
    'map keys that may be absent',
    {
      type: 'object',
      properties: {
        l: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', properties: { k: { type: 'string' } } },
        },
      },
    },
    [
      `${at}.properties[l].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
    ],
  ],
])('%s', (_name, schema, expected) => {
  expect(texts(withSchema(schema))).toEqual(expected)
})

test('groups of the community need an approval', () => {
  const definition = withSchema({ type: 'object' })
  definition.metadata.name = 'things.x.k8s.io'
  definition.spec!.group = 'x.k8s.io'
  expect(texts(definition)).toEqual([
    'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
  ])
})

describe('rules', () => {
  const spec = (schema: JSONSchemaProps) => withSchema({ type: 'object', properties: { spec: schema } })
  const here = `${at}.properties[spec]`
  const rule = `${here}.x-kubernetes-validations[0].rule`
  const refused = async (definition: CustomResourceDefinition, old?: CustomResourceDefinition) => {
    const engine = definitionHasRules(definition) ? await loadRuleEngine() : undefined
    const errors =
      old === undefined ? validateDefinition(definition, engine) : validateDefinitionUpdate(definition, old, engine)
    return errors.map(({ field, message }) => `${field}: ${message}`)
  }
  const dump = (text: string, message = '') =>
    JSON.stringify({
      Rule: text,
      Message: '',
      MessageExpression: message,
      Reason: null,
      FieldPath: '',
      OptionalOldSelf: null,
    })
  const ADVICE =
    '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'
  const numbers: JSONSchemaProps = { type: 'object', properties: { n: { type: 'integer' } } }
  const expensive: JSONSchemaProps = {
    type: 'array',
    items: { type: 'array', items: { type: 'string' } },
    'x-kubernetes-validations': [{ rule: 'self.all(a, a.all(b, b != "x"))' }],
  }

  test.each<[string, JSONSchemaProps, string[]]>([
    ['one that compiles', { ...numbers, 'x-kubernetes-validations': [{ rule: 'self.n > 1' }] }, []],
    [
      'a field that there is not',
      { ...numbers, 'x-kubernetes-validations': [{ rule: 'self.m == 1' }] },
      [
        `${rule}: Invalid value: ${dump('self.m == 1')}: compilation failed: ERROR: <input>:1:5: undefined field 'm'\n | self.m == 1\n | ....^`,
      ],
    ],
    [
      'one that is no condition',
      { ...numbers, 'x-kubernetes-validations': [{ rule: 'self.n' }] },
      [`${rule}: Invalid value: ${dump('self.n')}: cel expression must evaluate to a bool`],
    ],
    [
      'a message that is no text',
      { ...numbers, 'x-kubernetes-validations': [{ rule: 'false', messageExpression: 'self.n' }] },
      [
        `${here}.x-kubernetes-validations[0].messageExpression: Invalid value: ${dump('false', 'self.n')}: messageExpression must evaluate to a string`,
      ],
    ],
    [
      'a transition of what has no identity',
      { type: 'array', items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > oldSelf' }] } },
      [
        `${here}.items.x-kubernetes-validations[0].rule: Invalid value: "self > oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${here}`,
      ],
    ],
    [
      'a transition in an object of an unknown map type',
      {
        type: 'object',
        'x-kubernetes-map-type': 'x',
        properties: { n: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > oldSelf' }] } },
      },
      [
        `${here}.x-kubernetes-map-type: Unsupported value: "x": supported values: "atomic", "granular"`,
        `${here}.properties[n].x-kubernetes-validations[0].rule: Invalid value: "self > oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${here}`,
      ],
    ],
    [
      'optionalOldSelf without oldSelf',
      { ...numbers, 'x-kubernetes-validations': [{ rule: 'self.n > 1', optionalOldSelf: true }] },
      [
        `${here}.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
      ],
    ],
    [
      'one that may cost too much',
      expensive,
      [
        `${rule}: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${ADVICE}`,
        `${rule}: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
        `${at}: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${ADVICE}`,
      ],
    ],
    [
      'a rule on a property beside additionalProperties: true, which is no map',
      {
        ...numbers,
        additionalProperties: true,
        'x-kubernetes-validations': [{ rule: 'has(self.n)' }, { rule: 'has(self.m)' }],
      },
      [
        `${here}.x-kubernetes-validations[1].rule: Invalid value: ${dump('has(self.m)')}: compilation failed: ERROR: <input>:1:4: undefined field 'm'\n | has(self.m)\n | ...^`,
      ],
    ],
    [
      'rules of the items of what is no list, within another rule',
      {
        type: 'object',
        properties: {
          a: {
            type: 'string',
            items: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self != ""' }] },
            'x-kubernetes-validations': [{ rule: 'self != ""' }],
          },
          b: {
            type: 'string',
            additionalProperties: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self != ""' }] },
            'x-kubernetes-validations': [{ rule: 'self != ""' }],
          },
          c: {
            type: 'string',
            items: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self != ""' }] },
          },
        },
      },
      ['a].items', 'b].additionalProperties'].map(
        (name) =>
          `${here}.properties[${name}.x-kubernetes-validations: Internal error: failed to convert to declType for CEL validation rules`,
      ),
    ],
    [
      'a rule on what has no type, and one inside of it',
      {
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { n: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0' }] } },
        'x-kubernetes-validations': [{ rule: 'true' }],
      },
      ['.properties[n]', ''].map(
        (name) =>
          `${here}${name}.x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations`,
      ),
    ],
    [
      'a default that breaks its rule',
      { type: 'string', default: 'a', 'x-kubernetes-validations': [{ rule: 'self != "a"' }] },
      [`${here}.default: Invalid value: "a": failed rule: self != "a"`],
    ],
    [
      'rules are not looked at where their schema is wrong',
      {
        type: 'object',
        properties: { n: { type: 'integer', uniqueItems: true } },
        'x-kubernetes-validations': [{ rule: 'nonsense' }],
      },
      [
        `${here}.properties[n].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
      ],
    ],
  ])('%s', async (_name, schema, expected) => {
    expect(await refused(spec(schema))).toEqual(expected)
  })

  test('a schema that does not change keeps rules that cost too much, but not more of all together', async () => {
    const many = spec(expensive)
    many.metadata.resourceVersion = '1'
    expect(await refused(many, structuredClone(many))).toEqual([
      `${rule}: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
      `${at}: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${ADVICE}`,
    ])
  })
})
