/** Translates resourceVersion parameters into queries of storage, by the rules of the API concepts page. */
import { goQuote } from '../../go/quote.ts'
import { badRequest, plainError } from '../../api/status.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import type { Revision } from '../../storage/storage.ts'
import { cacheless } from '../../storage/storage-status.ts'

const UINT64_MAX = 18446744073709551615n

/**
 * Parses like Go's strconv.ParseUint in base 10. Numbers beyond 2^53 are rounded: no such revision exists, so each is
 * "too large".
 */
function parseUint(text: string): Revision | string {
  const complaint = (why: string) =>
    `resourceVersion: Invalid value: ${goQuote(text)}: strconv.ParseUint: parsing ${goQuote(text)}: ${why}`
  if (!/^\d+$/.test(text)) return complaint('invalid syntax')
  const value = BigInt(text)
  return value > UINT64_MAX ? complaint('value out of range') : Number(value)
}

/** @throws StatusError 400, as lists answer */
export function parseRevisionOfList(text: string): Revision {
  const revision = parseUint(text)
  if (typeof revision === 'string') throw badRequest(`invalid resource version: ${revision}`)
  return revision
}

/** @throws StatusError 500 without a reason, as watches answer */
export function parseRevisionOfWatch(text: string): Revision {
  const revision = parseUint(text)
  if (typeof revision === 'string') throw plainError(revision)
  return revision
}

/**
 * A get means "not older than". kube-apiserver reads from its cache like a watch, and parses the version with the
 * errors of one. For a resource without cache the errors are those of a list.
 */
export function parseRevisionOfGet({ resource }: RequestScope, text: string): Revision | undefined {
  if (text === '') return undefined
  return cacheless(resource.gvr) ? parseRevisionOfList(text) : parseRevisionOfWatch(text)
}
