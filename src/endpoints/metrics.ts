/**
 * `/metrics` and `/metrics/slis` in the text format of Prometheus, under the reference's names. What is counted is what
 * this isolate did since it began; an installation with several isolates sums over them, as over several servers.
 */
import type { ApiRequest } from '../request/context.ts'
import { builtInServed } from '../registry/served.ts'
import type { HealthEndpoint } from './health.ts'
import { failureOf, healthChecks } from './health.ts'
import { NO_CACHE } from './text-response.ts'
import { RELEASE, versionInfo } from './version.ts'

type Labels = Readonly<Record<string, string>>

interface Sample {
  readonly suffix?: string
  readonly labels: Labels
  readonly value: number
}

interface Metric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: readonly Sample[]
}

/** Upper bounds in seconds. */
const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10]

class Counters {
  private readonly values = new Map<string, { labels: Labels; value: number }>()

  add(labels: Labels, value = 1): void {
    const key = JSON.stringify(labels)
    const known = this.values.get(key)
    if (known === undefined) this.values.set(key, { labels, value })
    else known.value += value
  }

  samples(): Sample[] {
    return [...this.values.values()]
  }
}

class Histograms {
  private readonly values = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>()

  observe(labels: Labels, value: number): void {
    const key = JSON.stringify(labels)
    let known = this.values.get(key)
    if (known === undefined) {
      known = { labels, counts: buckets.map(() => 0), sum: 0, count: 0 }
      this.values.set(key, known)
    }
    known.sum += value
    known.count++
    for (const [at, bound] of buckets.entries()) if (value <= bound) known.counts[at]!++
  }

  samples(): Sample[] {
    return [...this.values.values()].flatMap(({ labels, counts, sum, count }) => [
      ...buckets.map((bound, at) => ({
        suffix: '_bucket',
        labels: { ...labels, le: String(bound) },
        value: counts[at]!,
      })),
      { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
      { suffix: '_sum', labels, value: sum },
      { suffix: '_count', labels, value: count },
    ])
  }
}

const startedAt = { seconds: undefined as number | undefined }
const requests = new Counters()
const durations = new Histograms()
const sizes = new Histograms()
const dispatched = new Counters()
const admissions = new Histograms()
const admissionSteps = new Histograms()
const healthRuns = new Counters()
let inFlight = 0
let longRunning = 0

const isLongRunning = (verb: string) => verb === 'watch' || verb === 'proxy' || verb === 'connect'

/** Labels that tell requests apart, as the reference names them. */
function requestLabels({ info, method }: ApiRequest): Labels {
  const verb = info.isResourceRequest ? (verbLabels[info.verb] ?? method) : method
  const scope = !info.isResourceRequest
    ? ''
    : info.name !== ''
      ? 'resource'
      : info.namespace !== ''
        ? 'namespace'
        : 'cluster'
  return {
    group: info.apiGroup,
    resource: info.resource,
    scope,
    subresource: info.isResourceRequest ? info.subresource : info.path,
    verb,
    version: info.apiVersion,
  }
}

const verbLabels: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
}

/** Told when a request begins; the answer is told when its head is sent. */
export function measureRequest(request: ApiRequest): (response: Response) => void {
  startedAt.seconds ??= request.now.getTime() / 1000
  const began = performance.now()
  const long = isLongRunning(request.info.verb)
  if (long) longRunning++
  inFlight++
  return (response) => {
    inFlight--
    if (long) longRunning--
    const labels = { component: 'apiserver', ...requestLabels(request) }
    requests.add({ code: String(response.status), ...labels })
    if (!long) durations.observe(labels, (performance.now() - began) / 1000)
    const length = Number(response.headers.get('Content-Length') ?? Number.NaN)
    if (!Number.isNaN(length)) sizes.observe(labels, length)
    const level = request.user.groups.includes('system:masters') ? 'exempt' : 'global-default'
    dispatched.add({ flow_schema: level, priority_level: level })
  }
}

/** Told by the chain of admission: how long a plugin, or (without a name) a whole step took, in seconds. */
export function measureAdmission(
  plugin: string | undefined,
  { operation, step, rejected }: { operation: string; step: 'admit' | 'validate'; rejected: boolean },
  seconds: number,
): void {
  const labels = { operation, rejected: String(rejected), type: step }
  if (plugin === undefined) admissionSteps.observe(labels, seconds)
  else admissions.observe({ name: plugin, ...labels }, seconds)
}

