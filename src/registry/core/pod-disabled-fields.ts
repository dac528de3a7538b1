/**
 * A field of a switched-off feature that the schema cannot name, since it depends on where the field is: the
 * restartPolicy of an init container has no gate. schema/disabled-fields.ts drops the others.
 */
import type * as CoreV1 from '../../api/core/v1.ts'

type Enabled = (gate: string) => boolean

const isUsed = ({ containers = [], initContainers = [] }: CoreV1.PodSpec): boolean =>
  containers.some(({ restartPolicy }) => restartPolicy !== undefined) ||
  [...containers, ...initContainers].some(({ restartPolicyRules = [] }) => restartPolicyRules.length > 0)

/** Drops it without a word, unless the stored object uses it already (kubernetes' DropDisabledPodFields). */
export function dropDisabledPodFields(
  spec: CoreV1.PodSpec | undefined,
  old: CoreV1.PodSpec | undefined,
  enabled: Enabled,
): void {
  if (enabled('ContainerRestartRules') || (old !== undefined && isUsed(old))) return
  for (const container of spec?.containers ?? []) delete container.restartPolicy
}
