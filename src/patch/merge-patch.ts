/** JSON merge patch (RFC 7386), in the ways of evanphx/json-patch. */
import { badRequest } from '../api/status.ts'
import { DecodeError, decodeUnstructured } from '../codec/decode.ts'
import type { JsonTree } from '../api/json.ts'
import { OpenList, OpenMap, closed, copyOf, isMap, opened } from './json-document.ts'
import type { DocumentNode } from './json-document.ts'

/**
 * The document after the patch, and members that the patch has twice.
 * @param checks what is no object is refused with Go's words, and repeated members are looked for
 * @throws StatusError 400
 */
export function applyMergePatch(
  document: JsonTree,
  patch: JsonTree,
  checks: boolean,
): { document: JsonTree; strict: readonly string[] } {
  const strict = checks ? repeatedMembers(patch) : []
  if (patch === null || (!isMap(patch) && !Array.isArray(patch))) throw badRequest('Invalid JSON Patch')
  if (!isMap(patch) || !isMap(document)) return { document: closed(withoutNulls(patch)), strict }
  return { document: closed(merged(document, patch)), strict }
}

function repeatedMembers(patch: JsonTree): readonly string[] {
  try {
    return decodeUnstructured(copyOf(patch)).strict
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(`error decoding patch: ${error.message}`) : error
  }
}

function merged(live: DocumentNode, patch: DocumentNode): DocumentNode {
  if (!isMap(live)) return withoutNulls(patch)
  if (!isMap(patch)) return patch
  const document = opened(live) as OpenMap // just seen to be one
  for (const [name, value] of (opened(patch) as OpenMap).members) {
    const current = document.members.get(name)
    if (value === null) document.members.delete(name)
    else
      document.members.set(
        name,
        current === undefined || current === null ? withoutNulls(value) : merged(current, value),
      )
  }
  return document
}

/** Nulls go from objects wherever they are; in lists they stay. */
function withoutNulls(node: DocumentNode): DocumentNode {
  const open = opened(node)
  if (open instanceof OpenList)
    return new OpenList(open.items.map((item) => (item === null ? item : withoutNulls(item))))
  if (!(open instanceof OpenMap)) return node
  for (const [name, value] of open.members) {
    if (value === null) open.members.delete(name)
    else open.members.set(name, withoutNulls(value))
  }
  return open
}
