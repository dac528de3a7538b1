/**
 * What the checks of the Pod Security Standards share: the parts of a pod that they read, and the texts of their
 * refusals.
 */
import type { Container, PodSpec } from '../../../api/core/v1.ts'

export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: PodSpec
  /** Init containers, containers, and ephemeral containers. */
  readonly containers: readonly Container[]
}

export interface Violation {
  readonly reason: string
  readonly detail: string
}

export type PodCheck = (pod: CheckedPod) => Violation | undefined

/** Sorted, without duplicates. */
export const sorted = (texts: Iterable<string>): string[] => [...new Set(texts)].sort((a, b) => (a < b ? -1 : 1))

export const quoted = (texts: readonly string[]): string => `"${texts.join('", "')}"`

export const counted = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many)

export const named = (containers: readonly Container[]): string =>
  `${counted(containers.length, 'container')} ${quoted(containers.map(({ name = '' }) => name))}`

/** `pod and container "a"`: those that set a forbidden value. */
const settersOf = (ofPod: boolean, containers: readonly Container[]): string[] => [
  ...(ofPod ? ['pod'] : []),
  ...(containers.length === 0 ? [] : [named(containers)]),
]

type SecurityContext = NonNullable<Container['securityContext'] | PodSpec['securityContext']>

/** The refusal for the containers that a test finds. */
export function refuseContainers(
  { containers }: CheckedPod,
  isBad: (container: Container) => boolean,
  reason: string,
  rule: string,
): Violation | undefined {
  const bad = containers.filter(isBad)
  return bad.length === 0 ? undefined : { reason, detail: `${named(bad)} ${rule}` }
}

/** Finds who sets a bad value in a security context: the pod and its containers, each for itself. */
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
