/** Configuration of ImagePolicyWebhook: who is asked about images, and how long an answer holds. */
import * as z from 'zod/mini'
import type { Cluster, Credentials } from './kubeconfig.ts'
import { readKubeconfig } from './kubeconfig.ts'
import { readFields } from './versioned.ts'

export interface ImagePolicySetting {
  readonly server: Cluster
  readonly credentials: Credentials | undefined
  /** Milliseconds; 0: an answer is not kept. */
  readonly allowTtl: number
  readonly denyTtl: number
  readonly retryBackoff: number
  /** What holds where nobody answers. */
  readonly defaultAllow: boolean
}

const int = z._default(z.int(), 0)
const configuration = z.object({
  imagePolicy: z.optional(
    z.strictObject({
      // the command line puts the content of kubeConfigFile here: a Worker has no files
      kubeConfig: z.optional(z.unknown()),
      allowTTL: int,
      denyTTL: int,
      retryBackoff: int,
      defaultAllow: z._default(z.boolean(), false),
    }),
  ),
})

const SECOND = 1000
const MINUTE = 60 * SECOND

/** @throws Error */
export function readImagePolicy(raw: unknown): ImagePolicySetting {
  if (raw === undefined) throw new Error('no config specified')
  const { imagePolicy } = readFields(configuration, raw)
  const { kubeConfig, allowTTL = 0, denyTTL = 0, retryBackoff = 0, defaultAllow = false } = imagePolicy ?? {}
  const durations = {
    retryBackoff: duration(retryBackoff, 1, [1e-6, 5 * MINUTE, '1ns and 5m0s'], 500),
    allowTtl: duration(allowTTL, SECOND, [SECOND, 30 * MINUTE, '1s and 30m0s'], 5 * MINUTE),
    denyTtl: duration(denyTTL, SECOND, [SECOND, 30 * MINUTE, '1s and 30m0s'], 30 * SECOND),
  }
  const { users, current } = readKubeconfig(kubeConfig ?? {})
  if (current?.cluster === undefined) throw new Error('the kubeconfig has no current context with a cluster')
  if (!current.cluster.server.startsWith('https://')) throw new Error('the server of the kubeconfig must be https')
  return { server: current.cluster, credentials: users.get(current.user), ...durations, defaultAllow }
}

/** -1: none; 0: the default. */
function duration(
  value: number,
  unit: number,
  [least, most, range]: readonly [number, number, string],
  otherwise: number,
): number {
  if (value === -1) return 0
  if (value === 0) return otherwise
  if (value * unit < least || value * unit > most)
    throw new Error(`valid value is between ${range}, got ${goDuration(value * unit)}`)
  return value * unit
}

/** As Go prints it. */
function goDuration(milliseconds: number): string {
  const sign = milliseconds < 0 ? '-' : ''
  const seconds = Math.abs(milliseconds) / SECOND
  if (seconds < 1) return `${sign}${Math.abs(milliseconds)}ms`
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  const rest = `${seconds % 60}s`
  if (hours > 0) return `${sign}${hours}h${minutes}m${rest}`
  return minutes > 0 ? `${sign}${minutes}m${rest}` : `${sign}${rest}`
}
