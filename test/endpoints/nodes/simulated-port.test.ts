import { describe, expect, test } from 'vitest'
import type { Pod } from '../../../src/api/core/v1.ts'
import { SimulatedPort, listenerOf } from '../../../src/endpoints/nodes/simulated/simulated-port.ts'

const running = { running: { startedAt: '2026-01-01T00:00:00Z' } }
const pod = {
  metadata: { name: 'web' },
  spec: {
    containers: [
      { name: 'a', ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }] },
      { name: 'b', ports: [{ containerPort: 53, protocol: 'TCP' }, { containerPort: 81 }] },
      { name: 'ended', ports: [{ containerPort: 82 }] },
      { name: 'bare' },
    ],
    initContainers: [{ name: 'sidecar', ports: [{ containerPort: 9000 }] }],
  },
  status: {
    containerStatuses: [
      { name: 'a', state: running },
      { name: 'b', state: running },
      { name: 'ended', state: { terminated: { exitCode: 0 } } },
    ],
    initContainerStatuses: [{ name: 'sidecar', state: running }],
  },
} as unknown as Pod // only these fields of the pod matter here

test.each([
  [80, 'a'],
  [81, 'b'],
  [53, 'b'],
  [9000, 'sidecar'],
  [82, undefined],
  [1, undefined],
])('on port %i listens the container that declares it for TCP and runs', (port, name) => {
  expect(listenerOf(pod, port)?.name).toBe(name)
})

describe('the answer to octets that come one by one', () => {
  const answers: string[] = []
  const port = (): SimulatedPort =>
    new SimulatedPort({ name: 'a', image: 'i' }, 80, (bytes) => answers.push(new TextDecoder().decode(bytes)))

  test.each([
    ['GET / HTTP/1.1\r\n', /^HTTP\/1\.1 200 OK/],
    [`GET /${'a'.repeat(7_000)} HTTP/1.0\r\n`, /^HTTP\/1\.1 200 OK/],
    [`GET /${'a'.repeat(7_000)} HTTP/1.0\n`, /^HTTP\/1\.1 200 OK/],
    ['GET /\r/ HTTP/1.1\r\n', /^simulated:/],
    [`GET /${'a'.repeat(7_000)}\n`, /^simulated:/],
    [`GET /${'a'.repeat(7_000)}\ra`, /^simulated:/],
    [`GET /${'a'.repeat(9_000)}`, /^simulated:/],
    ['EHLO', undefined],
    ['EHLO\r', /^simulated:/],
    ['A'.repeat(21), /^simulated:/],
    [`GET /${'a'.repeat(7_000)}`, undefined],
  ])('%.30j', (text, wanted) => {
    answers.length = 0
    const one = port()
    for (const octet of new TextEncoder().encode(text)) one.data(new Uint8Array([octet]))
    one.stop()
    if (wanted === undefined) expect(answers).toEqual([])
    else expect(answers).toEqual([expect.stringMatching(wanted)])
  })
})
