/** A control plane in memory whose controllers do their work when the test says so. */
import { turnOfOthers } from '../../src/base/slices.ts'
import type { GroupResource } from '../../src/api/group-version.ts'
import type { JsonObject, KubeObject, OwnerReference } from '../../src/api/object.ts'
import { Clientset } from '../../src/controllers/client/clientset.ts'
import type { ResourceClient } from '../../src/controllers/client/resource-client.ts'
import type { ControllerContext, Sighting } from '../../src/controllers/controller.ts'
import { controllerOf, userOf } from '../../src/controllers/controllers.ts'
import { ListRoom } from '../../src/controllers/work/list-room.ts'
import type { Env } from '../../src/env.ts'
import { withoutAdmission } from '../../src/registry/write/admission.ts'
import { freshServedResources } from '../../src/registry/served/served.ts'
import type { DeleteOptions } from '../../src/request/options.ts'
import { settingsOf } from '../../src/settings.ts'
import { memoryServer } from '../request-in-memory.ts'
import { named } from '../../src/controllers/client/resource-client.ts'

interface Work {
  readonly controller: string
  readonly key: string
  readonly due: number
}

export const CONFIG_MAPS: GroupResource = { group: '', resource: 'configmaps' }
export const EVENTS: GroupResource = { group: '', resource: 'events' }

/** The Events that tell more than that a node has come. */
export const newsIn = <E extends object>(events: readonly E[]): E[] =>
  events.filter((event) => (event as { reason?: string }).reason !== 'RegisteredNode')

export class ControlPlaneInMemory {
  now = new Date('2026-01-01T00:00:00Z')
  /** What controllers of these names do, in order: work that was tried. */
  readonly tried: string[] = []
  /** Names of shards that somebody called. */
  readonly asked = new Set<string>()
  private work: Work[] = []
  private readonly dependents = new Map<string, Map<string, GroupResource>>()
  private readonly departed = new Set<string>()
  /** Names of definitions of whose objects somebody watches. */
  readonly watched = new Set<string>()
  readonly sightings = new Map<string, Sighting>()
  readonly server: ReturnType<typeof memoryServer>

  constructor(settings: Partial<Env> = {}) {
    this.server = memoryServer(
      {
        CONTROLLERS: {
          getByName: () => ({
            forget: async () => {},
            announceOwners: async (resource: GroupResource, kinds: readonly string[]) => {
              for (const kind of kinds) this.announce(kind, resource)
            },
          }),
        } as unknown as Env['CONTROLLERS'], // all that is called of it
        // one isolate, as in the local engine
        KEDGE_SUBREQUESTS: 'unlimited',
        ...settings,
      },
      ({ topic, payload }) => this.add(topic, payload, 0),
    )
    const { SHARDS } = this.server.env
    const get = SHARDS.get.bind(SHARDS)
    SHARDS.get = (id) => {
      const name = String(id) // in memory the name is the id
      this.asked.add(name.slice(name.indexOf('/') + 1))
      return get(id)
    }
  }

  /** Tells that objects of a resource name owners of a kind. */
  announce(kind: string, { group, resource }: GroupResource): void {
    const known = this.dependents.get(kind) ?? new Map<string, GroupResource>()
    this.dependents.set(kind, known.set(`${resource}.${group}`, { group, resource }))
  }

  add(controller: string, key: string, delay: number): void {
    const due = this.now.getTime() + delay
    if (!this.work.some((known) => known.controller === controller && known.key === key && known.due <= due))
      this.work.push({ controller, key, due })
  }

  /** Milliseconds until each work that waits is due. */
  get waiting(): readonly string[] {
    return this.work.map(({ controller, key, due }) => `${controller} ${key} in ${due - this.now.getTime()}`)
  }

  /** Does what is due, and what comes of it. */
  async settle(): Promise<void> {
    for (let rounds = 0; rounds < 1000; rounds++) {
      const at = this.work.findIndex(({ due }) => due <= this.now.getTime())
      if (at < 0) return
      const [{ controller, key }] = this.work.splice(at, 1) as [Work]
      this.tried.push(controller)
      const again = await this.reconcile(controller, key).catch((error: unknown) => {
        this.add(controller, key, 0)
        throw error
      })
      if (again !== undefined) this.add(controller, key, again)
    }
    throw new Error(`there is always more to do: ${this.waiting.join(', ')}`)
  }

