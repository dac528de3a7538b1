// Metrics of admission, admission webhooks and conversion webhooks, under kube-apiserver's names and labels.
import { expect, test } from 'vitest'
import type { Answer, Called } from '../webhooks/front.ts'
import { frontAnswering, frontFailing, responding } from '../webhooks/front.ts'
import { serveMetrics } from '../../src/endpoints/metrics/metrics.ts'
import type { MemoryServer } from '../request-in-memory.ts'
import { pluginServer, pod } from '../admission/plugin-server.ts'

async function lines({ request }: MemoryServer, name: string): Promise<string[]> {
  const text = await (await serveMetrics(request('/metrics'), { slis: false })).text()
  return text.split('\n').filter((line) => line.startsWith(`${name}{`))
}

async function serverWith(
  type: 'mutating' | 'validating',
  OUTGOING: Fetcher,
  failurePolicy = 'Fail',
  matchConditions: object[] = [],
) {
  const server = pluginServer({ OUTGOING })
  await server.namespace('blue')
  const kind = type === 'mutating' ? 'mutatingwebhookconfigurations' : 'validatingwebhookconfigurations'
  const webhook = {
    name: 'a.example.com',
    clientConfig: { url: 'https://hook.example.com' },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    failurePolicy,
    matchConditions,
  }
  await server.send('POST', `/apis/admissionregistration.k8s.io/v1/${kind}`, {
    metadata: { name: 'a' },
    webhooks: [webhook],
  })
  const create = () => server.send('POST', '/api/v1/namespaces/blue/configmaps', { metadata: { generateName: 'a-' } })
  return { ...server, create }
}

const answering = (answer: (called: Called) => Answer) => frontAnswering(answer).binding
const unreachable = frontFailing({ code: 'ECONNREFUSED', message: '', address: '10.0.0.1:443' })

test.each<[what: string, type: 'mutating' | 'validating', Fetcher, policy: string, expected: object]>([
  ['lets pass', 'validating', answering(responding({ allowed: true })), 'Fail', { code: 200 }],
  [
    'denies',
    'validating',
    answering(responding({ allowed: false, status: { code: 418 } })),
    'Fail',
    { code: 418, error: 'no_error' },
  ],
  ['denies', 'mutating', answering(responding({ allowed: false })), 'Fail', { code: 400, error: 'no_error' }],
  ['is not reached', 'validating', unreachable, 'Fail', { code: 503, error: 'calling_webhook_error' }],
  ['is not reached, and passed over', 'validating', unreachable, 'Ignore', { code: 503, open: true }],
  ['is not reached, and passed over', 'mutating', unreachable, 'Ignore', { code: 503, open: true }],
  [
    'answers with an error',
    'validating',
    answering(() => ({ status: 404, text: 'none' })),
    'Fail',
    { code: 404, error: 'calling_webhook_error' },
  ],
  [
    'makes no patch',
    'mutating',
    answering(responding({ allowed: true, patchType: 'JSONPatch', patch: btoa('[{"op":"remove","path":"/nope"}]') })),
    'Fail',
    { code: 0, error: 'apiserver_internal_error' },
  ],
])('a webhook that %s (%s)', async (_, kind, front, policy, expected) => {
  const { memory, create } = await serverWith(kind, front, policy)
  await create()
  const { code, error, open } = expected as { code: number; error?: string; open?: boolean }
  const type = kind === 'mutating' ? 'admit' : 'validating'
  const rejected = String(error !== undefined)
  const about = 'name="a.example.com",operation="CREATE"'
  expect(await lines(memory, 'apiserver_admission_webhook_request_total')).toEqual([
    `apiserver_admission_webhook_request_total{code="${code}",${about},rejected="${rejected}",type="${type}"} 1`,
  ])
  expect(await lines(memory, 'apiserver_admission_webhook_admission_duration_seconds_count')).toEqual([
    `apiserver_admission_webhook_admission_duration_seconds_count{${about},rejected="${rejected}",type="${type}"} 1`,
  ])
  expect(await lines(memory, 'apiserver_admission_webhook_rejection_count')).toEqual(
    error === undefined
      ? []
      : [
          `apiserver_admission_webhook_rejection_count{error_type="${error}",${about},rejection_code="${code}",type="${type}"} 1`,
        ],
  )
  expect(await lines(memory, 'apiserver_admission_webhook_fail_open_count')).toEqual(
    open === true ? [`apiserver_admission_webhook_fail_open_count{name="a.example.com",type="${type}"} 1`] : [],
  )
})

const about = (name: string, kind: string, type: string): string =>
  `{kind="${kind}",name="${name}",operation="CREATE",type="${type}"}`

