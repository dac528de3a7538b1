/** Fake requests and scopes with the fields that codecs read. */
import { parseApiVersion } from '../../src/api/group-version.ts'
import { builtInForms } from '../../src/codec/built-in-forms.ts'
import { customForms } from '../../src/codec/custom-forms.ts'
import { customServing } from '../../src/registry/custom-resources/custom-serving.ts'
import type { RequestScope } from '../../src/registry/resource-scope.ts'
import { definitionOf } from '../../src/registry/definitions.ts'
import type { Resource } from '../../src/registry/resource.ts'
import type { Env } from '../../src/env.ts'
import { builtInResources } from '../../src/registry/served/resources.ts'
import type { ResourceEntry } from '../../src/registry/served/resources.ts'
import type { ApiRequest } from '../../src/request/context.ts'
import { parseQuery } from '../../src/request/query-parameters.ts'
import { RequestHeaders } from '../../src/request/request-headers.ts'
import { requestInfoOf } from '../../src/request/request-info.ts'
import { builtInType, typeOfKind } from '../../src/schema/built-in.ts'

export const NOW = new Date('2026-01-02T00:00:00Z')

/** @param line `GET /api/v1/pods?limit=1` */
export function fakeRequest(line: string, headers: Record<string, string> = {}, gates = ''): ApiRequest {
  const [method = '', target = ''] = line.split(' ')
  const [path = '', search = ''] = target.split('?')
  const query = parseQuery(search)
  const request = new Request(`https://kedge.test${target}`, { method, headers })
  const all = {
    request,
    headers: RequestHeaders.of(request.headers),
    method,
    query,
    info: requestInfoOf(method, path, query),
    now: NOW,
    clock: () => NOW.getTime(),
    auditId: 'audit',
    stage: { maker: 'handler' },
    answerHeaders: { 'Audit-Id': 'audit' },
    usedSecrets: [],
    warnings: [],
  }
  // codecs read nothing else
  return { ...all, env: { KEDGE_FEATURE_GATES: gates } as Env } as unknown as ApiRequest
}

const everything = builtInResources({ runtimeConfig: 'api/all=true', featureGates: 'AllAlpha=true,AllBeta=true' })

/** @param resource `v1/pods`, `apps/v1/deployments` */
export function fakeScope(resource: string, request: ApiRequest, more: Partial<Resource> = {}): RequestScope {
  const slash = resource.lastIndexOf('/')
  const { group, version } = parseApiVersion(resource.slice(0, slash))!
  const entry = everything.find(group, version, resource.slice(slash + 1))
  if (entry === undefined) throw new Error(`no ${resource}`)
  return scopeOf(entry, request, more)
}

export function fakeCustomScope(
  columns: ResourceEntry['printerColumns'],
  request: ApiRequest,
  more: Partial<Resource> = {},
): RequestScope {
  const gv = { group: 'example.com', version: 'v1' }
  const entry = {
    ...everything.find('', 'v1', 'configmaps')!,
    ...gv,
    resource: 'things',
    kind: 'Thing',
    listKind: 'ThingList',
    serving: customServing,
    storage: { ...gv, resource: 'things' },
    ...(columns === undefined ? {} : { printerColumns: columns }),
  }
  return scopeOf(entry, request, more)
}

function scopeOf(entry: ResourceEntry, request: ApiRequest, more: Partial<Resource>): RequestScope {
  const { group, version, kind, storage } = entry
  const storageKind = { group: storage.group, version: storage.version, kind }
  const type = builtInType(entry.type)
  const identity = <T>(object: T): T => object
  return {
    request,
    place: { namespace: '', name: '', subresource: '' },
    resource: {
      entry,
      gvr: { group, version, resource: entry.resource },
      kind: { group, version, kind },
      storageKind,
      type,
      storageType: typeOfKind(storageKind) ?? type,
      forms: entry.serving === customServing ? customForms : builtInForms,
      strategy: {},
      presentation: entry.serving === customServing ? {} : definitionOf(storage),
      fromStorage: identity,
      toStorage: identity,
      ...more,
    },
    enabled: () => true,
    // codecs read nothing else
  } as unknown as RequestScope
}

export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
export const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
export const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
