// CustomResourceDefinitions like those of operators: ten in a group, 20 KB each, mostly descriptions.

const SIZE = 20_000
const TO_A_GROUP = 10

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export interface Named {
  readonly name: string
  readonly group: string
  readonly plural: string
  readonly kind: string
}

export function named(n: number): Named {
  const group = `g${Math.floor(n / TO_A_GROUP)}.bench.example.com`
  return { name: `things${n}.${group}`, group, plural: `things${n}`, kind: `Thing${n}` }
}

const description = (field: string): string =>
  `${field} says what the operator does about this part of the thing, and when. Absent: what the operator's settings ` +
  'say. More info: https://example.com/docs/reference/thing'

const section = (name: string): object => ({
  type: 'object',
  description: description(name),
  required: ['name'],
  properties: {
    name: { type: 'string', description: description('name'), minLength: 1, maxLength: 253 },
    replicas: { type: 'integer', format: 'int32', description: description('replicas'), minimum: 0, default: 1 },
    mode: { type: 'string', description: description('mode'), enum: ['Always', 'IfNotPresent', 'Never'] },
    labels: { type: 'object', description: description('labels'), additionalProperties: { type: 'string' } },
    limit: { 'x-kubernetes-int-or-string': true, description: description('limit') },
    hosts: {
      type: 'array',
      description: description('hosts'),
      items: {
        type: 'object',
        properties: {
          host: { type: 'string', description: description('host'), pattern: '^[a-z0-9.-]+$' },
          port: { type: 'integer', description: description('port'), minimum: 1, maximum: 65535 },
        },
      },
    },
  },
})

/** The JSON of definition number n. */
export function definition(n: number): string {
  const { name, group, plural, kind } = named(n)
  const sections: Record<string, object> = {}
  const whole = (): string =>
    JSON.stringify({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, singular: `thing${n}`, kind, listKind: `${kind}List`, shortNames: [`t${n}`] },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: {
              openAPIV3Schema: {
                type: 'object',
                description: description('Thing'),
                properties: {
                  spec: { type: 'object', properties: sections },
                  status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
            },
          },
        ],
      },
    })
  for (let at = 0; whole().length < SIZE; at++) sections[`section${at}`] = section(`section${at}`)
  return whole()
}
