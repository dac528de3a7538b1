/**
 * This isolate's metrics of requests, for each control plane: endpoints/metrics/metrics.ts exposes them under
 * kube-apiserver's names.
 */
import { isFinished } from '../codec/respond.ts'
import type { Env } from '../env.ts'
import { builtInServed } from '../registry/served/built-in-served.ts'
import type { ApiRequest } from '../request/context.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import { requestLabels } from './request-labels.ts'
import { byteBuckets, Counters, Histogram, Histograms, secondBuckets } from './series.ts'
import type { Labels } from './series.ts'

/** Requests with the same labels. */
export class RequestKind {
  readonly ofServer: Labels
  /** With whether the requests are only tried. */
  readonly ofServerAndDryRun: Labels
  /** Bound: the codes that this server answers with. */
  readonly codes = new Map<number, number>()
  readonly durations = new Histogram(secondBuckets)
  readonly sizes = new Histogram(byteBuckets)

  constructor(
    readonly labels: Labels,
    readonly dryRun: DryRun = '',
  ) {
    this.ofServer = { component: 'apiserver', ...labels }
    this.ofServerAndDryRun = { component: 'apiserver', dry_run: dryRun, ...labels }
  }
}

type DryRun = '' | 'All' | 'invalid'

function dryRunOf({ query }: ApiRequest): DryRun {
  const values = query.getAll('dryRun')
  if (values.length === 0) return ''
  return values.every((value) => value === 'All') ? 'All' : 'invalid'
}

/** The counts of one tenant: no other tenant may see the names of its resources. */
class Measurements {
  /** Bound: MAX_KINDS. */
  readonly requests = new Map<string, RequestKind>()
  readonly others = new RequestKind({ group: '', resource: '', scope: '', subresource: '', verb: '', version: '' })
  /** Bound: the series that Histograms keep. */
  readonly bodySizes = new Histograms(bodyBuckets)
  readonly deprecated = new Counters()
  /** Bound: the series that Counters keep. */
  readonly policyChecks = { validating: new Counters(), mutating: new Counters() }
  /** Bound: the series that Histograms keep. */
  readonly policyTimes = { validating: new Histograms(checkBuckets), mutating: new Histograms(checkBuckets) }
  readonly healthRuns = new Counters()

  /** When the isolate served its first request for the tenant, in seconds. */
  startedAt: number | undefined
}

/** kube-apiserver's buckets, in seconds. */
const checkBuckets = [0.0000005, 0.001, 0.01, 0.1, 1]

/** kube-apiserver's: from 50 kB in steps of 100 kB. */
const bodyBuckets = Array.from({ length: 31 }, (_, step) => 50_000 + step * 100_000)

const measurementsFor = perTenant('counts', () => new Measurements())

export const measurementsOf = ({ tenant }: Pick<ApiRequest, 'tenant'>): Measurements => measurementsFor(tenant)

const isLongRunning = (verb: string) => verb === 'watch' || verb === 'proxy' || verb === 'connect'

/** The counts of requests with equal labels, which have kube-apiserver's names. */
function kindOf(all: Measurements, request: ApiRequest, status: number): RequestKind {
  const { info, env } = request
  const labels = requestLabels(request)
  const { group, resource, scope, subresource, verb, version } = labels
  const dryRun = dryRunOf(request)
  const key = `${dryRun} ${verb} ${scope} ${group} ${version} ${resource} ${subresource}`
  const known = all.requests.get(key)
  if (known !== undefined) return known
  if (all.requests.size >= MAX_KINDS || key.length > MAX_NAMES || hasEmptyParts(info)) return all.others
  if (status >= 400 && !isBuiltIn(info, env)) return all.others
  const kind = new RequestKind(labels, dryRun)
  all.requests.set(key, kind)
  return kind
}

/**
 * Clients can invent paths, groups and resources. A name becomes a label only after a request for it succeeded, which
 * proves that it is served. Requests beyond the limit of kinds are counted without labels.
 */
const MAX_KINDS = 1_024
/**
 * Characters of all labels of a kind. A group, a version and a resource have 380 at most; resources of an extension
 * server may have any name.
 */
