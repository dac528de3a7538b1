/**
 * The floor is the cost of the engine itself. This Worker and its Durable Object do the least work that is comparable
 * (a bare get, a queued create, a streamed list, a fan-out over hibernatable sockets), without any Kubernetes.
 */
import { DurableObject } from 'cloudflare:workers'

interface FloorEnv {
  readonly FLOOR: DurableObjectNamespace<FloorObject>
}

const CHUNK = 100

export class FloorObject extends DurableObject<FloorEnv> {
  private readonly sql: SqlStorage
  private queue: { key: string; value: string; done: () => void }[] = []

  constructor(ctx: DurableObjectState, env: FloorEnv) {
    super(ctx, env)
    this.sql = ctx.storage.sql
    this.sql.exec('CREATE TABLE IF NOT EXISTS object (k TEXT PRIMARY KEY, v TEXT)')
  }

  get(key: string): string | undefined {
    return this.sql.exec<{ v: string }>('SELECT v FROM object WHERE k = ?', key).toArray()[0]?.v
  }

  create(key: string, value: string): Promise<void> {
    return new Promise((done) => {
      if (this.queue.push({ key, value, done }) === 1) setTimeout(() => this.flush(), 0)
    })
  }

  private flush(): void {
    const writes = this.queue
    this.queue = []
    for (const { key, value } of writes)
      this.ctx.storage.transactionSync(
        () => void this.sql.exec('INSERT OR REPLACE INTO object VALUES (?, ?)', key, value),
      )
    const message = writes.map(({ value }) => `{"type":"ADDED","object":${value}}\n`).join('')
    for (const socket of this.ctx.getWebSockets()) socket.send(message)
    for (const { done } of writes) done()
  }

  override fetch(request: Request): Response {
    if (request.headers.get('Upgrade') === 'websocket') {
      const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket]
      this.ctx.acceptWebSocket(server)
      return new Response(null, { status: 101, webSocket: client })
    }
    const keys = this.sql
      .exec<{ k: string }>('SELECT k FROM object ORDER BY k')
      .toArray()
      .map(({ k }) => k)
    const encoder = new TextEncoder()
    let at = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (at >= keys.length) return controller.close()
        const rows = this.sql.exec<{ v: string }>(
          'SELECT v FROM object WHERE k IN (SELECT value FROM json_each(?)) ORDER BY k',
          JSON.stringify(keys.slice(at, at + CHUNK)),
        )
        const text = rows.toArray().map(({ v }) => v)
        controller.enqueue(encoder.encode((at === 0 ? '' : ',') + text.join(',')))
        at += CHUNK
      },
    })
    return new Response(body)
  }
}

export default {
  async fetch(request, env): Promise<Response> {
    const { pathname } = new URL(request.url)
    const [, what, key = ''] = pathname.split('/')
    const object = env.FLOOR.getByName('floor')
    switch (what) {
      case 'noop':
        return new Response('ok')
      case 'get':
        return new Response((await object.get(key)) ?? null)
      case 'create':
        await object.create(key, await request.text())
        return new Response('{}', { status: 201 })
      case 'list':
        return object.fetch('http://floor/')
      case 'watch':
        return watch(object)
      default:
        return new Response(null, { status: 404 })
    }
  },
} satisfies ExportedHandler<FloorEnv>

async function watch(object: DurableObjectStub<FloorObject>): Promise<Response> {
  const { webSocket } = await object.fetch('http://floor/', { headers: { Upgrade: 'websocket' } })
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  const encoder = new TextEncoder()
  webSocket!.accept()
  webSocket!.addEventListener('message', ({ data }) => {
    writer.write(encoder.encode(data as string)).catch(() => webSocket!.close())
  })
  return new Response(readable)
}
