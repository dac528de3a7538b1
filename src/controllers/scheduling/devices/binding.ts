/** Whether drivers have prepared the devices of a claim. Only devices with binding conditions need it. */
import type { AllocatedDeviceStatus, DeviceRequestAllocationResult } from '../../../api/resource/v1.ts'
import type { Claim } from './requests.ts'

/** kube-scheduler's default bindingTimeout of DynamicResources. */
export const BINDING_TIMEOUT_MS = 600_000

/**
 * `failed`: the scheduler is to deallocate the claim. `until`: the time in milliseconds since 1970 at which it fails if
 * nothing changes.
 */
export type Binding = 'ready' | 'failed' | { readonly until: number }

/** The first device that is not ready determines the result. */
export function bindingOf({ status }: Claim, now: number): Binding {
  for (const result of status?.allocation?.devices?.results ?? []) {
    const { bindingConditions = [], bindingFailureConditions = [] } = result
    if (bindingConditions.length === 0) continue
    const device = status?.devices?.find((one) => isOf(one, result)) // few: the devices of one claim
    const conditions = device?.conditions ?? []
    const held = new Set(conditions.flatMap(({ type, status }) => (status === 'True' ? [type] : [])))
    const isTrue = (type: string): boolean => held.has(type)
    if (bindingFailureConditions.some(isTrue)) return 'failed'
    if (bindingConditions.every(isTrue)) continue
    const since = status?.allocation?.allocationTimestamp
    const until = (since === undefined ? now : Date.parse(since)) + BINDING_TIMEOUT_MS
    return until <= now ? 'failed' : { until }
  }
  return 'ready'
}

const isOf = (status: AllocatedDeviceStatus, { driver, pool, device }: DeviceRequestAllocationResult): boolean =>
  status.driver === driver && status.pool === pool && status.device === device

export const hasBindingConditions = (results: readonly DeviceRequestAllocationResult[] = []): boolean =>
  results.some(({ bindingConditions = [] }) => bindingConditions.length > 0)
