import { HopelessWork } from '../../registry/hopeless-work.ts'

/** Of `NAMESPACE/NAME`. Keys outlive a release, so each is checked. @throws HopelessWork */
export function keyParts(key: string): [namespace: string, name: string] {
  const [namespace, name, ...more] = key.split('/')
  if (!namespace || !name || more.length > 0) throw new HopelessWork(`${JSON.stringify(key)} is no NAMESPACE/NAME`)
  return [namespace, name]
}
