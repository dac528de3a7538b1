/**
 * What objects are found by without a look at each of them: the uids of their owners, and the node that a pod is bound to.
 * A relation is a text, kept beside the key. It narrows what is looked at; `matches` decides.
 */
import type { Selection } from '../src/storage/selection.ts'
import { exactField } from '../src/storage/selection.ts'
import type { Selectable } from '../src/storage/storage.ts'

const NODE = 'spec.nodeName'
/** Relations that are kept of one object: each is a row of its own to write. */
const MOST = 16
/** Of an object that has more: each search by a relation looks at it. */
export const MANY = '*'

const ofNode = (name: string): string => `${NODE}=${name}`

/** Each once. */
export function relationsOf({ owners = [], fields }: Selectable): readonly string[] {
  const node = fields?.[NODE] ?? ''
  if (owners.length === 0 && node === '') return NONE
  const relations = new Set(owners)
  if (node !== '') relations.add(ofNode(node))
  return relations.size > MOST ? [MANY] : [...relations]
}

const NONE: readonly string[] = []

/** What all that is selected has in common; undefined: nothing of this kind. */
export function relationOf(selection: Selection): string | undefined {
  const node = exactField(selection, NODE) ?? ''
  return selection.owner ?? (node === '' ? undefined : ofNode(node))
}
