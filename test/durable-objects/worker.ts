/** A Worker that serves storage alone. */
export { ResourceShard } from '../../durable-objects/resource-shard.ts'
export { Recorder } from './recorder.ts'

export default { fetch: () => new Response(null, { status: 404 }) }
