import type { JsonObject, KubeObject } from '../../src/api/object.ts'

/** A CustomResourceDefinition as it is stored, with names accepted and established. */
export const definition = (plural: string, group: string, metadata: object = {}, established = true) => {
  const kind = plural[0]!.toUpperCase() + plural.slice(1, -1)
  const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` }
  const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' })
  return {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: `${plural}.${group}`, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: {
      group,
      names,
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
    status: {
      acceptedNames: names,
      storedVersions: ['v1'],
      conditions: established ? [condition('NamesAccepted'), condition('Established')] : [],
    },
  } as unknown as KubeObject & JsonObject // the test writes whole objects
}
