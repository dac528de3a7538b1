import { ownValue, setOwn } from '../api/own.ts'
import { eachName, kept } from '../api/parts.ts'

type Texts = Record<string, string>

/**
 * What the maps have, the later ones over the earlier: quantities, labels. A walk (api/parts.ts), which goes over the maps
 * of its first run: a later run may find what was made in the place of one of them.
 * @param owner of what is made
 */
export function overlaid(owner: object, ...maps: readonly (Texts | undefined)[]): Texts {
  const { all, under } = kept(owner, () => ({ all: {} as Texts, under: maps }))
  for (const map of under)
    if (map !== undefined) eachName(map, Object.keys, (name) => setOwn(all, name, ownValue(map, name)!))
  return all
}
