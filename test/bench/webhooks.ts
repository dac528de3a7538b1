// `npm run bench -- --webhooks` measures the CPU that a webhook adds to a create. One server has two namespaces, and
// the webhook's namespaceSelector selects one of them. Creates go to both in many short turns; each pair of turns gives
// one difference, and the table has the median. Kedge starts several times, because a process may be faster by chance:
// by the layout of its code, or by what the engine optimized. `--against DIR` and `--kubeconfig FILE --pid N` also
// measure another checkout or server in turn. The cost of webhooks for other resources is the difference to a server
// without webhooks.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import { LAUNCHER, startKedge } from '../cli/kedge-process.ts'
import { fill, median, pause, succeed } from './load.ts'
import type { Target } from './load.ts'
import { medianInterval } from './median-interval.ts'
import { millisecondsOfTree } from './process-usage.ts'
import { table } from './report.ts'
import { configMap, readKubeconfig } from './side.ts'

const REQUESTS = 100
const CLIENTS = 16
/** Pairs that do not count, because the engine optimizes code only after many runs. */
const WARM_UP = 15
/** With three starts, all turns end within two minutes on a quiet machine. */
const ASKED_MS = 15_000
const NOT_ASKED_MS = 10_000

interface Hook {
  readonly url: string
  readonly caBundle: string
  stop(): void
}

