/**
 * Relations by which a list finds objects without looking at each of them: the uids of their owners, and the node of a
 * pod. A relation is a text beside the key. It narrows the rows; `matches` decides.
 */
import type { Selection } from '../src/storage/selectors/selection.ts'
import { exactField } from '../src/storage/selectors/selection.ts'
import type { Selectable } from '../src/storage/storage.ts'

const NODE = 'spec.nodeName'
/** The most relations of one object: each is a row to write. */
const MOST = 16
/** The relation of objects with more: each search by a relation also reads them. */
export const MANY = '*'

const ofNode = (name: string): string => `${NODE}=${name}`

/** Without duplicates. */
export function relationsOf({ owners = [], fields }: Selectable): readonly string[] {
  const node = fields?.[NODE] ?? ''
  if (owners.length === 0 && node === '') return NONE
  const relations = new Set(owners)
  if (node !== '') relations.add(ofNode(node))
  return relations.size > MOST ? [MANY] : [...relations]
}

const NONE: readonly string[] = []

/** A relation that all selected objects have; undefined where there is none. */
export function relationOf(selection: Selection): string | undefined {
  const node = exactField(selection, NODE) ?? ''
  return selection.owner ?? (node === '' ? undefined : ofNode(node))
}