const holds = { name: 'holds', expression: 'true' }
const not = { name: 'not', expression: 'false' }
const fails = { name: 'fails', expression: 'object.data.nothing == "a"' }
const failsToo = { ...fails, name: 'fails-too' }

test.each<
  [
    what: string,
    policy: string,
    conditions: object[],
    expected: { status: number; errors?: number; excluded?: true; timed?: true },
  ]
>([
  ['hold', 'Fail', [holds], { status: 201 }],
  ['do not hold', 'Fail', [holds, not], { status: 201, excluded: true, timed: true }],
  ['cannot be told', 'Fail', [fails, holds, failsToo], { status: 403, errors: 2, timed: true }],
  ['cannot be told and are ignored', 'Ignore', [fails], { status: 201, errors: 1, excluded: true, timed: true }],
  [
    'do not hold, whatever follows',
    'Fail',
    [fails, not, failsToo],
    { status: 201, errors: 1, excluded: true, timed: true },
  ],
])('match conditions of webhooks that %s are counted', async (_, policy, conditions, expected) => {
  for (const [type, evaluated, excluded] of [
    ['mutating', 'admit', 'admit'],
    ['validating', 'validating', 'validate'],
  ] as const) {
    const memory = await serverWith(type, answering(responding({ allowed: true })), policy, conditions)
    expect(await memory.create()).toMatchObject({ code: expected.status })
    const of = (name: string) => lines(memory.memory, `apiserver_admission_match_condition_${name}`)
    const { errors = 0, timed = false, excluded: isExcluded = false } = expected
    const labels = about('a.example.com', 'webhook', evaluated)
    expect(await of('evaluation_errors_total')).toEqual(
      errors === 0 ? [] : [`apiserver_admission_match_condition_evaluation_errors_total${labels} ${errors}`],
    )
    expect(await of('evaluation_seconds_count')).toEqual(
      timed ? [`apiserver_admission_match_condition_evaluation_seconds_count${labels} 1`] : [],
    )
    expect(await of('exclusions_total')).toEqual(
      isExcluded
        ? [`apiserver_admission_match_condition_exclusions_total${about('a.example.com', 'webhook', excluded)} 1`]
        : [],
    )
  }
})

test('plugins and steps are measured', async () => {
  const { memory, send, namespace } = pluginServer()
  await namespace('blue')
  await send('POST', '/api/v1/namespaces/blue/pods', pod())
  const admitted = await lines(memory, 'apiserver_admission_controller_admission_duration_seconds_count')
  expect(admitted).toContain(
    'apiserver_admission_controller_admission_duration_seconds_count{name="ServiceAccount",operation="CREATE",rejected="false",type="admit"} 1',
  )
  const bounds = await lines(memory, 'apiserver_admission_step_admission_duration_seconds_bucket')
  const of = bounds.filter((line) => line.includes('operation="CREATE",rejected="false",type="admit"'))
  expect(of.map((line) => /le="([^"]+)"/.exec(line)?.[1])).toEqual(['0.005', '0.025', '0.1', '0.5', '1', '2.5', '+Inf'])
})

test('pod security counts what it judged, exempted and could not read', async () => {
  const exemptions = { usernames: [], namespaces: ['exempt'], runtimeClasses: [] }
  const { memory, send, namespace } = pluginServer(
    {},
    {
      PodSecurity: {
        apiVersion: 'pod-security.admission.config.k8s.io/v1',
        kind: 'PodSecurityConfiguration',
        exemptions,
      },
    },
  )
  await namespace('free')
  await namespace('exempt')
  const label = (mode: string) => `pod-security.kubernetes.io/${mode}`
  await namespace(
    'strict',
    {},
    { [label('enforce')]: 'baseline', [label('enforce-version')]: 'v1.99', [label('warn')]: 'restricted' },
  )
  const create = (name: string, spec: object = {}) =>
    send('POST', `/api/v1/namespaces/${name}/pods?dryRun=All`, pod(spec))
  await create('free')
  await create('exempt')
  await create('strict')
  await create('strict', { hostNetwork: true })
  const about = 'request_operation="create",resource="pod",subresource=""'
  expect(await lines(memory, 'pod_security_evaluations_total')).toEqual([
    `pod_security_evaluations_total{decision="allow",mode="enforce",policy_level="privileged",policy_version="latest",${about}} 1`,
    `pod_security_evaluations_total{decision="allow",mode="enforce",policy_level="baseline",policy_version="future",${about}} 1`,
    `pod_security_evaluations_total{decision="deny",mode="warn",policy_level="restricted",policy_version="latest",${about}} 1`,
    `pod_security_evaluations_total{decision="deny",mode="enforce",policy_level="baseline",policy_version="future",${about}} 1`,
  ])
  expect(await lines(memory, 'pod_security_exemptions_total')).toEqual([`pod_security_exemptions_total{${about}} 1`])
})
