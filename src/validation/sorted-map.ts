import { sortedKeys } from '../base/name-order.ts'
import { ownValue, setOwn } from '../base/own.ts'
import { eachName, kept } from '../base/parts.ts'

/** Sorts a map by name, like kube-apiserver's error texts. Runs as a walk (base/parts.ts). */
export function sortedMap(map: Readonly<Record<string, string>> = {}): Record<string, string> {
  const sorted = kept(map, (): Record<string, string> => ({}))
  eachName(map, sortedKeys, (name) => setOwn(sorted, name, ownValue(map, name)!))
  return sorted
}
