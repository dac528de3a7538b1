/** A custom kind whose objects own others, or are owned. */
import type { JsonObject, OwnerReference } from '../../../src/api/object.ts'

export const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }
export const WIDGETS = { group: 'example.com', resource: 'widgets' }

export const definition = (versions = ['v1']): JsonObject => ({
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Namespaced',
    versions: versions.map((name, at) => ({
      name,
      served: true,
      storage: at === 0,
      schema: { openAPIV3Schema: { type: 'object' } },
    })),
  },
})

export const widget = (name: string, ownerReferences: readonly OwnerReference[] = []): JsonObject =>
  ({
    kind: 'Widget',
    apiVersion: 'example.com/v1',
    metadata: { name, namespace: 'default', ownerReferences },
  }) as unknown as JsonObject
