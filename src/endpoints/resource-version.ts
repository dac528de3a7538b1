/** resourceVersion parameters → what storage is asked for. The rules are the tables of the API concepts page. */
import { badRequest, plainError } from '../api/status.ts'
import type { RequestScope } from '../registry/resource-scope.ts'
import type { Revision } from '../storage/storage.ts'
import { cacheless } from '../storage/storage-status.ts'

const UINT64_MAX = 18446744073709551615n

/** Go's strconv.ParseUint in base 10. Revisions beyond 2^53 can't have been issued: any such number is "too large". */
function parseUint(text: string): Revision | string {
  const complaint = (why: string) =>
    `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`
  if (!/^\d+$/.test(text)) return complaint('invalid syntax')
  const value = BigInt(text)
  return value > UINT64_MAX ? complaint('value out of range') : Number(value)
}

/** @throws 400 as lists answer it */
export function parseRevisionOfList(text: string): Revision {
  const revision = parseUint(text)
  if (typeof revision === 'string') throw badRequest(`invalid resource version: ${revision}`)
  return revision
}

/** @throws 500 without a reason, as watches answer it */
export function parseRevisionOfWatch(text: string): Revision {
  const revision = parseUint(text)
  if (typeof revision === 'string') throw plainError(revision)
  return revision
}

/** A get is "not older than": through the cache like a watch, or without one like a list. */
export function parseRevisionOfGet({ resource }: RequestScope, text: string): Revision | undefined {
  if (text === '') return undefined
  return cacheless(resource.gvr) ? parseRevisionOfList(text) : parseRevisionOfWatch(text)
}
