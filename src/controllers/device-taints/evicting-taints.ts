/** Decides when pods must leave because of the NoExecute taints of their devices. */
import type { DeviceRequestAllocationResult, DeviceTaint, ResourceSlice } from '../../api/resource/v1.ts'
import type { DeviceTaintRule, DeviceTaintSelector } from '../../api/resource/v1beta2.ts'
import { leastOf } from '../../base/extremes.ts'
import { durationOf } from '../../go/duration.ts'
import { toleratesDevice } from '../scheduling/devices/requests.ts'
import { isNoExecute } from '../nodes/tainted-places.ts'

type Device = { readonly [Part in 'driver' | 'pool' | 'device']?: string | undefined }

export interface EvictingTaint {
  readonly taint: DeviceTaint
  /** The name of the DeviceTaintRule; undefined for a taint of a ResourceSlice. */
  readonly rule?: string
}

export interface Eviction {
  /** Milliseconds since 1970. */
  readonly at: number
  /** The names of the DeviceTaintRules that are reasons. */
  readonly rules: ReadonlySet<string>
}

/** The eviction by the taints of one allocated device. Undefined: it tolerates all of them for ever. */
export function evictionBy(
  { tolerations = [] }: DeviceRequestAllocationResult,
  taints: readonly EvictingTaint[],
): Eviction | undefined {
  return earliest(
    taints.flatMap(({ taint, rule }) => {
      const added = Date.parse(taint.timeAdded ?? '')
      if (!isNoExecute(taint) || Number.isNaN(added)) return []
      // few: validation allows 16. One of every effect lets a device be allocated, but keeps no pod
      const tolerating = tolerations.filter((one) => isNoExecute(one) && toleratesDevice(one, taint))
      if (tolerating.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return []
      const waits = tolerating.map(({ tolerationSeconds: seconds = 0 }) => (seconds < 0 ? 0 : seconds))
      const wait = waits.length === 0 ? 0 : durationOf(waits.reduce((a, b) => (a < b ? a : b)))
      return [{ at: added + wait, rules: new Set(rule === undefined ? [] : [rule]) }]
    }),
  )
}

/** One eviction for all reasons, at the earliest time. */
export function earliest(evictions: readonly (Eviction | undefined)[]): Eviction | undefined {
  const all = evictions.filter((one) => one !== undefined)
  if (all.length === 0) return undefined
  return { at: leastOf(all.map(({ at }) => at)), rules: new Set(all.flatMap(({ rules }) => [...rules])) }
}

export const poolText = (driver = '', pool = ''): string => `${driver}/${pool}`

/** The pool of a slice, if a device of the slice has an evicting taint. */
export const taintedPool = ({ spec }: ResourceSlice): string | undefined =>
  spec?.devices?.some(({ taints = [] }) => taints.some(isNoExecute)) === true
    ? poolText(spec.driver, spec.pool?.name)
    : undefined

/** Whether a DeviceTaintRule evicts the pods of the device. A rule without a selector evicts none. */
export const selects = ({ spec }: Pick<DeviceTaintRule, 'spec'>, device: Device): boolean =>
  spec?.deviceSelector !== undefined && isSelected(spec.deviceSelector, device)

const isSelected = (selector: DeviceTaintSelector, { driver, pool, device }: Device): boolean =>
  (selector.driver === undefined || selector.driver === driver) &&
  (selector.pool === undefined || selector.pool === pool) &&
  (selector.device === undefined || selector.device === device)

/** The slice with the taints of the rules, as the scheduler sees it. A rule without a selector selects all devices. */
export function withRules(slice: ResourceSlice, rules: readonly DeviceTaintRule[]): ResourceSlice {
  const { spec } = slice
  if (rules.length === 0 || spec?.devices === undefined) return slice
  const devices = spec.devices.map((device) => {
    const place = { driver: spec.driver, pool: spec.pool?.name, device: device.name }
    const added = rules.flatMap(({ spec: { deviceSelector = {}, taint } = {} }): DeviceTaint[] =>
      taint !== undefined && isSelected(deviceSelector, place) ? [taint] : [],
    )
    return added.length === 0 ? device : { ...device, taints: [...(device.taints ?? []), ...added] }
  })
  return { ...slice, spec: { ...spec, devices } }
}
