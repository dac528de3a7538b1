/** Storage alone, on the bare engine: a watch that is pinged, a write, the shard's account of itself. */
import { platformClock } from '../../../src/base/clock.ts'
import { ResourceShard as Shard } from '../../../durable-objects/resource-shard.ts'
import type { Env } from '../../../src/env.ts'
import { everything } from '../../../src/storage/selectors/selection.ts'
import { shardStorage } from '../../../src/storage/shards/shard-client.ts'

/** A shard that can be made to end as deploys and moves end it: at once, with all its sockets. */
export class ResourceShard extends Shard {
  restart(): void {
    this.ctx.abort('restarted')
  }
}

const things = { tenant: 'root', shard: 'things', prefix: 'things' }

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const storage = shardStorage(env.SHARDS, platformClock)
    if (pathname === '/stats') return Response.json(await storage.stats(things))
    if (pathname === '/restart') {
      // A stub has the methods of its object.
      const stub = env.SHARDS.getByName(`${things.tenant}/${things.shard}`) as unknown as { restart(): Promise<void> }
      await stub.restart().catch(() => {})
      return new Response(null)
    }
    if (pathname === '/create') {
      const uid = searchParams.get('key')!
      const { text } = await storage.create(things, uid, { text: '{"rv":""}', at: 7, uid })
      return new Response(text)
    }
    const from = await storage.revision(things)
    const watch = await storage.watch(things, { selection: everything, from })
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const pings = setInterval(() => watch.ping(), 1_000)
    const forward = async () => {
      for await (const batch of watch.messages) {
        const lines = [...batch].map((message) => `${message.kind} ${message.kind === 'event' ? message.text : ''}\n`)
        await writer.write(new TextEncoder().encode(lines.join('')))
      }
    }
    void forward()
      .catch(() => {})
      .finally(() => {
        clearInterval(pings)
        watch.cancel()
      })
    return new Response(readable)
  },
}
