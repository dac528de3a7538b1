/**
 * Mistakes of the server that no answer can report: the answer has begun, or it goes on without the failed part. Each
 * is logged with its request and counted in the metric kedge_faults_total.
 */
import { logError } from '../log/log.ts'
import type { ApiCall } from './context.ts'

const messages = {
  list: 'a list broke off',
  managedFields: 'managedFields could not be worked out, and are dropped',
  renewal: 'watches of a definition that changed could not be ended, and its controller does it',
  request: 'a request failed',
  undo: 'what a write had taken could not be given back',
  watch: 'a watch broke off',
} as const

export type Fault = keyof typeof messages

/**
 * A client's object can cause these faults again and again. All are counted, and at most one a second is logged, as
 * in kube-apiserver.
 */
const causedByClients: ReadonlySet<Fault> = new Set<Fault>(['managedFields'])
const MILLISECONDS = 1000

/** The time of the last log line for each fault. Bound: the faults. */
const lastLogged = new Map<Fault, number>()

/** Bound: the faults. */
export const faultCounts = new Map<Fault, number>()

/** @param call absent where the server works without a call */
export function noteFault(
  fault: Fault,
  error: unknown,
  call?: Pick<ApiCall, 'auditId' | 'info' | 'method' | 'now' | 'user'>,
): void {
  faultCounts.set(fault, (faultCounts.get(fault) ?? 0) + 1)
  if (call !== undefined && causedByClients.has(fault)) {
    const now = call.now.getTime()
    if (Math.abs(now - (lastLogged.get(fault) ?? -Infinity)) < MILLISECONDS) return
    lastLogged.set(fault, now)
  }
  logError(messages[fault], {
    ...(call && {
      auditID: call.auditId,
      ...(call.info && { method: call.method, path: call.info.path }),
      user: call.user.name,
    }),
    error,
  })
}
