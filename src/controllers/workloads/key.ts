import { HopelessWork } from '../../registry/work/hopeless-work.ts'

/** The parts of `NAMESPACE/NAME`. Each key is checked, because keys outlive a release. @throws HopelessWork */
export function keyParts(key: string): [namespace: string, name: string] {
  const [namespace, name, ...more] = key.split('/')
  if (!namespace || !name || more.length > 0) throw new HopelessWork(`${JSON.stringify(key)} is no NAMESPACE/NAME`)
  return [namespace, name]
}

/** Pods with these labels; undefined: any labels. */
export interface PodsOfKey {
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>> | undefined
}

/** Parses a key: a namespace and labels in JSON. @throws HopelessWork */
export function podsOfKey(key: string): PodsOfKey {
  try {
    const [namespace, labels] = JSON.parse(key) as unknown[]
    if (typeof namespace === 'string' && (labels === undefined || (typeof labels === 'object' && labels !== null)))
      return { namespace, labels: labels as Readonly<Record<string, string>> | undefined } // written by registry/core/pods/pod-work.ts
  } catch {
    // refused below
  }
  throw new HopelessWork(`${JSON.stringify(key)} names no pods`)
}
