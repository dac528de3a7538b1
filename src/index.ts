/** The Worker: everything begins in server.ts. */
import type { Env } from './env.ts'
import { warmUp } from './schema/warm-up.ts'
import { serve } from './server.ts'

export { ResourceShard } from '../durable-objects/resource-shard.ts'
export { ControllerManager } from '../durable-objects/controller-manager.ts'

warmUp()

export default {
  fetch: (request, env, execution) => serve(request, env, execution),
} satisfies ExportedHandler<Env>
