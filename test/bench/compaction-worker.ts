/** A Worker with only a shard, which the bench fills and compacts. */
import { platformClock } from '../../src/base/clock.ts'
import { ResourceShard } from '../../durable-objects/resource-shard.ts'
import { shardStorage } from '../../src/storage/shards/shard-client.ts'
import type { NewValue, Revision } from '../../src/storage/storage.ts'

interface BenchEnv {
  readonly SHARDS: DurableObjectNamespace<BenchShard>
}

/** Updates in one transaction. */
const TOGETHER = 500

const valueOf = (name: string, content: string): NewValue => {
  const head = `{"kind":"Thing","apiVersion":"v1","metadata":{"name":"${name}","uid":"${name}","resourceVersion":"`
  return { text: `${head}"},"content":${JSON.stringify(content)}}`, at: head.length, uid: name }
}

export class BenchShard extends ResourceShard {
  /** Creates `objects` objects and replaces each `times` times. */
  async fill(objects: number, times: number, bytes: number): Promise<void> {
    const revisions: Revision[] = []
    for (let time = 0; time <= times; time++)
      for (let from = 0; from < objects; from += TOGETHER) {
        const names = Array.from({ length: Math.min(TOGETHER, objects - from) }, (_, i) => from + i)
        await Promise.all(names.map((n) => this.put(n, bytes, revisions)))
      }
  }

  private async put(n: number, bytes: number, revisions: Revision[]): Promise<void> {
    const key = `things/n${n}`
    const value = valueOf(key, 'x'.repeat(bytes))
    const expected = revisions[n]
    const reply =
      expected === undefined ? await this.create(key, value, 'first') : await this.update(key, value, expected, 'first')
    if ('error' in reply) throw new Error(reply.error.code)
    revisions[n] = reply.value.revision
  }

  /** @returns the number of dropped states */
  async compact(): Promise<number> {
    return this.parts.compactor.run(this.revision())
  }
}

export default {
  async fetch(request, env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const [, what, shard = '', name = ''] = pathname.split('/')
    const object = env.SHARDS.getByName(`bench/${shard}`)
    const number = (parameter: string): number => Number(searchParams.get(parameter))
    if (what === 'fill') await object.fill(number('objects'), number('times'), number('bytes'))
    else if (what === 'compact') return Response.json({ dropped: await object.compact() })
    else {
      // The Worker of the API writes to storage in the same way.
      const storage = shardStorage(env.SHARDS as unknown as DurableObjectNamespace<ResourceShard>, platformClock)
      await storage.create({ tenant: 'bench', shard, prefix: 'things' }, name, valueOf(name, await request.text()))
    }
    return Response.json({})
  },
} satisfies ExportedHandler<BenchEnv>
