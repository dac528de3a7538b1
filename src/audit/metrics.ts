/** This isolate's metrics of audit events; endpoints/metrics/metrics.ts exposes them under kube-apiserver's names. */
import type { AuditLevel } from '../configuration/audit-policy.ts'

/** Why an event was lost: the buffer was full, or the backend failed. */
export type AuditPlugin = 'buffered' | 'log' | 'webhook'

export const auditCounts = {
  events: 0,
  rejected: 0,
  errors: new Map<AuditPlugin, number>(),
  levels: new Map<AuditLevel, number>(),
}

export function countUp<Key>(counts: Map<Key, number>, key: Key, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}
