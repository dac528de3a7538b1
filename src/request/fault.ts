/**
 * Mistakes of the server that an answer cannot tell, for it has begun or goes on without what failed. They are logged
 * with the request that met them, and counted for the metric kedge_faults_total.
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

/** Bound: the faults. */
export const faultCounts = new Map<Fault, number>()

/** @param call absent where the server works for itself */
export function noteFault(
  fault: Fault,
  error: unknown,
  call?: Pick<ApiCall, 'auditId' | 'info' | 'method' | 'user'>,
): void {
  faultCounts.set(fault, (faultCounts.get(fault) ?? 0) + 1)
  logError(messages[fault], {
    ...(call && {
      auditID: call.auditId,
      ...(call.info && { method: call.method, path: call.info.path }),
      user: call.user.name,
    }),
    error,
  })
}
