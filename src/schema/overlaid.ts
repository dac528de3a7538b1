import { ownValue, setOwn } from '../api/own.ts'
import { eachName, kept } from '../api/parts.ts'

type Texts = Record<string, string>

/**
 * Merges maps of quantities or labels; a later map overrides an earlier one. It is a walk (api/parts.ts) that uses the
 * maps of its first run, because a later run may find the result where one of them was.
 * @param owner of the result
 */
export function overlaid(owner: object, ...maps: readonly (Texts | undefined)[]): Texts {
  const { all, under } = kept(owner, () => ({ all: {} as Texts, under: maps }))
  for (const map of under)
    if (map !== undefined) eachName(map, Object.keys, (name) => setOwn(all, name, ownValue(map, name)!))
  return all
}
