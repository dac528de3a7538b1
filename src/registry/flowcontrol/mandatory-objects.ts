/**
 * The mandatory FlowSchemas and PriorityLevelConfigurations, which no client may change. `catch-all` matches every
 * request that no other schema matches. `exempt` lets administrators bypass all queues. A fresh control plane has these
 * values.
 */
import type { FlowSchemaSpec, PriorityLevelConfigurationSpec } from '../../api/flowcontrol/v1.ts'

const EVERYTHING = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}
const group = (name: string) => ({ kind: 'Group', group: { name } })

export const EXEMPT = 'exempt'
const CATCH_ALL = 'catch-all'

const flowSchemas: Readonly<Record<string, FlowSchemaSpec>> = {
  [EXEMPT]: {
    priorityLevelConfiguration: { name: EXEMPT },
    matchingPrecedence: 1,
    rules: [{ subjects: [group('system:masters')], ...EVERYTHING }],
  },
  [CATCH_ALL]: {
    priorityLevelConfiguration: { name: CATCH_ALL },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: [group('system:unauthenticated'), group('system:authenticated')], ...EVERYTHING }],
  },
}

const priorityLevels: Readonly<Record<string, PriorityLevelConfigurationSpec>> = {
  [EXEMPT]: { type: 'Exempt' },
  [CATCH_ALL]: {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
  },
}

export const mandatoryFlowSchemas: ReadonlyMap<string, FlowSchemaSpec> = new Map(Object.entries(flowSchemas))
/** A client may change only the `exempt` field of the level `exempt`. */
export const mandatoryPriorityLevels: ReadonlyMap<string, PriorityLevelConfigurationSpec> = new Map(
  Object.entries(priorityLevels),
)