  private async reconcile(controller: string, key: string): Promise<number | undefined> {
    return controllerOf(controller)!.reconcile(key, await this.context(controller, key))
  }

  async pass(milliseconds: number): Promise<void> {
    this.now = new Date(this.now.getTime() + milliseconds)
    await this.settle()
  }

  /** Of one of the controllers. */
  async context(controller = '', key = ''): Promise<ControllerContext> {
    const { env, tenant } = this.server
    const textOf = ({ uid, ownerKind, namespace }: Parameters<ControllerContext['absentOwners']['has']>[0]) =>
      `${uid} ${ownerKind} ${namespace}`
    return {
      env,
      tenant,
      served: await freshServedResources({ env, tenant }),
      freshServed: () => freshServedResources({ env, tenant }),
      now: () => this.now,
      once: (_, read) => read(),
      together: [key],
      dependentsOf: (kind) => [...(this.dependents.get(kind)?.values() ?? [])],
      addDependents: (resource, kinds) => kinds.forEach((kind) => this.announce(kind, resource)),
      forgetDependents: ({ group, resource }) => {
        for (const known of this.dependents.values()) known.delete(`${resource}.${group}`)
      },
      absentOwners: {
        has: (owner) => this.departed.has(textOf(owner)),
        add: (owner) => void this.departed.add(textOf(owner)),
      },
      watchedKinds: {
        has: (name) => this.watched.has(name),
        forgetOthers: (name) => void this.watched.delete(name),
      },
      sightings: {
        get: (key) => this.sightings.get(key),
        set: (key, seen) => void (seen === undefined ? this.sightings.delete(key) : this.sightings.set(key, seen)),
      },
      alone: (_, work) => work(),
      budget: { room: async () => {}, turn: turnOfOthers },
      room: new ListRoom(settingsOf(this.server.env).controllerMemory).begin(),
      user: userOf(controller),
      waitUntil: () => {},
      overdue: new Promise(() => {}),
      later: (controller, key, delay) => this.add(controller, key, delay),
    }
  }

  async client(resource: GroupResource, namespace: string): Promise<ResourceClient> {
    const context = await this.context()
    const actor = { user: context.user, fieldManager: 'somebody', admission: withoutAdmission }
    return new Clientset(context, actor).resource(resource, namespace)
  }

  async create(resource: GroupResource, object: JsonObject): Promise<KubeObject> {
    const written = object as unknown as KubeObject & JsonObject // the test writes whole objects
    return (await this.client(resource, written.metadata.namespace ?? '')).create(written)
  }

  async configMap(name: string, ownerReferences: readonly OwnerReference[] = [], finalizers: readonly string[] = []) {
    const metadata = { name, namespace: 'default', ownerReferences: [...ownerReferences], finalizers: [...finalizers] }
    return this.create(CONFIG_MAPS, { kind: 'ConfigMap', apiVersion: 'v1', metadata } as unknown as JsonObject)
  }

  async delete(resource: GroupResource, namespace: string, name: string, options?: DeleteOptions): Promise<void> {
    await (await this.client(resource, namespace)).delete(named(name), options)
  }

  async get(resource: GroupResource, namespace: string, name: string): Promise<KubeObject | undefined> {
    return (await this.client(resource, namespace)).get(name)
  }

  /** Also those of all namespaces. */
  async all(resource: GroupResource, namespace = ''): Promise<KubeObject[]> {
    return Array.fromAsync((await this.client(resource, namespace)).each())
  }

  async names(resource: GroupResource, namespace = ''): Promise<string[]> {
    const objects = await this.all(resource, namespace)
    return objects.map(({ metadata }) => metadata.name!).filter((name) => name !== 'kube-root-ca.crt')
  }
}

export const ownedBy = (
  { kind, apiVersion, metadata: { name, uid } }: KubeObject,
  more: Partial<OwnerReference> = {},
): OwnerReference => ({ kind, apiVersion, name, uid, ...more })
