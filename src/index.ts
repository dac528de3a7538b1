/** The entry of the Worker. server.ts has the order of the steps. */
import { platformClock } from './base/clock.ts'
import { attestedRequests } from './authentication/attested-requests.ts'
import type { Env } from './env.ts'
import { warmUp } from './schema/warm-up.ts'
import { serve } from './server.ts'

export { ResourceShard } from '../durable-objects/resource-shard.ts'
export { ControllerManager } from '../durable-objects/controller-manager.ts'

warmUp()

const serveNow = (request: Request, env: Env, execution: ExecutionContext): Promise<Response> =>
  serve(request, env, execution, platformClock)

const serveAttested = (request: Request, env: Env, execution: ExecutionContext): Promise<Response> =>
  serve(request, env, execution, platformClock, true)

/** The local server's front delivers requests with a client certificate here. On Cloudflare no route leads here. */
export const AttestedRequests = { fetch: attestedRequests(serveAttested, platformClock) } satisfies ExportedHandler<Env>

/**
 * The local server's front asks for this when the engine is idle (cli/engine/memory.ts). On Cloudflare no route leads
 * here, and there is no `gc`.
 */
export const GarbageCollection = {
  fetch(): Response {
    const { gc } = globalThis as { gc?: (options: object) => void }
    gc?.({ type: 'major', flavor: 'last-resort' })
    return new Response(null, { status: 204 })
  },
} satisfies ExportedHandler<Env>

export default {
  fetch: serveNow,
} satisfies ExportedHandler<Env>
