/** What both OpenAPI versions are made from: the paths of a group version, and the models that they refer to. */
import type { ServedVersion } from '../registry/served/resources.ts'
import { builtInTypeNames, structuralOf } from '../schema/built-in.ts'
import type { Describe } from '../schema/to-openapi.ts'
import { groupVersionPath } from './fixed-paths.ts'
import type { OpenApiSettings, PathItem } from './operation.ts'
import { pathsOf } from './operations.ts'

export const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
export const info = { title: 'Kubernetes', version: '1.36' }

/** Every document has these kinds, each also as a kind of its own group version. */
export const EVERYWHERE = ['DeleteOptions', 'WatchEvent']

export const pathsOfVersion = (
  group: string,
  version: ServedVersion,
  describe: Describe,
  settings: OpenApiSettings,
): PathItem[] => [
  ...(publishesSchemas(version) ? [] : [groupVersionPath({ group, version: version.version }, settings)]),
  ...version.resources.flatMap((entry) => pathsOf(entry, describe, settings)),
]

/**
 * Whether the resources have published schemas, as custom resources do. kube-apiserver writes their documents
 * differently from those of built-in types.
 */
export const publishesSchemas = ({ resources }: ServedVersion): boolean =>
  resources.some(({ serving }) => serving.publishesSchema)

/** The names of the models that operations refer to. */
export function modelsOf(items: readonly PathItem[]): Set<string> {
  const models = new Set<string>()
  for (const { operations } of items)
    for (const { body, responses } of operations) {
      if (body !== undefined) models.add(body.model)
      for (const { model } of responses) if (model !== undefined) models.add(model)
    }
  return models
}

/** Groups of the API machinery, which no server registers. */
const NOT_SERVABLE: ReadonlySet<string> = new Set(['apidiscovery.k8s.io', 'meta.k8s.io'])

let groupVersions: readonly { group: string; version: string }[] | undefined

/** All group versions that Kubernetes knows, served or not. */
export function knownGroupVersions(): readonly { group: string; version: string }[] {
  if (groupVersions === undefined) {
    const seen = new Map<string, { group: string; version: string }>()
    for (const name of builtInTypeNames()) {
      const type = structuralOf(name)
      if (type.shape !== 'struct' || type.gvk === undefined || NOT_SERVABLE.has(type.gvk.group)) continue
      const { group, version } = type.gvk
      seen.set(`${group} ${version}`, { group, version })
    }
    groupVersions = [...seen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, gv]) => gv)
  }
  return groupVersions
}
