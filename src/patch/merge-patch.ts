/** JSON merge patch (RFC 7386) as evanphx/json-patch does it. */
import { eachName, kept, mapParts } from '../base/parts.ts'
import { badRequest } from '../api/status.ts'
import { decodeUnstructured } from '../codec/decode/decode-untyped.ts'
import { DecodeError } from '../codec/decode/decode-problems.ts'
import type { JsonTree } from '../json/json.ts'
import { OpenList, OpenMap, closed, copyOf, isMap, openedInParts } from './json-document.ts'
import type { DocumentNode } from './json-document.ts'

/**
 * The document after the patch, and the repeated members of the patch.
 * @param checks refuses a patch that is no object, with Go's text, and looks for repeated members
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
    return decodeUnstructured(kept(patch, () => copyOf(patch))).strict
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(`error decoding patch: ${error.message}`) : error
  }
}

function merged(live: DocumentNode, patch: DocumentNode): DocumentNode {
  if (!isMap(live)) return withoutNulls(patch)
  if (!isMap(patch)) return patch
  // both have just been checked to be maps
  const document = openedInParts(live) as OpenMap
  const { members } = openedInParts(patch) as OpenMap
  eachName(members, namesOf, (name) => {
    const value = members.get(name)!
    const current = document.members.get(name)
    if (value === null) document.members.delete(name)
    else
      document.members.set(
        name,
        current === undefined || current === null ? withoutNulls(value) : merged(current, value),
      )
  })
  return document
}

const namesOf = (members: ReadonlyMap<string, DocumentNode>): string[] => [...members.keys()]

/** Removes nulls from all objects. Nulls in lists stay. */
function withoutNulls(node: DocumentNode): DocumentNode {
  const open = openedInParts(node)
  if (open instanceof OpenList)
    return new OpenList(mapParts(open.items, (item) => (item === null ? item : withoutNulls(item))))
  if (!(open instanceof OpenMap)) return node
  const { members } = open
  eachName(members, namesOf, (name) => {
    const value = members.get(name)!
    if (value === null) members.delete(name)
    else members.set(name, withoutNulls(value))
  })
  return open
}
