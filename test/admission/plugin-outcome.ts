/** Runs one plugin alone on a request, with given objects in storage. */
import type { AdmissionPlugin, Attributes, Operation } from '../../src/admission/attributes.ts'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'
import { StatusError } from '../../src/api/status.ts'
import type { Env } from '../../src/env.ts'
import type { UserInfo } from '../../src/request/user-info.ts'
import type { MemoryServer } from '../request-in-memory.ts'
import { memoryServer } from '../request-in-memory.ts'

/** Objects by `RESOURCE.GROUP`, or `RESOURCE`. */
export type Stored = Readonly<Record<string, readonly (KubeObject & JsonObject)[]>>

export interface Asked {
  readonly operation?: Operation
  /** `RESOURCE.GROUP[/SUBRESOURCE]` */
  readonly at: string
  readonly object?: JsonObject
  readonly oldObject?: JsonObject
  readonly kind?: string
  readonly name?: string
  readonly namespace?: string
  readonly user?: string
  readonly groups?: readonly string[]
}

export async function serverWith(stored: Stored, settings: Partial<Env> = {}): Promise<MemoryServer> {
  const server = memoryServer(settings)
  for (const [resource, objects] of Object.entries(stored)) {
    const [name = '', ...group] = resource.split('.')
    for (const object of objects) await server.put(group.join('.'), name, object)
  }
  return server
}

/** Returns `not asked`, the message of the refusal, or the object after the plugin (undefined for a DELETE). */
export async function outcomeOf(plugin: AdmissionPlugin, server: MemoryServer, asked: Asked): Promise<unknown> {
  const attributes = attributesOf(server, asked)
  if (!plugin.handles(attributes)) return 'not asked'
  try {
    await plugin.admit?.(attributes)
    await plugin.validate?.(attributes)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return `${error.code} ${error.message}`
  }
  return attributes.object
}

function attributesOf(server: MemoryServer, asked: Asked): Attributes {
  const { at, operation = 'CREATE', object, oldObject, namespace = 'blue', user = 'eve', groups = [] } = asked
  const [path = '', subresource = ''] = at.split('/')
  const [resource = '', ...group] = path.split('.')
  const of = { group: group.join('.'), version: 'v1' }
  const who: UserInfo = { name: user, uid: '', groups: [...groups], extra: {} }
  // objects of a test are of the kind of their resource
  const whole = (one: JsonObject | undefined) =>
    one === undefined ? undefined : (structuredClone({ metadata: {}, ...one }) as unknown as KubeObject)
  const kube = whole(object)
  const old = whole(oldObject)
  return {
    operation,
    resource: { ...of, resource },
    subresource,
    kind: { ...of, kind: asked.kind ?? '' },
    namespace,
    name: asked.name ?? (kube ?? old)?.metadata.name ?? '',
    ...(kube === undefined ? {} : { object: kube }),
    ...(old === undefined ? {} : { oldObject: old }),
    options: {},
    dryRun: false,
    user: who,
    request: { ...server.request('/'), user: who },
  }
}
