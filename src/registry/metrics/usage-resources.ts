/**
 * metrics.k8s.io/v1beta1 as metrics-server serves it, for control planes with simulated nodes.
 * controllers/simulation/usage.ts computes the usage of pods and nodes for each request. kube-apiserver does not have
 * these kinds, so internal CustomResourceDefinitions describe them. No client creates or sees these definitions.
 */
import type { CustomResourceColumnDefinition, CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import { lazy } from '../../base/lazy.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import type { Endpoint } from '../endpoint.ts'
import { builtInServing } from '../served/built-in-serving.ts'
import { customServing } from '../custom-resources/custom-serving.ts'
import { versionNamed } from '../custom-resources/definition.ts'
import { entryOf } from '../custom-resources/entries.ts'
import type { ResourceEntry, ServedGroup } from '../served/resources.ts'
import type { Serving } from '../served/serving.ts'

export const METRICS = { group: 'metrics.k8s.io', version: 'v1beta1' } as const

/** The priorities of metrics-server's APIService. */
const PRIORITY = 100

const serving: Serving = { ...customServing, verbAt: builtInServing.verbAt }

const text = (description: string): JsonObject => ({ type: 'string', description })
const usage: JsonObject = {
  type: 'object',
  description: 'Amounts by resource: cpu and memory.',
  additionalProperties: { type: 'string' },
}
const measured: JsonObject = {
  timestamp: { ...text('When it was asked for.'), format: 'date-time' },
  window: text('The time before the timestamp that values are the average of, as Go writes a duration.'),
}

const nodes: JsonObject = {
  type: 'object',
  description: 'What a simulated node uses: the sum of its pods.',
  properties: { ...measured, usage },
}
const pods: JsonObject = {
  type: 'object',
  description: 'What the containers of a pod on a simulated node use.',
  properties: {
    ...measured,
    containers: {
      type: 'array',
      items: { type: 'object', properties: { name: text('Name of the container.'), usage } },
    },
  },
}

const column = (name: string, jsonPath: string): CustomResourceColumnDefinition => ({ name, type: 'string', jsonPath })

const usageGroupOnce = lazy((): ServedGroup => ({
  group: METRICS.group,
  priority: PRIORITY,
  versions: [
    {
      version: METRICS.version,
      priority: PRIORITY,
      resources: [
        entry('nodes', 'NodeMetrics', 'Cluster', nodes, 'node-usage', [
          column('CPU', '.usage.cpu'),
          column('Memory', '.usage.memory'),
          column('Window', '.window'),
        ]),
        entry('pods', 'PodMetrics', 'Namespaced', pods, 'pod-usage', [column('Window', '.window')]),
      ],
    },
  ],
}))

/** Returns the same value each time. */
export const usageGroup = (): ServedGroup => usageGroupOnce()

function entry(
  plural: string,
  kind: string,
  scope: string,
  schema: JsonObject,
  endpoint: Endpoint,
  columns: CustomResourceColumnDefinition[],
): ResourceEntry {
  const names = { plural, singular: '', kind, listKind: `${kind}List` }
  const definition: KubeObject & CustomResourceDefinition = {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: `${plural}.${METRICS.group}`, uid: `usage of ${plural}`, generation: 1 },
    spec: {
      group: METRICS.group,
      scope,
      names,
      versions: [
        {
          name: METRICS.version,
          served: true,
          storage: true,
          // a schema is JSON, but its interface does not say so
          schema: { openAPIV3Schema: schema as object },
          additionalPrinterColumns: columns,
        },
      ],
    },
    status: { acceptedNames: names, conditions: [{ type: 'Established', status: 'True' }] },
  }
  const { storageVersionHash: _, ...made } = entryOf(definition, versionNamed(definition, METRICS.version)!)
  return { ...made, verbs: ['get', 'list'], serving, endpoint, persisted: false }
}
