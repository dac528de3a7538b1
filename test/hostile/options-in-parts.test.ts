// Reading DeleteOptions and bodies of subresources yields to other requests, like reading every other body. The YAML
// parser does not yield, and has a limit of its own.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeCborValue } from '../../src/codec/cbor/encode.ts'
import { countedServer } from './longest-counted-step.ts'
import type { CountedServer } from './longest-counted-step.ts'

let server: CountedServer

beforeAll(async () => {
  server = await countedServer()
}, 120_000)
afterAll(() => server.restore())

const OPTIONS = { apiVersion: 'v1', kind: 'DeleteOptions' }
const EVICTION = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'ghost', namespace: 'default' } }
const PODS = '/api/v1/namespaces/default/pods'

const written: Readonly<Record<string, (object: object) => string | Uint8Array<ArrayBuffer>>> = {
  'application/json': (object) => JSON.stringify(object),
  'application/yaml': (object) => `${JSON.stringify(object).slice(0, -1)}\n}`,
  'application/cbor': (object) => encodeCborValue(object as never) as Uint8Array<ArrayBuffer>,
}
const places: readonly (readonly [method: string, path: string, body: (all: readonly string[]) => object])[] = [
  ['DELETE', `${PODS}/ghost`, (dryRun) => ({ ...OPTIONS, dryRun })],
  ['DELETE', `${PODS}?labelSelector=x%3Dy`, (dryRun) => ({ ...OPTIONS, dryRun })],
  ['POST', `${PODS}/ghost/eviction`, (dryRun) => ({ ...EVICTION, deleteOptions: { dryRun } })],
]
const FEW = 15_000
const MANY = 60_000

for (const [method, path, body] of places)
  test.each(Object.keys(written))(`${method} ${path} in %s`, { timeout: 120_000 }, async (contentType) => {
    const steps = []
    // the first request fills caches and does not count
    for (const count of [FEW, FEW, MANY]) {
      const all = Array.from({ length: count }, () => 'All')
      steps.push(await server.longestStep({ method, path, contentType, body: written[contentType]!(body(all)) }))
    }
    const [, few, many] = steps
    expect(many!.status, many!.text.slice(0, 300)).toBeOneOf([200, 404])
    expect((many!.work - few!.work) / (MANY - FEW), many!.seen).toBeLessThan(contentType.endsWith('yaml') ? 40 : 3)
  })
