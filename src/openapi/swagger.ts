/**
 * The document of v2, which tells of everything that is served, as the pieces of its text. Those of custom resources are
 * made one by one, when it is their turn, and nothing of them stays.
 */
import { append } from '../api/append.ts'
import { BoundedMap } from '../api/bounded-map.ts'
import type { JsonObject } from '../api/object.ts'
import type { ResourceEntry, ServedResources } from '../registry/resources.ts'
import type { Describe } from '../schema/to-openapi.ts'
import { closureOf, kindEntry, openApiModel } from '../schema/to-openapi.ts'
import { customModelName } from '../registry/custom-resources/custom-model-name.ts'
import { customModels } from './custom-resources.ts'
import { fixedPaths, groupPath } from './fixed-paths.ts'
import type { OpenApiSettings, PathItem } from './operations.ts'
import { pathsOf } from './operations.ts'
import type { Member, RemoteSpec } from './remote-spec.ts'
import { addedBy } from './remote-spec.ts'
import { pathsV2 } from './render-v2.ts'
import { EVERYWHERE, info, isCustom, knownGroupVersions, META, modelsOf, pathsOfVersion } from './served-paths.ts'

const security = {
  securityDefinitions: {
    BearerToken: {
      description: 'Bearer Token authentication',
      type: 'apiKey',
      name: 'authorization',
      in: 'header',
    },
  },
  security: [{ BearerToken: [] }],
}

/** UTF-16 units of the paths that are kept until all of a resource's came: those of a version are mixed by their order. */
const MAX_KEPT = 2 * 1024 * 1024

export function* swaggerPieces(
  served: ServedResources,
  describe: Describe,
  settings: OpenApiSettings,
  remote: readonly RemoteSpec[] = [],
): Generator<string, void, undefined> {
  const { items, custom } = partsOf(served, describe, settings)
  const models = modelsOf(items)
  const builtIn = pathsV2(items)
  const parameters = new Map(Object.entries(builtIn.parameters))
  const paths: Member[] = Object.entries(builtIn.paths).map(([path, item]) => [path, () => JSON.stringify(item)])
  const rendered = rendering(describe, settings, parameters)
  for (const entry of custom) {
    const own = pathsOf(entry, describe, settings)
    for (const model of modelsOf(own)) models.add(model)
    for (const { path } of own) paths.push([path, () => rendered(entry).get(path)!])
    yield ''
  }
  const definitions = [...builtInDefinitions(models, describe), ...customDefinitions(custom, describe)]
  const ownParameters = (): Member[] =>
    [...parameters].map(([name, parameter]) => [name, () => JSON.stringify(parameter)])
  const added = addedBy(remote, { paths, definitions, parameters: ownParameters() })
  yield `{"swagger":"2.0","info":${JSON.stringify(info)},"paths":`
  yield* object([...paths, ...added.paths])
  yield ',"definitions":'
  yield* object([...definitions, ...added.definitions])
  yield ',"parameters":'
  yield* object([...ownParameters(), ...added.parameters])
  yield `,${JSON.stringify(security).slice(1)}`
}

/** What the server itself has, and the custom resources, whose paths are made later. */
function partsOf(served: ServedResources, describe: Describe, settings: OpenApiSettings) {
  const items: PathItem[] = Object.values(fixedPaths)
  const custom: ResourceEntry[] = []
  for (const { group, versions } of served.groups) {
    if (group !== '' && served.isBuiltInGroup(group)) items.push(groupPath(group))
    for (const version of versions)
      if (version.remote !== true)
        if (isCustom(version)) append(custom, version.resources)
        else append(items, pathsOfVersion(group, version, describe, settings))
  }
  return { items, custom }
}

/** In the order of names; of two with one name the later counts. */
function* object(members: readonly Member[]): Generator<string, void, undefined> {
  const sorted = [...new Map(members)].sort(([a], [b]) => (a < b ? -1 : 1))
  let separator = '{'
  for (const [name, json] of sorted) {
    yield `${separator}${JSON.stringify(name)}:${json()}`
    separator = ','
  }
  yield sorted.length === 0 ? '{}' : '}'
}

/** The JSON of a resource's paths. @param parameters gets those that they share */
function rendering(describe: Describe, settings: OpenApiSettings, parameters: Map<string, JsonObject[string]>) {
  const kept = new BoundedMap<ResourceEntry, ReadonlyMap<string, string>>({
    entries: 1_000,
    size: MAX_KEPT,
    sizeOf: (_, paths) => [...paths.values()].reduce((sum, { length }) => sum + length, 0),
  })
  return (entry: ResourceEntry): ReadonlyMap<string, string> =>
    kept.getOrMake(entry, () => {
      const own = pathsV2(pathsOf(entry, describe, settings))
      for (const [name, parameter] of Object.entries(own.parameters)) parameters.set(name, parameter)
      return new Map(Object.entries(own.paths).map(([path, item]) => [path, JSON.stringify(item)]))
    })
}

const builtInDefinitions = (models: ReadonlySet<string>, describe: Describe): Member[] =>
  closureOf(models).map((name) => [name, () => JSON.stringify(openApiModel(name, 'v2', describe, allKinds(name)))])

const customDefinitions = (custom: readonly ResourceEntry[], describe: Describe): Member[] =>
  custom.flatMap((entry) => {
    const { group, version, kind, listKind } = entry
    const json = (name: string) => JSON.stringify(new Map(customModels(entry, 'v2', describe)).get(name))
    return [kind, listKind]
      .map((one) => customModelName(group, version, one))
      .map((name): Member => [name, () => json(name)])
  })

/** Every group version that Kubernetes knows has these kinds, served or not. */
function allKinds(name: string): JsonObject[] | undefined {
  const kind = EVERYWHERE.find((one) => name === `${META}.${one}`)
  if (kind === undefined) return undefined
  return knownGroupVersions().map(({ group, version }) => kindEntry(group, version, kind))
}