function metrics({ env, now }: ApiRequest): Metric[] {
  const start = startedAt.seconds ?? now.getTime() / 1000
  const info = versionInfo()
  const gates = builtInServed(env).gates.all
  return [
    {
      name: 'apiserver_admission_controller_admission_duration_seconds',
      type: 'histogram',
      help: 'Time that each plugin of admission took.',
      samples: admissions.samples(),
    },
    {
      name: 'apiserver_admission_step_admission_duration_seconds',
      type: 'histogram',
      help: 'Time that each step of admission took.',
      samples: admissionSteps.samples(),
    },
    {
      name: 'apiserver_current_inflight_requests',
      type: 'gauge',
      help: 'Requests being served.',
      samples: [{ labels: { request_kind: 'all' }, value: inFlight }],
    },
    {
      name: 'apiserver_flowcontrol_current_executing_requests',
      type: 'gauge',
      help: 'Requests being served.',
      samples: [{ labels: { flow_schema: 'global-default', priority_level: 'global-default' }, value: inFlight }],
    },
    {
      name: 'apiserver_flowcontrol_dispatched_requests_total',
      type: 'counter',
      help: 'Requests that were let through.',
      samples: dispatched.samples(),
    },
    {
      name: 'apiserver_longrunning_requests',
      type: 'gauge',
      help: 'Watches and other long requests being served.',
      samples: [{ labels: {}, value: longRunning }],
    },
    {
      name: 'apiserver_request_duration_seconds',
      type: 'histogram',
      help: 'Time until a request was answered.',
      samples: durations.samples(),
    },
    { name: 'apiserver_request_total', type: 'counter', help: 'Requests answered.', samples: requests.samples() },
    {
      name: 'apiserver_response_sizes',
      type: 'histogram',
      help: 'Bytes of answers whose length is known.',
      samples: sizes.samples(),
    },
    {
      name: 'go_goroutines',
      type: 'gauge',
      help: 'Requests at work: there are no goroutines here.',
      samples: [{ labels: {}, value: inFlight }],
    },
    {
      name: 'kubernetes_build_info',
      type: 'gauge',
      help: 'The version, as labels of a constant 1.',
      samples: [
        {
          labels: {
            build_date: String(info['buildDate']),
            compiler: String(info['compiler']),
            git_commit: String(info['gitCommit']),
            git_tree_state: String(info['gitTreeState']),
            git_version: RELEASE.gitVersion,
            go_version: String(info['goVersion']),
            major: RELEASE.major,
            minor: RELEASE.minor,
            platform: String(info['platform']),
          },
          value: 1,
        },
      ],
    },
    {
      name: 'kubernetes_feature_enabled',
      type: 'gauge',
      help: 'Feature gates: 1 is on.',
      samples: gates.map(({ name, stage, enabled }) => ({
        labels: { name, stage: stage === 'GA' ? '' : stage },
        value: enabled ? 1 : 0,
      })),
    },
    {
      name: 'process_cpu_seconds_total',
      type: 'counter',
      help: 'Not told by the engine: time spent in answering.',
      samples: [
        {
          labels: {},
          value: durations.samples().reduce((sum, one) => sum + (one.suffix === '_sum' ? one.value : 0), 0),
        },
      ],
    },
    {
      name: 'process_start_time_seconds',
      type: 'gauge',
      help: 'When this isolate served its first request.',
      samples: [{ labels: {}, value: start }],
    },
  ]
}

async function healthMetrics(request: ApiRequest): Promise<Metric[]> {
  const samples: Sample[] = []
  for (const [type, names] of Object.entries(healthChecks) as [HealthEndpoint, readonly string[]][]) {
    for (const name of names) {
      const healthy = (await failureOf(name, request)) === undefined
      samples.push({ labels: { name, type }, value: healthy ? 1 : 0 })
      healthRuns.add({ name, status: healthy ? 'success' : 'error', type })
    }
  }
  samples.sort((a, b) =>
    `${a.labels['name']} ${a.labels['type']}` < `${b.labels['name']} ${b.labels['type']}` ? -1 : 1,
  )
  return [
    { name: 'kubernetes_healthcheck', type: 'gauge', help: 'Health checks: 1 is passed.', samples },
    {
      name: 'kubernetes_healthchecks_total',
      type: 'counter',
      help: 'Health checks that were run.',
      samples: healthRuns.samples(),
    },
  ]
}

const escapeLabel = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

function textOf(all: readonly Metric[]): string {
  let text = ''
  for (const { name, type, help, samples } of all) {
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
    for (const { suffix = '', labels, value } of samples) {
      const pairs = Object.entries(labels).map(([label, one]) => `${label}="${escapeLabel(one)}"`)
      text += `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
    }
  }
  return text
}

/** `slis`: only the health checks. */
export async function serveMetrics(request: ApiRequest, { slis }: { readonly slis: boolean }): Promise<Response> {
  const text = textOf(slis ? await healthMetrics(request) : metrics(request))
  return new Response(request.method === 'HEAD' ? null : text, {
    headers: {
      'Cache-Control': NO_CACHE,
      'Content-Type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
    },
  })
}
