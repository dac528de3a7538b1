/** Which pods a pod wants beside itself, or not (the terms of inter-pod affinity). */
import type { Pod, PodAffinityTerm } from '../../api/core/v1.ts'
import { matchesLabels } from '../../storage/selection.ts'
import { requirementsOf } from '../workloads/pod-control.ts'

/** Labels of namespaces by their name. */
export type NamespaceLabels = ReadonlyMap<string, Readonly<Record<string, string>>>

/** @param owner the pod whose term it is */
export function selects(term: PodAffinityTerm, owner: Pod, pod: Pod, namespaces: NamespaceLabels): boolean {
  const { namespace = '' } = pod.metadata
  const names = term.namespaces ?? []
  const isNamed =
    names.includes(namespace) ||
    (term.namespaceSelector !== undefined &&
      matchesLabels(requirementsOf(term.namespaceSelector), namespaces.get(namespace) ?? {})) ||
    (names.length === 0 && term.namespaceSelector === undefined && namespace === owner.metadata.namespace)
  if (!isNamed || term.labelSelector === undefined) return false
  return matchesLabels(requirementsOf(term.labelSelector), pod.metadata.labels ?? {})
}

export const affinityTerms = ({ spec }: Pod): readonly PodAffinityTerm[] =>
  spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []

export const antiAffinityTerms = ({ spec }: Pod): readonly PodAffinityTerm[] =>
  spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
