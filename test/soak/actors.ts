// Clients that work while a server is killed repeatedly. Each actor continues however its requests end, and remembers
// what the server acknowledged.
import type { Answer, ApiObject } from '../e2e/api-client.ts'
import { ApiClient } from '../e2e/api-client.ts'

/** The current server process; each kill brings another one. */
export interface Target {
  client: ApiClient
  stopped: boolean
}

export const SPACE = '/api/v1/namespaces/soak'
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Repeats the request until a server that has finished its start answers. @returns undefined when the test is over */
async function send(target: Target, method: string, path: string, body?: unknown): Promise<Answer | undefined> {
  while (!target.stopped) {
    try {
      const answer = await target.client.send(method, path, body)
      if (answer.status < 500 && answer.status !== 429) return answer
    } catch {
      // the server was killed; the caller asks again whether the request took effect
    }
    await pause(100)
  }
  return undefined
}

const configMap = (name: string, count: number, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data: { count: String(count) },
})

export interface Written {
  readonly count: number
  readonly version: number
}

/** Creates an object and counts in it. @returns the last state that the server acknowledged */
export async function countIn(target: Target, name: string, acknowledged: Map<string, Written>): Promise<void> {
  const path = `${SPACE}/configmaps/${name}`
  for (let count = 0; !target.stopped; count++) {
    const answer = await (count === 0
      ? send(target, 'POST', `${SPACE}/configmaps`, configMap(name, 0))
      : send(target, 'PUT', path, configMap(name, count)))
    // 409: the server did the first create, but its answer was lost
    if (answer === undefined || (answer.status === 409 && count === 0)) continue
    if (answer.status !== 200 && answer.status !== 201)
      throw new Error(`${name} ${count}: ${answer.status} ${answer.body.message}`)
    acknowledged.set(name, { count, version: Number(answer.body.metadata.resourceVersion) })
  }
}

export interface Seen {
  readonly name: string
  readonly version: number
  readonly count: number
}

/** Watches again and again, each time from the last revision seen. */
export async function follow(target: Target, seen: Seen[], from: () => number): Promise<void> {
  while (!target.stopped) {
    try {
      const path = `${SPACE}/configmaps?watch=1&timeoutSeconds=20&resourceVersion=${from()}`
      const stream = await target.client.open('GET', path)
      if (stream.statusCode !== 200) throw new Error(String(stream.statusCode))
      let rest = ''
      for await (const text of stream.setEncoding('utf8')) {
        const lines = (rest + (text as string)).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) {
          const { type, object } = JSON.parse(line) as { type: string; object: ApiObject }
          if (type === 'ERROR') throw new Error(line)
          const { name, resourceVersion } = object.metadata
          seen.push({ name, version: Number(resourceVersion), count: Number(object.data?.['count']) })
        }
      }
    } catch {
      await pause(100)
    }
  }
}

/** Creates namespaces with objects in them and deletes them. @returns those whose deletion the server acknowledged */
export async function emptyNamespaces(target: Target, deleted: string[]): Promise<void> {
  for (let n = 0; !target.stopped; n++) {
    const name = `short-${n}`
    await send(target, 'POST', '/api/v1/namespaces', { metadata: { name } })
    for (let i = 0; i < 5; i++)
      await send(target, 'POST', `/api/v1/namespaces/${name}/configmaps`, configMap(`c${i}`, 0))
    const answer = await send(target, 'DELETE', `/api/v1/namespaces/${name}`)
    if (answer !== undefined && answer.status < 300) deleted.push(name)
    await pause(500)
  }
}

export interface Family {
  readonly dependents: readonly string[]
  /** Whether the garbage collector must delete the dependents. */
  readonly ownerDeleted: boolean
}

/**
 * Creates owners with dependents, and deletes every other owner. Beside each family is an object whose owner's kind is
 * unknown, so the garbage collector cannot judge it.
 */
export async function makeFamilies(target: Target, families: Family[]): Promise<void> {
  for (let n = 0; !target.stopped; n++) {
    const owner = await send(target, 'POST', `${SPACE}/configmaps`, configMap(`owner-${n}`, 0))
    if (owner?.status !== 201) continue
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: `owner-${n}`, uid: owner.body.metadata.uid }
    const dependents: string[] = []
    for (const name of [`dependent-${n}-a`, `dependent-${n}-b`]) {
      const made = await send(
        target,
        'POST',
        `${SPACE}/configmaps`,
        configMap(name, 0, { ownerReferences: [reference] }),
      )
      if (made !== undefined && (made.status === 201 || made.status === 409)) dependents.push(name)
    }
    const foreign = { ...reference, apiVersion: 'nope.example.com/v1', kind: 'Nope', uid: crypto.randomUUID() }
    const kept = await send(
      target,
      'POST',
      `${SPACE}/configmaps`,
      configMap(`foreign-${n}`, 0, { ownerReferences: [foreign] }),
    )
    if (kept?.status === 201) families.push({ dependents: [`foreign-${n}`], ownerDeleted: false })
    if (n % 2 === 0) {
      const gone = await send(target, 'DELETE', `${SPACE}/configmaps/owner-${n}`)
      if (gone !== undefined && (gone.status < 300 || gone.status === 404))
        families.push({ dependents, ownerDeleted: true })
    } else families.push({ dependents, ownerDeleted: false })
    await pause(200)
  }
}

/** Creates definitions with an object each, and deletes them. @returns the groups of deleted definitions */
export async function defineAndForget(target: Target, forgotten: string[]): Promise<void> {
  for (let n = 0; !target.stopped; n++) {
    const group = `soak${n}.example.com`
    const name = `things.${group}`
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await send(target, 'POST', definitions, {
      metadata: { name },
      spec: {
        group,
        scope: 'Cluster',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    })
    for (let tries = 0; tries < 50 && !target.stopped; tries++) {
      const made = await send(target, 'POST', `/apis/${group}/v1/things`, {
        apiVersion: `${group}/v1`,
        kind: 'Thing',
        metadata: { name: 'one' },
      })
      if (made === undefined || made.status === 201 || made.status === 409) break
      await pause(200)
    }
    const answer = await send(target, 'DELETE', `${definitions}/${name}`)
    if (answer !== undefined && answer.status < 300) forgotten.push(name)
    await pause(1_000)
  }
}
