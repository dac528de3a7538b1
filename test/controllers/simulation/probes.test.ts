import { describe, expect, test } from 'vitest'
import type { Container, Pod } from '../../../src/api/core/v1.ts'
import { advance } from '../../../src/controllers/simulation/pod-lifecycle.ts'

const START = Date.parse('2026-01-01T00:00:00Z')
const httpGet = { path: '/healthz', port: 80 }

interface Given {
  readonly container: Container
  readonly annotations?: Record<string, string>
  readonly restartPolicy?: string
  readonly isSidecar?: boolean
}

function podOf({ container, annotations = {}, restartPolicy = 'Always', isSidecar = false }: Given): Pod {
  const named: Container = { name: 'c', image: 'i', ...container }
  return {
    metadata: { name: 'p', namespace: 'default', uid: 'u', generation: 1, annotations },
    spec: {
      nodeName: 'n',
      restartPolicy,
      ...(isSidecar
        ? { initContainers: [{ ...named, restartPolicy: 'Always' }], containers: [{ name: 'd', image: 'i' }] }
        : { containers: [named] }),
    },
    status: { phase: 'Pending', podIP: '10.0.0.7' },
  }
}

/** What changes, at which second, and what the kubelet tells for the first time. */
function story(given: Given, until = 100): string[] {
  const told: string[] = []
  const known = new Set<string>()
  let pod = podOf(given)
  let looks = 0
  for (let now = 0; now <= until;) {
    expect(looks++).toBeLessThan(50)
    const {
      status,
      after,
      news = [],
    } = advance(pod, { hostIPs: ['172.18.0.1'], allocateIP: () => '10.0.0.7' }, new Date(START + now * 1000))
    if (status !== undefined) {
      pod = { ...pod, status }
      const [container] = (given.isSidecar === true ? status.initContainerStatuses : status.containerStatuses) ?? []
      const { state = {}, started, ready, restartCount = 0 } = container ?? {}
      const what = Object.keys(state)[0] ?? ''
      told.push(`${now}s ${what}${started ? ' started' : ''}${ready ? ' ready' : ''} ${restartCount}`)
    }
    for (const { type, reason, message, fieldPath } of news) {
      const text = `${type} ${reason} ${fieldPath}: ${message}`
      if (reason === 'Killing' || !known.has(text)) told.push(`${now}s ${text}`)
      known.add(text)
    }
    if (after === undefined) break
    now += after / 1000
  }
  return told
}

describe('a probe that succeeds', () => {
  test.each<[string, Container, string[]]>([
    ['readiness', { readinessProbe: { httpGet } }, ['0s running started ready 0']],
    [
      'readiness after a delay',
      { readinessProbe: { httpGet, initialDelaySeconds: 15 } },
      ['0s running started 0', '20s running started ready 0'],
    ],
    [
      'readiness, several times',
      { readinessProbe: { tcpSocket: { port: 80 }, initialDelaySeconds: 4, periodSeconds: 2, successThreshold: 3 } },
      ['0s running started 0', '8s running started ready 0'],
    ],
    [
      'startup, before readiness',
      {
        startupProbe: { grpc: { port: 80 }, initialDelaySeconds: 7, periodSeconds: 5 },
        readinessProbe: { httpGet, successThreshold: 2, periodSeconds: 3 },
      },
      ['0s running 0', '10s running started 0', '13s running started ready 0'],
    ],
    [
      'readiness whose delay is longer than the startup',
      { startupProbe: { httpGet }, readinessProbe: { httpGet, initialDelaySeconds: 12, periodSeconds: 5 } },
      ['0s running started 0', '15s running started ready 0'],
    ],
    ['liveness', { livenessProbe: { httpGet } }, ['0s running started ready 0']],
    ['a command', { readinessProbe: { exec: { command: ['cat', '/tmp/healthy'] } } }, ['0s running started ready 0']],
  ])('%s', (_, container, expected) => {
    expect(story({ container })).toEqual(expected)
  })
})

