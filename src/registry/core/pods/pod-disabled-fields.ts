/**
 * The restartPolicy of a container has a feature gate, that of an init container has none. The schema cannot express
 * this, because both have one type. schema/disabled-fields.ts drops all other disabled fields.
 */
import type * as CoreV1 from '../../../api/core/v1.ts'

type Enabled = (gate: string) => boolean

const isUsed = ({ containers = [], initContainers = [] }: CoreV1.PodSpec): boolean =>
  containers.some(({ restartPolicy }) => restartPolicy !== undefined) ||
  [...containers, ...initContainers].some(({ restartPolicyRules = [] }) => restartPolicyRules.length > 0)

/** Drops the field without an error, unless the stored object uses the feature (kubernetes' DropDisabledPodFields). */
export function dropDisabledPodFields(
  spec: CoreV1.PodSpec | undefined,
  old: CoreV1.PodSpec | undefined,
  enabled: Enabled,
): void {
  if (enabled('ContainerRestartRules') || (old !== undefined && isUsed(old))) return
  for (const container of spec?.containers ?? []) delete container.restartPolicy
}
