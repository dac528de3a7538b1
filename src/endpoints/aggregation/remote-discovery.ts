/** The resources of other servers' group versions, for the aggregated discovery document. */
import * as z from 'zod/mini'
import { bytesToBase16 } from '../../base/base16.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import { covers, parseAccept } from '../../codec/negotiation/media-type.ts'
import type { ApiRequest } from '../../request/context.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import { RemoteDocuments, okJson } from './remote-documents.ts'

/** By `GROUP/VERSION`. */
export interface RemoteDiscovery {
  /** Equal keys mean equal documents. */
  readonly key: string
  readonly versions: ReadonlyMap<string, RemoteVersionResources>
}

export interface RemoteVersionResources {
  readonly resources: readonly JsonObject[]
  readonly isCurrent: boolean
}

const text = z.optional(z.nullable(z.string()))
const strings = z.optional(z.nullable(z.array(z.string())))
const listOf = <T extends z.ZodMiniType>(one: T) => z.optional(z.nullable(z.array(one)))

const apiResourceList = z.object({
  resources: listOf(
    z.object({
      name: z.string(),
      singularName: text,
      namespaced: z.optional(z.boolean()),
      group: text,
      version: text,
      kind: text,
      verbs: strings,
      shortNames: strings,
      categories: strings,
    }),
  ),
})
type ApiResource = NonNullable<NonNullable<z.infer<typeof apiResourceList>['resources']>[number]>

const groupVersionKind = z.object({ group: text, version: text, kind: text })
const responseKind = z.optional(z.nullable(groupVersionKind))
const versionDiscovery = z.object({
  resources: listOf(
    z.object({
      resource: text,
      responseKind,
      scope: text,
      singularResource: text,
      verbs: strings,
      shortNames: strings,
      categories: strings,
      subresources: listOf(
        z.object({ subresource: text, responseKind, acceptedTypes: listOf(groupVersionKind), verbs: strings }),
      ),
    }),
  ),
})
type DescribedResource = NonNullable<NonNullable<z.infer<typeof versionDiscovery>['resources']>[number]>

/** The versions are read when a group version is found. */
const groupDiscoveryList = z.object({
  items: listOf(
    z.object({
      metadata: z.optional(z.object({ name: text })),
      versions: listOf(z.looseObject({ version: text })),
    }),
  ),
})

interface Resources {
  /** A hash of the resources. */
  readonly key: string
  readonly size: number
  readonly resources: readonly JsonObject[]
}

async function resourcesOf(resources: readonly JsonObject[]): Promise<Resources> {
  const spelled = JSON.stringify(resources)
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(spelled))
  return { key: bytesToBase16(new Uint8Array(hash)), size: spelled.length, resources }
}

const documents = new RemoteDocuments<Resources>({
  // as kube-aggregator, to which the condition Available says nothing about discovery
  asksUnavailable: true,
  // as kube-aggregator: the document of all groups, or else the list of the version
  before: {
    path: () => '/apis',
    accept: ['v2', 'v2beta1']
      .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
      .join(','),
    async read(answer, { spec }) {
      if (answer.status === 503) throw new CallFailed('the answer has status 503')
      if (answer.status !== 200 || !isAggregated(answer.headers.get('Content-Type') ?? '')) return undefined
      const list = groupDiscoveryList.safeParse(await okJson(answer))
      if (!list.success) throw new CallFailed('the answer is no APIGroupDiscoveryList')
      const described = list.data.items
        ?.findLast(({ metadata }) => metadata?.name === spec?.group)
        ?.versions?.findLast(({ version }) => version === spec?.version)
      const version = versionDiscovery.safeParse(described ?? {})
      if (!version.success) throw new CallFailed('the answer is no APIGroupDiscoveryList')
      return resourcesOf((version.data.resources ?? []).map(describedResource))
    },
  },
  path: ({ spec }) => `/apis/${spec?.group}/${spec?.version}`,
  accept: 'application/json',
  // a list of a thousand resources has a quarter of it; it is checked and brought into the other form at once
  maxBytes: 1 << 20,
  // four hundred servers of the usual size; a short list takes fourteen times its text
  mostKept: 2 << 20,
  sizeOf: ({ size }) => size,
  async read(answer) {
    const list = apiResourceList.safeParse(await okJson(answer))
    if (!list.success) throw new CallFailed('the answer is no APIResourceList')
    return resourcesOf(aggregatedResources(list.data.resources ?? []))
  },
})

