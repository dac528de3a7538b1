import { logInfo } from '../log/log.ts'
import type { ApiRequest } from '../request/context.ts'
import type { RequestRecord } from '../request/record.ts'
import { settingsOf } from '../settings.ts'

/** Writes one line for each request, when the head of its answer is known. */
export function logRequest(request: ApiRequest, record: RequestRecord, { status }: Response): void {
  if (!settingsOf(request.env).logsRequests) return
  const { answerHeaders, clock, headers, info, method, now } = request
  logInfo('HTTP', {
    auditID: answerHeaders['Audit-Id'] ?? '',
    verb: info.verb,
    method,
    path: info.path,
    user: record.user?.name,
    ...(record.impersonated && { impersonated: record.impersonated.user.name }),
    flowSchema: record.flowSchema,
    userAgent: headers.get('User-Agent') ?? '',
    status,
    milliseconds: clock() - now.getTime(),
  })
}