export async function startHook(): Promise<Hook> {
  const now = new Date()
  const authority = await createAuthority({ commonName: 'webhooks' }, now, 30)
  const leaf = { subject: { commonName: 'hook' }, usage: 'server', names: ['127.0.0.1'], days: 30 } as const
  const { certificate, key } = await issue(authority, leaf, now)
  const server = spawn(process.execPath, [join(import.meta.dirname, 'webhook-server.ts'), certificate, key], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const port = await new Promise<string>((resolve) =>
    server.stdout!.once('data', (text: Buffer) => resolve(String(text).trim())),
  )
  return {
    url: `https://127.0.0.1:${port}/`,
    caBundle: Buffer.from(authority.certificate).toString('base64'),
    stop: () => void server.kill('SIGTERM'),
  }
}

/** The label of the namespaces that the webhooks select; it is unique to this run. */
const HOOKED = { hooked: crypto.randomUUID() }

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'

/** @param resources the resources in the webhook's rules */
const configuration = (name: string, { url, caBundle }: Hook, resources: readonly string[]): string =>
  JSON.stringify({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        clientConfig: { url, caBundle },
        namespaceSelector: { matchLabels: HOOKED },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })

/** A target of creates, and the processes whose CPU counts. */
interface Place {
  readonly target: Target
  readonly collection: string
  /** Processes, measured with their descendants. */
  readonly pids: readonly number[]
}

interface Server extends Pick<Place, 'target' | 'pids'> {
  readonly name: string
  stop(): Promise<unknown>
}

async function kedge(name: string, launcher = LAUNCHER): Promise<Server> {
  const { kubeconfig, process, stop } = await startKedge(undefined, undefined, [], launcher)
  return { name, target: readKubeconfig(kubeconfig), pids: [process.pid!], stop }
}

async function newPlace({ target, pids }: Server, labels: Readonly<Record<string, string>> = {}): Promise<Place> {
  const name = `bench-${crypto.randomUUID()}`
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
  await succeed(target, { method: 'POST', path: '/api/v1/namespaces', body })
  return { target, pids, collection: `/api/v1/namespaces/${name}/configmaps` }
}

interface Compared {
  readonly name: string
  readonly base: Place
  readonly more: Place
}

/** Servers to compare with this tree. */
export interface Others {
  readonly checkout?: string | undefined
  readonly server?: { readonly kubeconfig: string; readonly pids: readonly number[] } | undefined
}

/** @param starts how often Kedge is started */
export async function webhookCosts(others: Others, starts: number): Promise<void> {
  const hook = await startHook()
  const found = new Map<string, Pair[]>()
  for (let start = 0; start < starts; start++) await measureAsked(hook, others, found)
  print('one webhook that is asked', found)
  if (others.checkout === undefined && others.server === undefined) await notAsked(hook)
  hook.stop()
}

/** @param found collects the pairs of each server */
async function measureAsked(hook: Hook, others: Others, found: Map<string, Pair[]>): Promise<void> {
  const servers = [
    await kedge('kedge'),
    ...(others.checkout === undefined ? [] : [await kedge('other', join(others.checkout, 'src/cli/kedge.mjs'))]),
    ...(others.server === undefined ? [] : [running(others.server)]),
  ]
  const asked: Compared[] = []
  for (const server of servers) {
    const body = configuration(HOOKED.hooked, hook, ['configmaps'])
    await succeed(server.target, { method: 'POST', path: CONFIGURATIONS, body })
    asked.push({ name: server.name, base: await newPlace(server), more: await newPlace(server, HOOKED) })
  }
  await measure(asked, ASKED_MS, found)
  for (const { target, stop } of servers) {
    await succeed(target, { method: 'DELETE', path: `${CONFIGURATIONS}/${HOOKED.hooked}` })
    await stop()
  }
}

const running = ({ kubeconfig, pids }: NonNullable<Others['server']>): Server => ({
  name: 'reference',
  target: readKubeconfig(kubeconfig),
  pids,
  stop: () => Promise.resolve(),
})

/** Measures webhooks for other resources, which a create does not call. */
async function notAsked(hook: Hook): Promise<void> {
  const plain = await kedge('without')
  for (const count of [1, 1000]) {
    const server = await kedge('kedge')
    await fill(server.target, 8, count, (n) => ({
      method: 'POST',
      path: CONFIGURATIONS,
      body: configuration(`hook-${n}`, hook, ['secrets']),
    }))
    const compared = { name: server.name, base: await newPlace(plain), more: await newPlace(server, HOOKED) }
    print(`${count} for other resources`, await measure([compared], NOT_ASKED_MS))
    await server.stop()
  }
  await plain.stop()
}

/** Milliseconds of CPU for one create. */
interface Cost {
  readonly all: number
  readonly front: number
}

async function turn({ target, collection, pids }: Place): Promise<Cost> {
  const now = (): Cost => {
    const used = pids.map(millisecondsOfTree)
    const sum = (of: (one: (typeof used)[number]) => number): number => used.reduce((total, one) => total + of(one), 0)
    return { all: sum(({ all }) => all), front: sum(({ own }) => own) }
  }
  const before = now()
  await fill(target, CLIENTS, REQUESTS, () => ({
    method: 'POST',
    path: collection,
    body: configMap(`w-${crypto.randomUUID()}`),
  }))
  const after = now()
  return { all: (after.all - before.all) / REQUESTS, front: (after.front - before.front) / REQUESTS }
}

interface Pair {
  readonly base: Cost
  readonly more: Cost
}

/** @param found collects the pairs by name. @returns found */
async function measure(
  compared: readonly Compared[],
  milliseconds: number,
  found = new Map<string, Pair[]>(),
): Promise<ReadonlyMap<string, readonly Pair[]>> {
  for (const { name } of compared) if (!found.has(name)) found.set(name, [])
  // waits until caches of webhook configurations have expired
  await pause(2_000)
  let until = Infinity
  for (let round = -WARM_UP; performance.now() < until; round++) {
    if (round === 0) until = performance.now() + milliseconds * compared.length
    for (const { name, base: plain, more: hooked } of compared) {
      // the sides alternate in going first
      const isFirst = round % 2 === 0
      const early = await turn(isFirst ? plain : hooked)
      const late = await turn(isFirst ? hooked : plain)
      if (round >= 0) found.get(name)!.push(isFirst ? { base: early, more: late } : { base: late, more: early })
    }
  }
  return found
}

function print(what: string, found: ReadonlyMap<string, readonly Pair[]>): void {
  const rows = [...found].map(([name, pairs]) => [name, ...row(pairs)])
  console.log(table([what, 'create, µs of CPU', 'more', '95 % interval', 'engine', 'front', 'pairs'], rows))
}

function row(pairs: readonly Pair[]): string[] {
  const micro = (milliseconds: number): string => (milliseconds * 1000).toFixed(0)
  const more = (of: (cost: Cost) => number): number[] => pairs.map((pair) => of(pair.more) - of(pair.base))
  const all = more((cost) => cost.all)
  return [
    micro(median(pairs.map(({ base }) => base.all))),
    micro(median(all)),
    medianInterval(all).map(micro).join(' to '),
    micro(median(more((cost) => cost.all - cost.front))),
    micro(median(more((cost) => cost.front))),
    String(pairs.length),
  ]
}
