/** Events of audit.k8s.io/v1, each a line of JSON with members in kube-apiserver's order. */
import type { Json } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import type { Status } from '../api/status.ts'
import type { UserInfo } from '../request/user-info.ts'
import { stringify } from '../json/write-json.ts'
import { parseStored } from '../json/parse-json.ts'
import type { ApiCall, ApiRequest } from '../request/context.ts'
import { targetOf } from '../request/target.ts'
import { addressSeen } from '../request/address-seen.ts'
import type { RequestHeaders } from '../request/request-headers.ts'
import type { RequestRecord } from '../request/record.ts'
import { familyOf } from '../api/ip-addresses.ts'
import type { AuditStage } from '../configuration/audit-policy.ts'
import type { AuditedAttributes, Decision } from './policy.ts'
import { carriesCredentials } from './policy.ts'

/** Fields of an event that are known only at its stage. */
export interface Moment {
  readonly stage: AuditStage
  readonly at: Date
  /** The status code of the response; undefined before there is one. */
  readonly code?: number | undefined
  /** The object of the response in JSON. */
  readonly responseObject?: string | undefined
}

/** How a call came to the server. */
export interface Origin {
  readonly requestURI: string
  readonly sourceIPs?: readonly string[] | undefined
  readonly userAgent?: string | undefined
}

export const originOf = ({ request, headers }: ApiRequest): Origin => ({
  requestURI: targetOf(request),
  sourceIPs: sourceAddresses(request, headers),
  userAgent: agentOf(headers),
})

export function eventLine(
  { auditId, now }: Pick<ApiCall, 'auditId' | 'now'>,
  { requestURI, sourceIPs, userAgent }: Origin,
  record: RequestRecord,
  asked: AuditedAttributes,
  decision: Decision,
  { stage, at, code, responseObject }: Moment,
): string {
  const head = {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: decision.level,
    auditID: auditId,
    stage,
    requestURI,
    verb: asked.verb,
    user: asked.user === undefined ? {} : userOf(asked.user),
    ...(record.impersonated && impersonationOf(record.impersonated)),
    sourceIPs,
    userAgent,
    objectRef: asked.isResourceRequest ? referenceOf(asked, record) : undefined,
    responseStatus: code === undefined ? undefined : responseStatusOf(record, asked, code),
  }
  const strip = decision.omitManagedFields ? withoutManagedFields : (text: string) => text.trimEnd()
  const { requestObject } = record
  const annotations = Object.fromEntries([...record.annotations].sort(([a], [b]) => (a < b ? -1 : 1)))
  const tail = {
    requestReceivedTimestamp: microTime(now),
    stageTimestamp: microTime(at),
    ...(record.annotations.size === 0 ? {} : { annotations }),
  }
  const objects =
    (requestObject === undefined ? '' : `"requestObject":${record.isPatch ? requestObject : strip(requestObject)},`) +
    (responseObject === undefined ? '' : `"responseObject":${strip(responseObject)},`)
  return `${JSON.stringify(head).slice(0, -1)},${objects}${JSON.stringify(tail).slice(1)}`
}

const microTime = (time: Date): string => time.toISOString().replace('Z', '000Z')

const userOf = ({ name, uid, groups, extra }: UserInfo) => ({
  username: name || undefined,
  uid: uid || undefined,
  groups: groups.length === 0 ? undefined : groups,
  extra: Object.keys(extra).length === 0 ? undefined : extra,
})

const impersonationOf = ({ user, constraint }: NonNullable<RequestRecord['impersonated']>) => ({
  impersonatedUser: userOf(user),
  authenticationMetadata: constraint === '' ? undefined : { impersonationConstraint: constraint },
})

function referenceOf(asked: AuditedAttributes, { object }: RequestRecord) {
  const { resource, namespace, name, apiGroup, apiVersion, subresource } = asked
  return {
    resource: resource || undefined,
    namespace: namespace || object.namespace || undefined,
    name: name || object.name || undefined,
    uid: object.uid || undefined,
    apiGroup: apiGroup || undefined,
    apiVersion: apiVersion || undefined,
    resourceVersion: object.resourceVersion || undefined,
    subresource: subresource || undefined,
  }
}

function responseStatusOf({ status }: RequestRecord, asked: AuditedAttributes, code: number): object {
  if (status === undefined) return { metadata: {}, code }
  const shown = carriesCredentials(asked) ? withoutWords(status) : status
  const { metadata, status: outcome, message, reason, details } = shown
  return { metadata, status: outcome, message, reason, details, code }
}

/** Removes texts from a Status: an error message may quote a wrong credential. */
function withoutWords(status: Status): Status {
  const { message: _, details, ...rest } = status
  if (details === undefined) return rest
  const { causes: __, ...named } = details
  return { ...rest, details: named }
}

const MAX_AGENT = 1024

function agentOf(headers: RequestHeaders): string | undefined {
  const agent = headers.get('User-Agent') ?? ''
  return (agent.length > MAX_AGENT ? `${agent.slice(0, MAX_AGENT)}...TRUNCATED` : agent) || undefined
}

/** The addresses in headers, which any client can set, and then the address of the connection. */
function sourceAddresses(sent: Request, headers: RequestHeaders): string[] | undefined {
  const addresses = (headers.get('X-Forwarded-For') ?? '').split(',').map((part) => part.trim())
  const real = headers.get('X-Real-Ip') ?? ''
  if (!addresses.includes(real)) addresses.push(real)
  const found = addresses.filter((address) => familyOf(address) !== undefined)
  const seen = addressSeen(sent, headers)
  if (seen !== undefined && seen !== found.at(-1)) found.push(seen)
  return found.length === 0 ? undefined : found
}

/** @param text JSON of an object, a list or a Table */
function withoutManagedFields(text: string): string {
  const value = parseStored(text)
  if (!isJsonObject(value)) return text.trimEnd()
  dropFrom(value)
  for (const item of listOf(value['items'])) dropFrom(item)
  for (const row of listOf(value['rows'])) if (isJsonObject(row)) dropFrom(row['object'])
  return stringify(value)
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

function dropFrom(object: Json | undefined): void {
  if (isJsonObject(object) && isJsonObject(object['metadata'])) delete object['metadata']['managedFields']
}
