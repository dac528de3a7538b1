/**
 * A backup is lines of JSON: a head with the revision of the cut, then for each resource type a line that names it,
 * its objects, one a line, exactly as stored, and at last a line that counts them and has the digest of all lines before
 * it (backup/digest.ts). All shards take revisions from one clock, so the objects at one revision are one state of the
 * control plane. A backup that fails ends with the error.
 */
import type { GroupResource } from '../../api/group-version.ts'
import { badRequest } from '../../api/status.ts'
import { collectionOf } from '../../storage/collections.ts'
import { DEFINITIONS } from '../../registry/custom-resources/definition.ts'
import type { Revision, ShardName } from '../../storage/storage.ts'
import type { Tenant } from '../../storage/tenant.ts'

export const FORMAT = 'kedge-backup/1'

export interface Head {
  readonly format: string
  /** The revision of the cut. */
  readonly revision: Revision
  readonly time: string
}

/** A resource type and the number of its objects, which follow. */
export interface Section extends GroupResource {
  readonly count: number
}

export interface End {
  readonly end: true
  readonly objects: number
  /** Backups of earlier releases have none. */
  readonly sha256?: string
}

/** @throws StatusError 400 */
export function headIn(line: string | undefined): Head {
  const { format, revision, time } = parsedLine(line ?? '') ?? {}
  if (format !== FORMAT || !isWhole(revision) || typeof time !== 'string')
    throw badRequest(`the body is no backup: its first line must say "format": "${FORMAT}"`)
  return { format, revision, time }
}

/** @throws StatusError 400 */
export function sectionIn(line: string): Section | End {
  const section = parsedLine(line)
  if (section === undefined) throw badRequest('the backup is damaged: a line is no JSON object')
  const { group, resource, count, end, objects, error } = section
  if (typeof error === 'string') throw badRequest(`the backup was not finished: ${error}`)
  if (end === true && isWhole(objects)) return endIn(line, objects, section)
  if (typeof group !== 'string' || typeof resource !== 'string' || !isWhole(count))
    throw badRequest(`the backup is damaged: ${line.slice(0, 200)} is not the beginning of a resource`)
  return { group, resource, count }
}

/** An end of any other form may be one whose digest cannot be read. */
function endIn(line: string, objects: number, end: Readonly<Record<string, unknown>>): End {
  const { sha256, end: _end, objects: _objects, ...others } = end
  if (Object.keys(others).length > 0 || !(sha256 === undefined || typeof sha256 === 'string'))
    throw badRequest(`the backup is damaged: ${line.slice(0, 200)} is not its end`)
  return { end: true, objects, ...(sha256 === undefined ? {} : { sha256 }) }
}

/** Undefined for a text that is no JSON object. */
export function parsedLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined // an object of JSON has text keys
  } catch {
    return undefined
  }
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

export const isDefinitions = ({ group, resource }: GroupResource): boolean =>
  group === DEFINITIONS.group && resource === DEFINITIONS.resource

/** Each shard once. */
export function shardsOf(tenant: Tenant, types: readonly GroupResource[]): ShardName[] {
  const names = new Set(types.map((type) => collectionOf(tenant, type).shard))
  return [...names].map((shard) => ({ tenant: tenant.uid, shard }))
}
