// Measures requests for one object: rate, CPU and latency.
import { load, part, succeed } from './load.ts'
import type { Call } from './load.ts'
import type { Report } from './report.ts'
import type { ApiSide, Side } from './side.ts'

/** @param next makes the n-th request to a side */
export async function rates<S extends Side>(
  report: Report,
  sides: readonly S[],
  what: string,
  { clients, seconds }: { clients: number; seconds: number },
  next: (side: S, n: number) => Call,
): Promise<void> {
  const runs = new Map(sides.map((side) => [side, { n: 0, times: [] as number[], elapsed: 0 }]))
  const turn = async (side: S, turnSeconds: number): Promise<number[]> => {
    const run = runs.get(side)!
    const began = performance.now()
    const times = await load(side.target, clients, turnSeconds, () => next(side, run.n++))
    run.elapsed += performance.now() - began
    return times
  }
  for (const side of sides) await turn(side, (seconds * 2) / 3) // warm-up
  for (const run of runs.values()) run.elapsed = 0
  await report.inTurn(sides, what, async (side) => {
    const times = await turn(side, seconds / 4)
    runs.get(side)!.times.push(...times)
    return times.length
  })
  for (const [side, { times, elapsed }] of runs) {
    report.note(side, `${what}: a second`, (times.length * 1000) / elapsed)
    report.note(side, `${what}: p50 ms`, part(times, 0.5))
    report.note(side, `${what}: p99 ms`, part(times, 0.99))
  }
}

export async function measureRequests(report: Report, sides: readonly Side[], seconds: number): Promise<void> {
  for (const side of sides) await succeed(side.target, side.create('first'))
  await rates(report, sides, 'get, 16 clients', { clients: 16, seconds }, (side) => side.get())
  for (const clients of [1, 16, 64])
    await rates(report, sides, `create 2 KB, ${clients} clients`, { clients, seconds }, (side, n) =>
      side.create(`c${clients}-${n}`),
    )
}

export const ownPod = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'web' } },
    spec: { containers: [{ name: 'web', image: 'nginx', ports: [{ containerPort: 80 }] }] },
  })

/** Writes without a counterpart in the floor. The ConfigMaps to change must exist. */
export async function measureWrites(report: Report, sides: readonly ApiSide[], seconds: number): Promise<void> {
  const load = { clients: 16, seconds }
  const name = (n: number): string => `f${String(n).padStart(7, '0')}`
  await rates(report, sides, 'update by merge patch, 16 clients', load, ({ collection }, n) => ({
    method: 'PATCH',
    path: `${collection}/${name(n % 100)}`,
    body: `{"data":{"number":"${n}"}}`,
    contentType: 'application/merge-patch+json',
  }))
  await rates(report, sides, 'server-side apply, 16 clients', load, ({ collection }, n) => ({
    method: 'PATCH',
    path: `${collection}/${name(100 + (n % 100))}?fieldManager=bench&force=true`,
    body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name(100 + (n % 100))}"},"data":{"applied":"${n}"}}`,
    contentType: 'application/apply-patch+yaml',
  }))
  await rates(report, sides, 'create Pod, 16 clients', load, ({ namespace }, n) => ({
    method: 'POST',
    path: `${namespace}/pods`,
    body: ownPod(`p${n}`),
  }))
}