describe('readiness that fails', () => {
  const readinessProbe = { httpGet, periodSeconds: 5, failureThreshold: 2 }
  const UNHEALTHY =
    'Warning Unhealthy spec.containers{c}: Readiness probe failed: HTTP probe failed with statuscode: 500'
  test('from the beginning', () => {
    expect(story({ container: { readinessProbe }, annotations: { 'kedge.dev/readiness-probe': 'fail' } })).toEqual([
      '0s running started 0',
      `0s ${UNHEALTHY}`,
    ])
  })

  test('later, as often as its threshold says', () => {
    const annotations = { 'kedge.dev/readiness-probe.c': '12s' }
    expect(story({ container: { readinessProbe }, annotations })).toEqual([
      '0s running started ready 0',
      `15s ${UNHEALTHY}`,
      '20s running started 0',
    ])
  })

  test('by a command that is known to', () => {
    const exec = { command: ['/bin/false'] }
    expect(story({ container: { readinessProbe: { exec } } })).toEqual([
      '0s running started 0',
      '0s Warning Unhealthy spec.containers{c}: Readiness probe failed: ',
    ])
  })

  test('says so in the conditions, and is over when the annotation goes', () => {
    const pod = podOf({ container: { readinessProbe }, annotations: { 'kedge.dev/readiness-probe': 'fail' } })
    const facts = { hostIPs: ['172.18.0.1'], allocateIP: () => undefined }
    const { status = {} } = advance(pod, facts, new Date(START))
    expect(status.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [c]',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })
    const well = { ...pod, status, metadata: { ...pod.metadata, annotations: {} } }
    const { status: now = {} } = advance(well, facts, new Date(START + 30_000))
    expect(now.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'True',
      lastTransitionTime: '2026-01-01T00:00:30Z',
    })
  })
})

describe('liveness that fails', () => {
  const livenessProbe = { tcpSocket: { port: 80 }, periodSeconds: 2, failureThreshold: 2 }
  const refused = 'dial tcp 10.0.0.7:80: connect: connection refused'
  const UNHEALTHY = `Warning Unhealthy spec.containers{c}: Liveness probe failed: ${refused}`
  const KILLING = 'Normal Killing spec.containers{c}: Container c failed liveness probe, will be restarted'

  test('restarts its container, later and later', () => {
    const annotations = { 'kedge.dev/liveness-probe': '3s' }
    expect(story({ container: { livenessProbe }, annotations }, 24)).toEqual([
      '0s running started ready 0',
      `4s ${UNHEALTHY}`,
      '6s running started ready 1',
      `6s ${KILLING}`,
      '12s waiting 1',
      `12s ${KILLING}`,
      '22s running started ready 2',
    ])
  })

  test('ends it for good where it is never restarted', () => {
    const annotations = { 'kedge.dev/liveness-probe': 'fail' }
    expect(story({ container: { livenessProbe }, annotations, restartPolicy: 'Never' })).toEqual([
      '0s running started ready 0',
      `0s ${UNHEALTHY}`,
      '2s terminated 0',
      `2s ${KILLING.replace(', will be restarted', '')}`,
    ])
  })
})

describe('startup that fails', () => {
  const startupProbe = { grpc: { port: 80 }, periodSeconds: 3, failureThreshold: 4 }
  const text = 'Startup probe failed: service unhealthy (responded with "NOT_SERVING")'

  test.each([
    [false, 'containers'],
    [true, 'initContainers'],
  ])('restarts the container, a sidecar %s', (isSidecar, member) => {
    const annotations = { 'kedge.dev/startup-probe.c': 'fail' }
    const container = { startupProbe, livenessProbe: { httpGet } }
    expect(story({ container, annotations, isSidecar }, 17)).toEqual([
      '0s running 0',
      `0s Warning Unhealthy spec.${member}{c}: ${text}`,
      '9s running 1',
      `9s Normal Killing spec.${member}{c}: Container c failed startup probe, will be restarted`,
    ])
  })
})