const MAX_NAMES = 512

/** Discovery accepts any number of slashes at the end of a path, and each number would make a label of its own. */
const hasEmptyParts = ({ isResourceRequest, path }: RequestInfo): boolean => !isResourceRequest && path.includes('//')

function isBuiltIn({ isResourceRequest, apiGroup, apiVersion, resource, subresource }: RequestInfo, env: Env): boolean {
  if (!isResourceRequest) return false
  const entry = builtInServed(env).resources.find(apiGroup, apiVersion, resource)
  if (entry === undefined || subresource === '') return entry !== undefined
  return entry.subresources.some(({ name }) => name === subresource)
}

/** The caller calls this when a request begins, and the returned function when the response headers are ready. */
export function measureRequest(request: ApiRequest): (response: Response) => void {
  const all = measurementsOf(request)
  const began = request.now.getTime()
  all.startedAt ??= began / 1000
  const long = isLongRunning(request.info.verb)
  return (response) => {
    count(all, request, response, long ? undefined : (request.clock() - began) / 1000)
  }
}

function count(all: Measurements, request: ApiRequest, response: Response, seconds: number | undefined): void {
  const { status } = response
  const kind = kindOf(all, request, status)
  kind.codes.set(status, (kind.codes.get(status) ?? 0) + 1)
  if (seconds !== undefined) kind.durations.observe(seconds)
  const { verb = '', group = '', resource = '' } = kind.labels
  if (reads.has(verb) && !isFinished(response)) observeLength(response.headers, (size) => kind.sizes.observe(size))
  const bodyVerb = bodyVerbs.get(request.info.verb)
  if (bodyVerb !== undefined && kind !== all.others) {
    const labels = { group, resource, verb: bodyVerb }
    const key = `${group} ${resource} ${bodyVerb}`
    observeLength(request.headers, (size) => all.bodySizes.observe(key, size, () => labels))
  }
  if (request.warnings.some((warning) => warning.includes(' is deprecated in v'))) {
    const { version = '', subresource = '' } = kind.labels
    all.deprecated.add({ group, removed_release: '', resource, subresource, version })
  }
}

function observeLength(headers: Pick<Headers, 'get'>, observe: (length: number) => void): void {
  const length = headers.get('Content-Length')
  if (length !== null) observe(Number(length))
}

/** Whose answers kube-apiserver measures. */
const reads: ReadonlySet<string> = new Set(['GET', 'LIST', 'WATCH'])

/** Verbs of resources whose bodies kube-apiserver measures, with their labels. */
const bodyVerbs: ReadonlyMap<string, string> = new Map([
  ['create', 'create'],
  ['update', 'update'],
  ['patch', 'patch'],
  ['delete', 'delete'],
  ['deletecollection', 'delete_collection'],
])

export interface PolicyCheck {
  readonly policy: string
  readonly binding: string
  /** The error of the check; undefined where it had none. */
  readonly problem: string | undefined
  /** The time of the policy's expressions, for this request and its parameters. */
  readonly seconds: number
}

const problemTypes: readonly (readonly [start: string, type: string])[] = [
  ['compilation', 'compile_error'],
  ['validation failed due to running out of cost budget', 'out_of_budget'],
]

/** Counts one check of an admission policy. @param action the enforcement of a validating policy */
export function measurePolicyCheck(
  request: Pick<ApiRequest, 'tenant'>,
  type: 'validating' | 'mutating',
  { policy, binding, problem, seconds }: PolicyCheck,
  action?: 'allow' | 'deny' | 'audit' | 'warn',
): void {
  const known = problem === undefined ? undefined : problemTypes.find(([start]) => problem.startsWith(start))
  const { policyChecks, policyTimes } = measurementsOf(request)
  const labels = {
    ...(action === undefined ? {} : { enforcement_action: action }),
    error_type: problem === undefined ? 'no_error' : (known?.[1] ?? 'invalid_error'),
    policy,
    policy_binding: binding,
  }
  policyChecks[type].add(labels)
  policyTimes[type].observe(Object.values(labels).join('\0'), seconds, () => labels)
}
