/**
 * Writes the v3 document of a version of custom resources piece by piece: the models of the resources, and the models
 * that every document has (apiextensions' controller/openapiv3).
 */
import { append } from '../base/append.ts'
import { escapeHtml } from '../json/write-json.ts'
import type { ServedVersion } from '../registry/served/resources.ts'
import type { Describe } from '../schema/to-openapi.ts'
import { closureOf, kindEntry, openApiModel } from '../schema/to-openapi.ts'
import { modelMembers } from './custom-resources.ts'
import type { Member } from './members.ts'
import { objectPieces } from './members.ts'
import type { OpenApiSettings } from './operation.ts'
import { pathMembers } from './rendered-paths.ts'
import { pathsV3 } from './render-v3.ts'
import { EVERYWHERE, knownGroupVersions, META } from './served-paths.ts'

/** client-go's scheme does not have these groups, so kube-apiserver does not name their kinds here. */
const NOT_FOR_CLIENTS: ReadonlySet<string> = new Set([
  'admission.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'imagepolicy.k8s.io',
])

export function* customPieces(
  version: ServedVersion,
  describe: Describe,
  settings: OpenApiSettings,
): Generator<string, void, undefined> {
  for (const piece of unescaped(version, describe, settings)) yield escapeHtml(piece)
}

function* unescaped(
  { resources }: ServedVersion,
  describe: Describe,
  settings: OpenApiSettings,
): Generator<string, void, undefined> {
  const models = new Set([`${META}.ObjectMeta`, `${META}.ListMeta`])
  const made = pathMembers(resources, describe, settings, pathsV3, models)
  let step = made.next()
  for (; step.done !== true; step = made.next()) yield ''
  const paths = step.value
  const schemas = closureOf(models).map((name): Member => [name, () => JSON.stringify(sharedModel(name, describe))])
  for (const entry of resources) append(schemas, modelMembers(entry, 'v3', describe))
  yield '{"openapi":"3.0.0","info":{"title":"Kubernetes CRD Swagger","version":"v0.1.0"},"paths":'
  yield* objectPieces(paths)
  yield ',"components":{"schemas":'
  yield* objectPieces(schemas)
  yield '}}'
}

function sharedModel(name: string, describe: Describe) {
  const everywhere = EVERYWHERE.find((kind) => name === `${META}.${kind}`)
  if (everywhere === undefined) return openApiModel(name, 'v3', describe)
  const kinds = knownGroupVersions().filter(({ group }) => !NOT_FOR_CLIENTS.has(group))
  return openApiModel(
    name,
    'v3',
    describe,
    kinds.map((gv) => kindEntry(gv.group, gv.version, everywhere)),
  )
}
