/** How much of the past each shard keeps: by the setting, and by rules for special resources. */
import { ownValue } from '../base/own.ts'

export interface History {
  /** Milliseconds for which old versions stay readable. */
  readonly retention: number
  /** The history gets shorter after more changes than this, but never below SHORTEST. */
  readonly changes?: number
  /** Milliseconds after which an object is deleted that was not written again. */
  readonly expiry?: number
}

/**
 * Milliseconds. kube-apiserver's caches keep this much of busy resources, so that a client whose watch broke can
 * continue.
 */
export const SHORTEST = 75_000

/** Seconds; the interval at which kube-apiserver compacts etcd. */
const DEFAULT = 300
const MAX_DAYS = 31

/**
 * By shard. Leases are renewed forever and Events counted up, so a history of days, or of a thousand nodes, would
 * contain little else.
 */
const special: Readonly<Record<string, Pick<History, 'changes'>>> = {
  'leases.coordination.k8s.io': { changes: 10_000 },
  events: { changes: 10_000 },
}

/**
 * @param shard `TENANT/SHARD`, with the tenant's uid
 * @param eventLifetime milliseconds; undefined: Events never expire
 */
export function historyOf({ standard, tenants }: HistorySetting, shard: string, eventLifetime?: number): History {
  const [tenant = '', name = ''] = shard.split('/')
  return {
    retention: (tenants.get(tenant) ?? standard) * 1000,
    ...ownValue(special, name),
    ...(name === 'events' && eventLifetime !== undefined && { expiry: eventLifetime }),
  }
}

export interface HistorySetting {
  /** Seconds. */
  readonly standard: number
  /** By tenant. */
  readonly tenants: ReadonlyMap<string, number>
}

/**
 * Parses `300`, or `300,TENANT=172800,…` for tenants that differ, in whole seconds.
 * @throws Error that names the unreadable part
 */
export function parseHistory(setting = ''): HistorySetting {
  let standard: number | undefined
  const tenants = new Map<string, number>()
  for (const entry of setting.split(',').map((part) => part.trim())) {
    if (entry === '') continue
    // pattern: a setting
    const [, tenant, seconds = ''] = /^(?:([^=/\s]+)\s*=\s*)?(.*)$/.exec(entry) ?? []
    if (tenant === undefined) {
      if (standard !== undefined) throw wrong(entry, 'a second time without a tenant')
      standard = secondsIn(entry, seconds)
    } else {
      if (tenants.has(tenant)) throw wrong(entry, 'a tenant for the second time')
      tenants.set(tenant, secondsIn(entry, seconds))
    }
  }
  return { standard: standard ?? DEFAULT, tenants }
}

function secondsIn(entry: string, text: string): number {
  const seconds = Number(text)
  if (!/^\d+$/.test(text) || seconds < 1 || seconds > MAX_DAYS * 86_400)
    throw wrong(entry, `not a number of seconds from 1 to ${MAX_DAYS * 86_400} (${MAX_DAYS} days)`)
  return seconds
}

const wrong = (entry: string, why: string): Error => new Error(`the setting of the history has "${entry}": ${why}`)
