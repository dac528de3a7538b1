/** What became of configurations whose files changed, under kube-apiserver's names. */
import { sha256 } from '../api/sha256.ts'
import type { Reloaded } from '../authentication/reloaded.ts'
import type { Sample } from '../metrics/series.ts'

type Row = readonly [name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]]

/** None where there is no such configuration. In the order of their names. */
export function reloadRows(
  name: 'authentication' | 'authorization',
  reloads: Pick<Reloaded<never>, 'counts' | 'text'> | undefined,
): Row[] {
  if (reloads === undefined) return []
  const { success, failure, lastSuccess, lastFailure } = reloads.counts
  const by = (values: Readonly<Record<string, number | undefined>>): Sample[] =>
    Object.entries(values).flatMap(([status, value]) =>
      value === undefined || value === 0 ? [] : [{ labels: { status }, value }],
    )
  const prefix = `apiserver_${name}_config_controller`
  const hash = [...sha256(reloads.text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return [
    [
      `${prefix}_automatic_reload_last_timestamp_seconds`,
      'gauge',
      `When the ${name} configuration was last reloaded, and when that last failed.`,
      by({ failure: lastFailure, success: lastSuccess }),
    ],
    [`${prefix}_automatic_reloads_total`, 'counter', `Reloads of the ${name} configuration.`, by({ failure, success })],
    [
      `${prefix}_last_config_info`,
      'gauge',
      `The ${name} configuration that is in force.`,
      [{ labels: { hash: `sha256:${hash}` }, value: 1 }],
    ],
  ]
}
