/** A request before authentication, to a server that keeps all data in memory. */
import { ensureBootstrapped } from '../src/bootstrap/ensure-bootstrapped.ts'
import { bootstrapWith } from '../src/tenancy/control-snapshot.ts'
import type { JsonObject, KubeObject } from '../src/api/object.ts'
import { ANONYMOUS } from '../src/request/user-info.ts'
import type { Env } from '../src/env.ts'
import { collectionOf } from '../src/storage/collections.ts'
import type { ApiRequest } from '../src/request/context.ts'
import { parseQuery } from '../src/request/query-parameters.ts'
import { hopsOf } from '../src/request/hops.ts'
import { RequestHeaders } from '../src/request/request-headers.ts'
import { requestInfoOf } from '../src/request/request-info.ts'
import type { OutboxMessage, Storage } from '../src/storage/storage.ts'
import type { Tenant } from '../src/storage/tenant.ts'
import './digest-stream.ts'
import { shardsInMemory } from './shards-in-memory.ts'

bootstrapWith(ensureBootstrapped)

export interface MemoryServer {
  readonly env: Env
  readonly storage: Storage
  readonly tenant: { readonly uid: string }
  now: Date
  clock(): number
  waitUntil(work: Promise<unknown>): void
  request(target: string, init?: Omit<RequestInit, 'cf'> & { cf?: unknown }): ApiRequest
  /** @param of the tenant; default: the server's own */
  put(group: string, resource: string, object: KubeObject & JsonObject, of?: Tenant): Promise<void>
}

let servers = 0

/** @param deliver receives the outbox messages of each write */
export function memoryServer(settings: Partial<Env> = {}, deliver?: (work: OutboxMessage) => void): MemoryServer {
  const { namespace, storage } = shardsInMemory(undefined, deliver)
  const tenant = { uid: `tenant-${++servers}` } // isolates cache data by tenant
  const controllers = {
    getByName: () => ({
      announceOwners: async () => {},
      announceWatch: async () => {},
      counts: async () => [],
      forget: async () => {},
    }),
  }
  const env = { CONTROLLERS: controllers, ...settings, SHARDS: namespace } as unknown as Env
  const server: MemoryServer = {
    env,
    storage,
    tenant,
    now: new Date(),
    clock: () => server.now.getTime(),
    waitUntil: () => {},
    request(target, { cf, ...init } = {}) {
      const url = new URL(target, 'https://server')
      const query = parseQuery(url.search)
      const request = Object.assign(new Request(url, init), { cf })
      return {
        request,
        cf: request.cf as Request['cf'],
        headers: RequestHeaders.of(request.headers),
        method: request.method,
        query,
        info: requestInfoOf(request.method, decodeURIComponent(url.pathname), query),
        tenant,
        env,
        user: ANONYMOUS,
        auditId: 'audit',
        now: server.now,
        clock: () => server.now.getTime(),
        stage: { maker: 'router' },
        answerHeaders: { 'Audit-Id': 'audit' },
        warnings: [],
        usedSecrets: [],
        record: undefined,
        hops: hopsOf(RequestHeaders.of(request.headers)),
        waitUntil: () => {},
      }
    },
    async put(group, resource, object, of = tenant) {
      const { name = '', namespace: within, uid = crypto.randomUUID() } = object.metadata
      const start = '{"metadata":{"resourceVersion":"'
      const { metadata, ...rest } = object
      const tail = JSON.stringify(rest)
      const text = `${start}",${JSON.stringify({ ...metadata, uid }).slice(1)}${tail === '{}' ? '}' : `,${tail.slice(1)}`}`
      const key = within === undefined ? name : `${within}/${name}`
      await storage.create(collectionOf(of, { group, resource }), key, {
        text,
        at: start.length,
        uid,
        ...(metadata.labels && { labels: metadata.labels }),
      })
    },
  }
  return server
}
