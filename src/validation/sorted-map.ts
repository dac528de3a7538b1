import { sortedKeys } from '../api/name-order.ts'
import { ownValue, setOwn } from '../api/own.ts'
import { eachName, kept } from '../api/parts.ts'

/** With its names in order, as kube-apiserver shows maps. A walk (api/parts.ts). */
export function sortedMap(map: Readonly<Record<string, string>> = {}): Record<string, string> {
  const sorted = kept(map, (): Record<string, string> => ({}))
  eachName(map, sortedKeys, (name) => setOwn(sorted, name, ownValue(map, name)!))
  return sorted
}
