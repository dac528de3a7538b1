/**
 * Writes the v2 document, which describes everything that is served, piece by piece. The members of custom resources
 * are made one after the other and are not kept.
 */
import { append } from '../base/append.ts'
import type { Json, JsonObject } from '../api/object.ts'
import type { ResourceEntry, ServedResources } from '../registry/served/resources.ts'
import type { Describe } from '../schema/to-openapi.ts'
import { closureOf, kindEntry, openApiModel } from '../schema/to-openapi.ts'
import { modelMembers, modelNames } from './custom-resources.ts'
import { fixedPaths, groupPath } from './fixed-paths.ts'
import type { OpenApiSettings, PathItem } from './operation.ts'
import type { Member } from './members.ts'
import { inSteps, madeMembers } from './members.ts'
import type { RemoteSpec } from './remote-spec.ts'
import { addedBy, withModelNames } from './remote-spec.ts'
import { pathMembers } from './rendered-paths.ts'
import { pathsV2 } from './render-v2.ts'
import {
  EVERYWHERE,
  info,
  knownGroupVersions,
  META,
  modelsOf,
  pathsOfVersion,
  publishesSchemas,
} from './served-paths.ts'

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

const head = { swagger: '2.0', info }

/** The document without its members. */
export const swaggerFrame: JsonObject = { ...head, ...security }

export type Section = 'paths' | 'definitions' | 'parameters'
export type SwaggerMember = readonly [section: Section, name: string, json: string] | undefined

/** @param members those of `swaggerMembers` */
export function* swaggerPieces(members: Iterable<SwaggerMember>): Generator<string, void, undefined> {
  yield JSON.stringify(head).slice(0, -1)
  let end = ''
  let current: Section | undefined
  for (const made of members) {
    if (made === undefined) {
      yield ''
      continue
    }
    const [section, name, json] = made
    yield `${section === current ? ',' : `${end},"${section}":{`}${JSON.stringify(name)}:${json}`
    current = section
    end = '}'
  }
  yield `${end},${JSON.stringify(security).slice(1)}`
}

/** The members, section by section; undefined where other requests may have their turn. */
export function* swaggerMembers(
  served: ServedResources,
  describe: Describe,
  settings: OpenApiSettings,
  remote: readonly RemoteSpec[] = [],
): Generator<SwaggerMember, void, undefined> {
  const models = new Set<string>()
  const parameters = new Map<string, Json | undefined>()
  const render = (items: readonly PathItem[]): JsonObject => {
    const own = pathsV2(items)
    for (const [name, parameter] of Object.entries(own.parameters)) parameters.set(name, parameter)
    return own.paths
  }
  const paths: Member[] = []
  for (const items of builtInItems(served, describe, settings)) {
    for (const model of modelsOf(items)) models.add(model)
    for (const [path, item] of Object.entries(render(items))) paths.push([path, () => JSON.stringify(item)])
    yield
  }
  const custom = customEntries(served)
  const own = new Set(custom.flatMap(modelNames))
  const referred = new Set<string>()
  append(paths, yield* pathMembers(custom, describe, settings, render, referred))
  for (const model of referred) if (!own.has(model)) models.add(model)
  const builtIn = closureOf(models)
  const renamed = renamedModels(own, builtIn)
  const clashes = (entry: ResourceEntry): boolean => modelNames(entry).some((name) => renamed.has(name))
  const { clashing = [], others = [] } = Object.groupBy(custom, (entry) => (clashes(entry) ? 'clashing' : 'others'))
  for (const member of yield* pathMembers(clashing, describe, settings, render, referred))
    // of two members with one name the later one counts
    paths.push(withModelNames(member, renamed))
  const definitions = [
    ...builtInDefinitions(builtIn, describe),
    ...customDefinitions(others, describe),
    ...customDefinitions(clashing, describe).map((member) => withModelNames(member, renamed)),
  ]
  const ownParameters = (): Member[] =>
    [...parameters].map(([name, parameter]) => [name, () => JSON.stringify(parameter)])
  const added = yield* inSteps(addedBy(remote, { paths, definitions, parameters: ownParameters() }))
  yield* within('paths', [...paths, ...added.paths])
  yield* within('definitions', [...definitions, ...added.definitions])
  yield* within('parameters', [...ownParameters(), ...added.parameters])
}

function* within(section: Section, members: readonly Member[]): Generator<SwaggerMember, void, undefined> {
  for (const made of madeMembers(members)) yield made && [section, ...made]
}

/** Members of this server's own resources, one group version in each step. */
function* builtInItems(
  served: ServedResources,
  describe: Describe,
  settings: OpenApiSettings,
): Generator<readonly PathItem[], void, undefined> {
  yield Object.values(fixedPaths)
  for (const { group, versions } of served.groups) {
    if (group !== '' && served.isBuiltInGroup(group)) yield [groupPath(group)]
    for (const version of versions)
      if (version.remote !== true && !publishesSchemas(version))
        yield pathsOfVersion(group, version, describe, settings)
  }
}

const customEntries = ({ groups }: ServedResources): ResourceEntry[] =>
  groups
    .flatMap(({ versions }) => versions)
    .filter((version) => version.remote !== true && publishesSchemas(version))
    .flatMap(({ resources }) => resources)

/**
 * Models of custom resources whose names built-in ones have: the group `apps.api.k8s.io` has `io.k8s.api.apps`, too.
 * They get a number, as in kube-openapi's aggregator.
 */
function renamedModels(own: ReadonlySet<string>, builtIn: readonly string[]): ReadonlyMap<string, string> {
  return new Map(builtIn.filter((name) => own.has(name)).map((name) => [name, `${name}_v2`]))
}

const builtInDefinitions = (models: readonly string[], describe: Describe): Member[] =>
  models.map((name) => [name, () => JSON.stringify(openApiModel(name, 'v2', describe, allKinds(name)))])

const customDefinitions = (custom: readonly ResourceEntry[], describe: Describe): Member[] =>
  custom.flatMap((entry) => modelMembers(entry, 'v2', describe))

/** These kinds belong to every group version that Kubernetes knows, served or not. */
function allKinds(name: string): JsonObject[] | undefined {
  const kind = EVERYWHERE.find((one) => name === `${META}.${one}`)
  if (kind === undefined) return undefined
  return knownGroupVersions().map(({ group, version }) => kindEntry(group, version, kind))
}
