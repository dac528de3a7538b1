import type { FlowCount } from '../../flowcontrol/admit-request.ts'
import { flowState } from '../../flowcontrol/admit-request.ts'
import type { LevelLimits } from '../../flowcontrol/level-limits.ts'
import type { PriorityLevel } from '../../flowcontrol/seats.ts'
import type { Labels, Sample } from '../../metrics/series.ts'
import type { Tenant } from '../../storage/tenant.ts'
import type { Row } from './identity.ts'

export const waitingIn = ({ waiting }: PriorityLevel): number => waiting.length

/** Metrics of priority levels and, for counts of requests, of FlowSchemas. */
export function flowControlRows(tenant: Tenant): Row[] {
  const { seats, counts } = flowState(tenant)
  const ofLevels = (value: (level: PriorityLevel) => number): Sample[] =>
    seats.all.map((level) => ({ labels: { priority_level: level.name }, value: value(level) }))
  const ofLimits = (value: (limits: Extract<LevelLimits, { kind: 'limited' }>) => number): Sample[] =>
    ofLevels(({ limits }) => (limits.kind === 'limited' ? value(limits) : 0))
  const taken = ofLevels(({ taken }) => taken)
  const flows = counts.values()
  const labelsOf = ({ schema, level }: FlowCount): Labels => ({ flow_schema: schema, priority_level: level })
  return [
    ['apiserver_flowcontrol_current_executing_requests', 'gauge', 'Requests being served.', taken],
    ['apiserver_flowcontrol_current_executing_seats', 'gauge', 'The same: a request has one seat.', taken],
    ['apiserver_flowcontrol_current_inqueue_requests', 'gauge', 'Requests that wait.', ofLevels(waitingIn)],
    [
      'apiserver_flowcontrol_dispatched_requests_total',
      'counter',
      'Requests that got a seat.',
      flows.map((flow) => ({ labels: labelsOf(flow), value: flow.dispatched })),
    ],
    ['apiserver_flowcontrol_lower_limit_seats', 'gauge', 'Seats that are never lent.', ofLimits(({ lower }) => lower)],
    ['apiserver_flowcontrol_nominal_limit_seats', 'gauge', 'Seats of its own.', ofLimits(({ nominal }) => nominal)],
    [
      'apiserver_flowcontrol_rejected_requests_total',
      'counter',
      'Requests refused.',
      flows.flatMap((flow) =>
        Object.entries(flow.rejected).map(([reason, value]) => ({ labels: { ...labelsOf(flow), reason }, value })),
      ),
    ],
    [
      'apiserver_flowcontrol_request_wait_duration_seconds',
      'histogram',
      'Time until a request got a seat, or none.',
      flows.flatMap((flow) =>
        (['dispatched', 'rejected'] as const).flatMap((outcome) =>
          flow.waits[outcome].samples({ execute: String(outcome === 'dispatched'), ...labelsOf(flow) }),
        ),
      ),
    ],
    ['apiserver_flowcontrol_upper_limit_seats', 'gauge', 'With borrowed ones.', ofLimits(({ upper }) => upper)],
  ]
}
