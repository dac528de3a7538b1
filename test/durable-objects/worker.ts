/** A Worker that serves storage and controllers alone. */
export { ControllerManager } from '../../durable-objects/controller-manager.ts'
export { ResourceShard } from '../../durable-objects/resource-shard.ts'
export { Recorder } from './recorder.ts'

export default { fetch: () => new Response(null, { status: 404 }) }
