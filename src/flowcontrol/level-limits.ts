/** The seats of PriorityLevelConfigurations. A seat is one request that is being served. */
import type { PriorityLevelConfiguration } from '../api/flowcontrol/v1.ts'
import type { KubeObject } from '../api/object.ts'
import { mandatoryPriorityLevels } from '../registry/flowcontrol/mandatory-objects.ts'

export interface Queuing {
  readonly queues: number
  readonly handSize: number
  readonly queueLengthLimit: number
}

export type LevelLimits =
  | { readonly kind: 'exempt' }
  | {
      readonly kind: 'limited'
      readonly nominal: number
      /** Seats that the level never lends. */
      readonly lower: number
      /** All seats, including those that the level may borrow. */
      readonly upper: number
      /** Absent: a request that gets no seat is refused. */
      readonly queuing?: Queuing
    }

type Level = PriorityLevelConfiguration & Pick<KubeObject, 'metadata'>
type Spec = NonNullable<Level['spec']>

/** The limits of every level by name, with the mandatory ones, for `total` seats. */
export function levelLimits(levels: readonly Level[], total: number): ReadonlyMap<string, LevelLimits> {
  const specs = new Map<string, Spec>(mandatoryPriorityLevels)
  for (const { metadata, spec } of levels) if (spec !== undefined) specs.set(metadata.name ?? '', spec)
  const shares = [...specs.values()].reduce((sum, spec) => sum + sharesOf(spec), 0)
  return new Map([...specs].map(([name, spec]) => [name, limitsOf(spec, total, shares)]))
}

const DEFAULT_SHARES = 30

const sharesOf = ({ type, limited, exempt }: Spec): number =>
  type === 'Exempt' ? (exempt?.nominalConcurrencyShares ?? 0) : (limited?.nominalConcurrencyShares ?? DEFAULT_SHARES)

function limitsOf(spec: Spec, total: number, allShares: number): LevelLimits {
  if (spec.type === 'Exempt') return { kind: 'exempt' }
  const { limitResponse, lendablePercent = 0, borrowingLimitPercent } = spec.limited ?? {}
  const nominal = Math.ceil((total * sharesOf(spec)) / Math.max(1, allShares))
  const percent = (of: number): number => Math.round((nominal * of) / 100)
  const limits = {
    kind: 'limited',
    nominal,
    lower: nominal - percent(lendablePercent ?? 0),
    upper: nominal + (borrowingLimitPercent == null ? total : percent(borrowingLimitPercent)),
  } as const
  if (limitResponse?.type !== 'Queue') return limits
  const { queues = 64, handSize = 8, queueLengthLimit = 50 } = limitResponse.queuing ?? {}
  return { ...limits, queuing: { queues, handSize, queueLengthLimit } }
}
