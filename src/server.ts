/**
 * The request path, in the order in which it runs. Start reading here.
 *
 *   receive → authenticate → impersonate → authorize → a fixed path (discovery, OpenAPI, health …) or a verb
 *
 * Every refusal is a thrown StatusError, rendered at the end.
 */
import { authenticate } from './authentication/authenticate.ts'
import { impersonate } from './authentication/impersonation.ts'
import { authorize } from './authorization/authorize.ts'
import { respondStatus } from './codec/respond.ts'
import { serveFixedPath } from './endpoints/fixed-paths.ts'
import { serveResource } from './endpoints/serve-resource.ts'
import type { Env } from './env.ts'
import { receive } from './request/receive.ts'

export async function serve(request: Request, env: Env, execution: ExecutionContext): Promise<Response> {
  const received = await receive(request, env, execution)
  if (received instanceof Response) return received
  try {
    const authenticated = await authenticate(received)
    const asUser = await impersonate(authenticated)
    await authorize(asUser)
    return (await serveFixedPath(asUser)) ?? (await serveResource(asUser))
  } catch (error) {
    return respondStatus(received, error)
  }
}
