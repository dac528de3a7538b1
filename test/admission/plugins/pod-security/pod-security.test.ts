import { describe, expect, test } from 'vitest'
import type { Attributes } from '../../../../src/admission/attributes.ts'
import { podSecurity } from '../../../../src/admission/plugins/pod-security/pod-security.ts'
import type { JsonObject, KubeObject } from '../../../../src/api/object.ts'
import { RequestRecord } from '../../../../src/request/record.ts'
import { memoryServer } from '../../../request-in-memory.ts'

type Labels = Record<string, string>

const labelled = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).map(([name, text]) => [`pod-security.kubernetes.io/${name}`, text]))

const PRIVILEGED = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] }
const podOf = (spec: JsonObject = PRIVILEGED, name = 'p'): KubeObject & JsonObject => ({
  metadata: { name, namespace: 'blue' },
  spec,
})

async function ask(labels: Labels, attributes: Partial<Attributes>, pods: (KubeObject & JsonObject)[] = []) {
  const server = memoryServer()
  await server.put('', 'namespaces', { metadata: { name: 'blue', labels: labelled(labels) } })
  for (const pod of pods) await server.put('', 'pods', pod)
  const record = new RequestRecord()
  const request = { ...server.request('/'), record }
  // the plugin reads no other attributes
  const whole = {
    operation: 'CREATE',
    resource: { group: '', version: 'v1', resource: 'pods' },
    kind: { group: '', version: 'v1', kind: 'Pod' },
    subresource: '',
    namespace: 'blue',
    name: 'p',
    ...attributes,
    request,
    user: request.user,
  } as Attributes
  const outcome = podSecurity.handles(whole)
    ? await Promise.resolve(podSecurity.validate?.(whole)).then(
        () => 'allowed',
        (error: Error) => error.message,
      )
    : 'not asked'
  const annotations = Object.fromEntries(
    [...record.annotations].map(([key, text]) => [key.replace('pod-security.kubernetes.io/', ''), text]),
  )
  return { outcome, warnings: request.warnings, annotations }
}

const WHY = 'privileged (container "c" must not set securityContext.privileged=true)'
const REFUSED = `pods "p" is forbidden: violates PodSecurity "baseline:latest": ${WHY}`
const WOULD = `would violate PodSecurity "baseline:latest": ${WHY}`

describe('a pod', () => {
  test('is refused where its namespace enforces, and nothing is warned of besides', async () => {
    expect(await ask({ enforce: 'baseline', audit: 'baseline' }, { object: podOf() })).toEqual({
      outcome: REFUSED,
      warnings: [],
      annotations: { 'enforce-policy': 'baseline:latest', 'audit-violations': WOULD },
    })
  })
  test('is let in with a warning, or with a note in the audit log alone', async () => {
    expect(await ask({ warn: 'baseline' }, { object: podOf() })).toMatchObject({
      outcome: 'allowed',
      warnings: [WOULD],
    })
    expect(await ask({ audit: 'baseline' }, { object: podOf() })).toMatchObject({
      warnings: [],
      annotations: { 'audit-violations': WOULD },
    })
  })
  test('is refused where a level is not known: it counts as the strictest', async () => {
    expect((await ask({ enforce: 'none' }, { object: podOf() })).outcome).toContain('"restricted:latest"')
  })
  test('is refused where its namespace is not known', async () => {
    const { outcome } = await ask({}, { object: podOf(), namespace: 'green' })
    expect(outcome).toContain('failed to lookup namespace "green"')
  })
  test.each<[string, Partial<Attributes>, string]>([
    ['an update that changes nothing', { object: podOf(), oldObject: podOf() }, 'allowed'],
    [
      'an update of an image',
      { object: podOf(), oldObject: podOf({ containers: [{ name: 'c', image: 'j' }] }) },
      REFUSED,
    ],
    [
      'an ephemeral container',
      {
        subresource: 'ephemeralcontainers',
        object: podOf({ ...PRIVILEGED, ephemeralContainers: [{ name: 'e', image: 'i' }] }),
        oldObject: podOf(),
      },
      REFUSED,
    ],
    ['an update of the status', { subresource: 'status', object: podOf(), oldObject: podOf() }, 'not asked'],
    ['a subresource to come', { subresource: 'new', object: podOf(), oldObject: podOf({}) }, REFUSED],
  ])('%s', async (_, attributes, outcome) => {
    expect((await ask({ enforce: 'baseline' }, { operation: 'UPDATE', ...attributes })).outcome).toBe(outcome)
  })
})