function isAggregated(contentType: string): boolean {
  const [clause] = parseAccept(contentType)
  if (clause === undefined || !covers(clause, 'application/json')) return false
  const { parameters } = clause
  return (
    parameters.get('g') === 'apidiscovery.k8s.io' &&
    parameters.get('as') === 'APIGroupDiscoveryList' &&
    ['v2', 'v2beta1'].includes(parameters.get('v') ?? '')
  )
}

export async function remoteDiscovery(request: ApiRequest): Promise<RemoteDiscovery> {
  const known = await documents.known(request)
  const versions = new Map(
    known.map(({ service: { spec }, value, isCurrent }) => [
      `${spec?.group}/${spec?.version}`,
      { resources: value?.resources ?? [], isCurrent },
    ]),
  )
  const keys = known.map(({ service: { spec }, value, isCurrent }) => [
    spec?.group,
    spec?.version,
    value?.key,
    isCurrent,
  ])
  return { key: JSON.stringify(keys), versions }
}

/** In the spelling of Go's encoder. */
const describedResource = (one: DescribedResource): JsonObject => ({
  resource: one.resource ?? '',
  responseKind: kindOf(one.responseKind ?? {}),
  scope: one.scope ?? '',
  singularResource: one.singularResource ?? '',
  verbs: verbsOf(one),
  ...present('shortNames', one.shortNames),
  ...present('categories', one.categories),
  ...present(
    'subresources',
    one.subresources?.map((below) => ({
      subresource: below.subresource ?? '',
      responseKind: kindOf(below.responseKind ?? {}),
      ...present('acceptedTypes', below.acceptedTypes?.map(kindOf)),
      verbs: verbsOf(below),
    })),
  ),
})

/**
 * Brings an unaggregated list into the aggregated form, in which a resource contains its subresources.
 * @throws CallFailed where a resource and a subresource have different scopes
 */
export function aggregatedResources(list: readonly ApiResource[]): JsonObject[] {
  const isBelow = ({ name }: ApiResource): boolean => name.includes('/')
  const parentOf = ({ name }: ApiResource): string => name.slice(0, name.indexOf('/'))
  const own = list.filter((one) => !isBelow(one))
  const below = Map.groupBy(list.filter(isBelow), parentOf)
  // of equal names the last one has the subresources
  const last = new Map(own.map((one) => [one.name, one]))
  const made = [...below].filter(([name]) => !last.has(name))
  return [
    ...own.map((one) => aggregated(one, last.get(one.name) === one ? (below.get(one.name) ?? []) : [])),
    ...made.map(([name, found]) => aggregated({ name, namespaced: found[0]?.namespaced }, found)),
  ]
}

function aggregated(one: ApiResource, below: readonly ApiResource[]): JsonObject {
  const scopeOf = ({ namespaced }: ApiResource): string => (namespaced === true ? 'Namespaced' : 'Cluster')
  if (below.some((found) => scopeOf(found) !== scopeOf(one)))
    throw new CallFailed(`${one.name} and its subresources have different scopes`)
  return describedResource({
    resource: one.name,
    responseKind: one,
    scope: scopeOf(one),
    singularResource: one.singularName,
    verbs: one.verbs,
    shortNames: one.shortNames,
    categories: one.categories,
    subresources: below.map((found) => ({
      subresource: found.name.slice(one.name.length + 1),
      responseKind: (found.kind ?? '') === '' ? undefined : found,
      verbs: found.verbs,
    })),
  })
}

const kindOf = ({ group, version, kind }: z.infer<typeof groupVersionKind>): JsonObject => ({
  group: group ?? '',
  version: version ?? '',
  kind: kind ?? '',
})

const verbsOf = ({ verbs }: { readonly verbs?: readonly string[] | null | undefined }): Json =>
  verbs ? [...verbs] : null

const present = (name: string, values: readonly Json[] | null | undefined): { [name: string]: Json } =>
  values?.length ? { [name]: [...values] } : {}
