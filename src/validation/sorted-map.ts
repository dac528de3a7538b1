import { sortedKeys } from '../api/name-order.ts'
import { ownValue, setOwn } from '../api/own.ts'
import { eachName, kept } from '../api/parts.ts'

/** Sorts a map by name, like kube-apiserver's error texts. Runs as a walk (api/parts.ts). */
export function sortedMap(map: Readonly<Record<string, string>> = {}): Record<string, string> {
  const sorted = kept(map, (): Record<string, string> => ({}))
  eachName(map, sortedKeys, (name) => setOwn(sorted, name, ownValue(map, name)!))
  return sorted
}
