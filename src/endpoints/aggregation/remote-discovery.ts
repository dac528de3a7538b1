/** The resources of other servers' group versions, for the aggregated discovery document. */
import * as z from 'zod/mini'
import { bytesToBase16 } from '../../base/base16.ts'
import type { Json, JsonObject } from '../../api/object.ts'
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

const strings = z.optional(z.nullable(z.array(z.string())))
const text = z.optional(z.string())
const apiResourceList = z.object({
  resources: z.optional(
    z.nullable(
      z.array(
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
    ),
  ),
})
type ApiResource = NonNullable<NonNullable<z.infer<typeof apiResourceList>['resources']>[number]>

interface Resources {
  /** A hash of the answer. */
  readonly key: string
  readonly resources: readonly JsonObject[]
}

const documents = new RemoteDocuments<Resources>({
  path: ({ spec }) => `/apis/${spec?.group}/${spec?.version}`,
  accept: 'application/json',
  // a list of a thousand resources has a quarter of it; it is checked and brought into the other form at once
  maxBytes: 1 << 20,
  // four hundred servers of the usual size; a short list takes fourteen times its text
  mostKept: 2 << 20,
  async read(answer) {
    const list = apiResourceList.safeParse(await okJson(answer))
    if (!list.success) throw new CallFailed('the answer is no APIResourceList')
    const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(answer.text))
    return { key: bytesToBase16(new Uint8Array(hash)), resources: aggregatedResources(list.data.resources ?? []) }
  },
})

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

/** Brings an unaggregated list into the aggregated form, in which a resource contains its subresources. */
export function aggregatedResources(list: readonly ApiResource[]): JsonObject[] {
  const subresources = Map.groupBy(
    list.filter(({ name }) => name.includes('/')),
    ({ name }) => name.slice(0, name.indexOf('/')),
  )
  const names = new Set([...list.map(({ name }) => name.split('/')[0] ?? '')])
  const byName = new Map(list.map((one) => [one.name, one]))
  return [...names].map((name) => {
    const own = byName.get(name)
    const below = (subresources.get(name) ?? []).map((one) => ({
      subresource: one.name.slice(name.length + 1),
      responseKind: kindOf(one),
      verbs: [...(one.verbs ?? [])],
    }))
    return {
      resource: name,
      responseKind: own === undefined ? { group: '', version: '', kind: '' } : kindOf(own),
      scope: (own ?? subresources.get(name)?.[0])?.namespaced === true ? 'Namespaced' : 'Cluster',
      singularResource: own?.singularName ?? '',
      verbs: [...(own?.verbs ?? [])],
      ...present('shortNames', own?.shortNames),
      ...present('categories', own?.categories),
      ...(below.length === 0 ? {} : { subresources: below }),
    }
  })
}

const kindOf = ({ group = '', version = '', kind = '' }: ApiResource): JsonObject => ({ group, version, kind })

const present = (name: string, values: readonly string[] | null | undefined): { [name: string]: Json } =>
  values?.length ? { [name]: [...values] } : {}
