/**
 * `/healthz`, `/livez`, `/readyz` and their checks, with the names of kube-apiserver, because monitoring excludes and
 * requests them by name. A start-up hook (`poststarthook/…`) passes whenever the isolate answers: its work is code
 * here, or part of the first write. Only the state of the storage can change.
 */
import { collectionOf } from '../../storage/collections.ts'
import type { FeatureGates } from '../../api/feature-gates.ts'
import { builtInServed } from '../../registry/served/built-in-served.ts'
import type { ApiRequest } from '../../request/context.ts'
import { unreadableDatabases } from './database-checks.ts'
import { storageOf } from '../../storage/environment-storage.ts'
import { notFoundText, textResponse } from '../documents/text-response.ts'

export const healthEndpoints = ['healthz', 'livez', 'readyz'] as const
export type HealthEndpoint = (typeof healthEndpoints)[number]

/** Start-up hooks; a pair names the feature gate that the hook needs. */
const startHooks: readonly (string | readonly [hook: string, gate: string])[] = [
  'start-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'priority-and-fairness-config-consumer',
  'priority-and-fairness-filter',
  'storage-object-count-tracker-hook',
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-system-namespaces-controller',
  ['start-kube-apiserver-coordinated-leader-election-controller', 'CoordinatedLeaderElection'],
  'peer-endpoint-reconciler-controller',
  'start-cluster-authentication-info-controller',
  'start-kube-apiserver-identity-lease-controller',
  'start-kube-apiserver-identity-lease-garbage-collector',
  'storage-readiness',
  'start-legacy-token-tracking-controller',
  'start-service-ip-repair-controllers',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'priority-and-fairness-config-producer',
  'bootstrap-controller',
  'start-kubernetes-service-cidr-controller',
  'aggregator-reload-proxy-client-cert',
  'start-kube-aggregator-informers',
  'apiservice-status-local-available-controller',
  'apiservice-status-remote-available-controller',
  'apiservice-registration-controller',
  'apiservice-discovery-controller',
  ['built-in-resources-storage-version-updater', 'StorageVersionAPI'],
  'kube-apiserver-autoregistration',
]

const lateHooks = [
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
]

/** The names of the checks in the order of the answer. */
export function healthChecks(gates: FeatureGates): Readonly<Record<HealthEndpoint, readonly string[]>> {
  const started = startHooks.flatMap((one) => {
    const [hook, gate] = typeof one === 'string' ? [one, undefined] : one
    return gate === undefined || gates.enabled(gate) ? [`poststarthook/${hook}`] : []
  })
  const alive = ['ping', 'log', 'loopback-serving-certificate', 'etcd', ...started, ...lateHooks]
  return {
    healthz: alive,
    livez: alive,
    readyz: ['ping', 'log', 'etcd', 'etcd-readiness', 'informer-sync', ...started, ...lateHooks, 'shutdown'],
  }
}

/** Milliseconds in which the storage must answer. */
const STORAGE_PATIENCE = 2000

/** The error of a check; undefined where it passes. */
export async function failureOf(check: string, request: ApiRequest): Promise<string | undefined> {
  if (check !== 'etcd' && check !== 'etcd-readiness') return undefined
  const storage = storageOf(request.env)
  const namespaces = collectionOf(request.tenant, { group: '', resource: 'namespaces' })
  let timer: ReturnType<typeof setTimeout> | null = null
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('the storage did not answer in time'), STORAGE_PATIENCE)
  })
  try {
    return await Promise.race([storage.revision(namespaces).then(() => undefined), late])
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    clearTimeout(timer)
  }
}

const namesOf = ({ env }: ApiRequest, endpoint: HealthEndpoint): readonly string[] =>
  healthChecks(builtInServed(env).gates)[endpoint]

/** @param path what follows the endpoint: empty, or `/` and the name of a check */
export async function serveHealth(request: ApiRequest, endpoint: HealthEndpoint, path: string): Promise<Response> {
  if (path === '') return serveAll(request, endpoint)
  const check = namesOf(request, endpoint).find((name) => `/${name}` === path)
  if (check === undefined) return notFoundText()
  const failure = await failureOf(check, request)
  if (failure === undefined) return textResponse('ok')
  return textResponse(`internal server error: ${failure}\n`, { status: 500, nosniff: true })
}

async function serveAll(request: ApiRequest, endpoint: HealthEndpoint): Promise<Response> {
  const databases = endpoint === 'readyz' ? await unreadableDatabases(request) : []
  // readable databases are not listed, because kube-apiserver has no such checks
  const bad = databases.map((name) => `database/${name}`)
  const names = [...namesOf(request, endpoint), ...bad]
  const excluded = new Set(request.query.getAll('exclude'))
  const failures = new Map<string, string>()
  await Promise.all(
    names.map(async (name) => {
      if (excluded.has(name)) return
      // few: the server's own checks
      const failure = bad.includes(name) ? 'it cannot be read' : await failureOf(name, request)
      if (failure !== undefined) failures.set(name, failure)
    }),
  )
  const lines = names.map((name) => {
    if (excluded.has(name)) return `[+]${name} excluded: ok`
    return failures.has(name) ? `[-]${name} failed: reason withheld` : `[+]${name} ok`
  })
  // few: the server's own checks
  const unknown = [...excluded].filter((name) => !names.includes(name)).sort()
  if (unknown.length > 0)
    lines.push(
      `warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name)).join(',')}`,
    )
  if (failures.size > 0)
    return textResponse(`${lines.join('\n')}\n${endpoint} check failed\n`, { status: 500, nosniff: true })
  if (!request.query.has('verbose')) return textResponse('ok', { nosniff: true })
  return textResponse(`${lines.join('\n')}\n${endpoint} check passed\n`, { nosniff: true })
}
