import { ownValue, setOwn } from '../base/own.ts'
import { eachName, kept } from '../base/parts.ts'

type Texts = Record<string, string>

/**
 * Merges maps of quantities or labels; a later map overrides an earlier one. Runs as a walk (base/parts.ts). Later runs
 * use the maps of the first run, because the caller may have replaced one of them with the result.
 * @param owner the key under which the walk keeps the result
 */
export function overlaid(owner: object, ...maps: readonly (Texts | undefined)[]): Texts {
  const { all, under } = kept(owner, () => ({ all: {} as Texts, under: maps }))
  for (const map of under)
    if (map !== undefined) eachName(map, Object.keys, (name) => setOwn(all, name, ownValue(map, name)!))
  return all
}
