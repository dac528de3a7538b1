/** What the checks of the Pod Security Standards have in common: what they read, and the words in which they refuse. */
import type { Container, PodSpec } from '../../api/core/v1.ts'

export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: PodSpec
  /** Init containers, containers, ephemeral ones. */
  readonly containers: readonly Container[]
}

export interface Violation {
  readonly reason: string
  readonly detail: string
}

export type PodCheck = (pod: CheckedPod) => Violation | undefined

/** Each once. */
export const sorted = (texts: Iterable<string>): string[] => [...new Set(texts)].sort((a, b) => (a < b ? -1 : 1))

export const quoted = (texts: readonly string[]): string => `"${texts.join('", "')}"`

export const counted = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many)

export const named = (containers: readonly Container[]): string =>
  `${counted(containers.length, 'container')} ${quoted(containers.map(({ name = '' }) => name))}`

/** `pod and container "a"`: who sets what must not be set. */
const settersOf = (ofPod: boolean, containers: readonly Container[]): string[] => [
  ...(ofPod ? ['pod'] : []),
  ...(containers.length === 0 ? [] : [named(containers)]),
]

type SecurityContext = NonNullable<Container['securityContext'] | PodSpec['securityContext']>

/** Containers that a test finds, in words. */
export function refuseContainers(
  { containers }: CheckedPod,
  isBad: (container: Container) => boolean,
  reason: string,
  rule: string,
): Violation | undefined {
  const bad = containers.filter(isBad)
  return bad.length === 0 ? undefined : { reason, detail: `${named(bad)} ${rule}` }
}

/** Who sets a bad value in a security context: the pod and containers, each for itself. */
export function badSetters(
  { spec, containers }: CheckedPod,
  isBad: (context: SecurityContext) => boolean,
): { readonly setters: string[]; readonly contexts: readonly SecurityContext[] } {
  const ofPod = spec.securityContext !== undefined && isBad(spec.securityContext) ? [spec.securityContext] : []
  const bad = containers.filter(({ securityContext }) => securityContext !== undefined && isBad(securityContext))
  return {
    setters: settersOf(ofPod.length > 0, bad),
    contexts: [...ofPod, ...bad.flatMap(({ securityContext }) => securityContext ?? [])],
  }
}
