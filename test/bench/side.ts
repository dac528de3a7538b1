// The sides of a comparison: each does the same work.
import { readFileSync } from 'node:fs'
import { median, send, succeed, targetOf } from './load.ts'
import type { Call, Target } from './load.ts'
import { usageOf } from './process-usage.ts'
import type { Usage } from './process-usage.ts'

export interface Side {
  readonly name: string
  readonly target: Target
  /** The server's processes without their children; empty if they are unknown. */
  readonly pids: readonly number[]
  get(): Call
  create(id: string): Call
  list(): Call
  /** The path of a watch of all later events. */
  readonly watchPath: string
}

/** A side with a Kubernetes API. */
export interface ApiSide extends Side {
  /** Path of the ConfigMaps. */
  readonly collection: string
  /** Path of the namespace. */
  readonly namespace: string
}

export function usage({ pids }: Side): Usage | undefined {
  if (pids.length === 0) return undefined
  const all = pids.map(usageOf)
  const sum = (of: (usage: Usage) => number): number => all.reduce((total, usage) => total + of(usage), 0)
  return { cpu: sum(({ cpu }) => cpu), residentBytes: sum(({ residentBytes }) => residentBytes) }
}

const VALUE = 'x'.repeat(1_500)

export const configMap = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { one: name.endsWith('00') ? 'percent' : 'other' } },
    data: { value: VALUE },
  })

export async function apiSide(name: string, target: Target, pids: readonly number[]): Promise<ApiSide> {
  const own = `bench-${Date.now().toString(36)}`
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: own } })
  await succeed(target, { method: 'POST', path: '/api/v1/namespaces', body })
  const namespace = `/api/v1/namespaces/${own}`
  const collection = `${namespace}/configmaps`
  return {
    name,
    target,
    pids,
    namespace,
    collection,
    get: () => ({ method: 'GET', path: `${collection}/first` }),
    create: (id) => ({ method: 'POST', path: collection, body: configMap(id) }),
    list: () => ({ method: 'GET', path: collection }),
    watchPath: `${collection}?watch=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=false`,
  }
}

/** Objects as large as Kedge stores them: padding stands for the metadata that Kedge fills in. */
export function floorSide(url: string, pids: readonly number[]): Side {
  const stored = (id: string): string =>
    JSON.stringify({ ...(JSON.parse(configMap(id)) as object), padding: 'y'.repeat(500) })
  return {
    name: 'floor',
    target: targetOf(url),
    pids,
    get: () => ({ method: 'GET', path: '/get/first' }),
    create: (id) => ({ method: 'POST', path: `/create/${id}`, body: stored(id) }),
    list: () => ({ method: 'GET', path: '/list' }),
    watchPath: '/watch',
  }
}

/** Reads kubeconfigs in JSON only, as Kedge writes them. */
export function readKubeconfig(file: string): Target {
  interface Named {
    readonly cluster?: { readonly server: string }
    readonly user?: Record<string, string | undefined>
  }
  const config = JSON.parse(readFileSync(file, 'utf8')) as { clusters: Named[]; users: Named[] }
  const user = config.users[0]?.user ?? {}
  const decoded = (data: string | undefined): string | undefined =>
    data === undefined ? undefined : Buffer.from(data, 'base64').toString()
  return targetOf(config.clusters[0]?.cluster?.server ?? '', {
    token: user.token,
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  })
}

/** Median milliseconds of several sequential requests. */
export async function timed(target: Target, call: Call, runs = 5): Promise<number> {
  await send(target, call)
  const times: number[] = []
  for (let run = 0; run < runs; run++) times.push((await succeed(target, call)).total)
  return median(times)
}