describe('resources with a pod template', () => {
  const template = { metadata: {}, spec: PRIVILEGED }
  const inSpec = { metadata: { name: 'p' }, spec: { template } }
  test.each<[string, string, KubeObject & JsonObject]>([
    ['apps', 'deployments', inSpec],
    ['apps', 'replicasets', inSpec],
    ['apps', 'statefulsets', inSpec],
    ['apps', 'daemonsets', inSpec],
    ['batch', 'jobs', inSpec],
    ['', 'replicationcontrollers', inSpec],
    ['', 'podtemplates', { metadata: { name: 'p' }, template }],
    ['batch', 'cronjobs', { metadata: { name: 'p' }, spec: { jobTemplate: { spec: { template } } } }],
  ])('is warned of, and never refused: %s %s', async (group, resource, object) => {
    const asked = { resource: { group, version: 'v1', resource }, object }
    expect(await ask({ enforce: 'baseline' }, asked)).toMatchObject({ outcome: 'allowed', warnings: [WOULD] })
    expect((await ask({ enforce: 'baseline' }, { ...asked, subresource: 'status' })).outcome).toBe('not asked')
  })
  test('may have none', async () => {
    const resource = { group: '', version: 'v1', resource: 'replicationcontrollers' }
    expect(await ask({ enforce: 'baseline' }, { resource, object: { metadata: { name: 'p' } } })).toMatchObject({
      outcome: 'allowed',
      warnings: [],
    })
  })
})

describe('a namespace', () => {
  const namespace = (labels: Labels): KubeObject => ({ metadata: { name: 'blue', labels: labelled(labels) } })
  const kind = { group: '', version: 'v1', kind: 'Namespace' }
  const change = (before: Labels, after: Labels, pods: (KubeObject & JsonObject)[] = []) =>
    ask(
      before,
      {
        operation: 'UPDATE',
        resource: { group: '', version: 'v1', resource: 'namespaces' },
        kind,
        name: 'blue',
        object: namespace(after),
        oldObject: namespace(before),
      },
      pods,
    )
  const LABEL = 'metadata.labels[pod-security.kubernetes.io/enforce]'
  const BAD = `Namespace "blue" is invalid: ${LABEL}: Invalid value: "x": must be one of privileged, baseline, restricted`

  test('cannot get an invalid label in a create or update, but may keep one', async () => {
    const resource = { group: '', version: 'v1', resource: 'namespaces' }
    expect((await ask({}, { resource, kind, name: 'blue', object: namespace({ enforce: 'x' }) })).outcome).toBe(BAD)
    expect((await change({}, { enforce: 'x' })).outcome).toBe(BAD)
    expect((await change({ enforce: 'x' }, { enforce: 'x', warn: 'baseline' })).outcome).toBe('allowed')
  })

  const pods = [
    podOf(PRIVILEGED, 'b'),
    podOf(PRIVILEGED, 'a'),
    podOf({ hostNetwork: true, containers: [] }, 'n'),
    podOf({ containers: [] }, 'good'),
  ]
  test('with a stricter level warns of the pods that violate it', async () => {
    expect(await change({}, { enforce: 'baseline' }, pods)).toMatchObject({
      outcome: 'allowed',
      warnings: [
        'existing pods in namespace "blue" violate the new PodSecurity enforce level "baseline:latest"',
        'a (and 1 other pod): privileged',
        'n: host namespaces',
      ],
    })
  })
  test.each<[Labels, Labels]>([
    [{ enforce: 'baseline' }, { enforce: 'baseline', warn: 'restricted' }],
    [{ enforce: 'restricted' }, { enforce: 'baseline' }],
    [{ enforce: 'restricted' }, { enforce: 'privileged' }],
  ])('with one that is not is told nothing: %j, %j', async (before, after) => {
    expect(await change(before, after, pods)).toMatchObject({ outcome: 'allowed', warnings: [] })
  })
  test('with many pods says how many were checked', async () => {
    const many = Array.from({ length: 3002 }, (_, index) => podOf({ containers: [] }, `p${index}`))
    expect((await change({}, { enforce: 'baseline' }, many)).warnings).toEqual([
      'new PodSecurity enforce level only checked against the first 3000 of 3002 existing pods',
    ])
  })
})
