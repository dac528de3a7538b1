/**
 * The request path, in the order in which it runs. Start reading here.
 *
 *   receive → timeout → authenticate → impersonate → classify → authorize → a fixed path (discovery, health …) or a verb
 *
 * Every refusal is a thrown StatusError, rendered at the end.
 */
import { authenticate } from './authentication/authenticate.ts'
import { impersonate } from './authentication/impersonation.ts'
import { authorize } from './authorization/authorize.ts'
import { respondStatus } from './codec/respond.ts'
import { warningHeaders } from './codec/warnings.ts'
import { serveFixedPath } from './endpoints/fixed-paths.ts'
import { measureRequest } from './endpoints/metrics.ts'
import { serveResource } from './endpoints/serve-resource.ts'
import type { Env } from './env.ts'
import { flowControlHeaders } from './flowcontrol/classify.ts'
import { receive } from './request/receive.ts'
import { checkTimeout } from './request/timeout.ts'

export async function serve(request: Request, env: Env, execution: ExecutionContext): Promise<Response> {
  const received = await receive(request, env, execution)
  if (received instanceof Response) return received
  const measured = measureRequest(received)
  let flow: Readonly<Record<string, string>> = {}
  const answer = async (): Promise<Response> => {
    checkTimeout(received)
    const authenticated = await authenticate(received)
    const asUser = await impersonate(authenticated)
    flow = await flowControlHeaders(asUser)
    await authorize(asUser)
    return (await serveFixedPath(asUser)) ?? (await serveResource(asUser))
  }
  const response = await answer().catch((error: unknown) => respondStatus(received, error))
  response.headers.set('Audit-Id', received.auditId)
  for (const [name, value] of Object.entries(flow)) response.headers.set(name, value)
  if (!response.headers.has('Warning'))
    for (const warning of warningHeaders(received.warnings)) response.headers.append('Warning', warning)
  measured(response)
  return response
}
