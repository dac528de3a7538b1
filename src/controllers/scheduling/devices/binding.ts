/** Whether the drivers of a claim's devices have made them ready for a pod, where they are to be waited for. */
import type { AllocatedDeviceStatus, DeviceRequestAllocationResult } from '../../../api/resource/v1.ts'
import type { Claim } from './requests.ts'

/** As kube-scheduler's bindingTimeout of DynamicResources. */
export const BINDING_TIMEOUT_MS = 600_000

/** `failed`: the claim is to be given up. `until`: when that is the case if nothing happens, in milliseconds since 1970. */
export type Binding = 'ready' | 'failed' | { readonly until: number }

/** The first device that is not ready decides. */
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
