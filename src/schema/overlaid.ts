import { ownValue, setOwn } from '../api/own.ts'
import { eachName, kept } from '../api/parts.ts'

type Texts = Record<string, string>

/**
 * What the maps have, the later ones over the earlier: quantities, labels. A walk (api/parts.ts).
 * Who calls it calls it in each run, or walks over none of the maps again: their places are told by their order.
 * @param owner of what is made
 */
export function overlaid(owner: object, ...maps: readonly (Texts | undefined)[]): Texts {
  const all = kept(owner, (): Texts => ({}))
  for (const map of maps)
    if (map !== undefined) eachName(map, Object.keys, (name) => setOwn(all, name, ownValue(map, name)!))
  return all
}
