// `npm run bench -- --webhooks`: what creates cost more where webhooks are configured, beside a server without any. Turns
// alternate; of each pair one difference is taken, and their median told.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createAuthority, issue } from '../../src/cli/certificate.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { fill, median, part, succeed } from './load.ts'
import { millisecondsOfTree } from './process-usage.ts'
import { table } from './report.ts'
import { apiSide, configMap, readKubeconfig } from './side.ts'
import type { ApiSide } from './side.ts'

const REQUESTS = 200
const CLIENTS = 16
/** Pairs that are not counted: the engine optimizes what has run often. */
const WARM_UP = 15

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

/** @param resources that the webhook is about */
export const configuration = (name: string, { url, caBundle }: Hook, resources: readonly string[]): string =>
  JSON.stringify({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        clientConfig: { url, caBundle },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })

const cases: readonly { readonly what: string; readonly count: number; readonly resources: readonly string[] }[] = [
  { what: 'one webhook that is asked', count: 1, resources: ['configmaps'] },
  { what: 'one webhook for other resources', count: 1, resources: ['secrets'] },
  { what: '1,000 configurations for other resources', count: 1000, resources: ['secrets'] },
]

/** @param rounds pairs of turns of each case */
export async function webhookCosts(rounds: number): Promise<void> {
  const hook = await startHook()
  const start = async (name: string) => {
    const kedge = await startKedge()
    return { kedge, side: await apiSide(name, readKubeconfig(kedge.kubeconfig), [kedge.process.pid!]) }
  }
  const plain = await start('without')
  const rows: string[][] = []
  for (const { what, count, resources } of cases) {
    const other = await start('with')
    const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
    await fill(other.side.target, 8, count, (n) => ({
      method: 'POST',
      path,
      body: configuration(`hook-${n}`, hook, resources),
    }))
    rows.push([what, ...(await difference(plain.side, other.side, rounds))])
    await other.kedge.stop()
  }
  console.log(table(['create 2 KB, µs of CPU', 'without', 'more with', 'quartiles', 'engine', 'front'], rows))
  await plain.kedge.stop()
  hook.stop()
}

interface Cost {
  readonly engine: number
  readonly front: number
}

async function difference(plain: ApiSide, other: ApiSide, rounds: number): Promise<string[]> {
  const turn = async ({ target, collection, pids: [pid = 0] }: ApiSide): Promise<Cost> => {
    const before = millisecondsOfTree(pid)
    await fill(target, CLIENTS, REQUESTS, () => ({
      method: 'POST',
      path: collection,
      body: configMap(`w-${crypto.randomUUID()}`),
    }))
    const after = millisecondsOfTree(pid)
    const front = (after.own - before.own) / REQUESTS
    return { front, engine: (after.all - before.all) / REQUESTS - front }
  }
  await succeed(other.target, other.create('first'))
  const costs: { readonly base: Cost; readonly more: Cost }[] = []
  for (let round = -WARM_UP; round < rounds; round++) {
    const [base, cost] = [await turn(plain), await turn(other)]
    const more = { front: cost.front - base.front, engine: cost.engine - base.engine }
    if (round >= 0) costs.push({ base, more })
  }
  const micro = (milliseconds: number): string => (milliseconds * 1000).toFixed(0)
  const sum = ({ front, engine }: Cost): number => front + engine
  const all = costs.map(({ more }) => sum(more))
  return [
    micro(median(costs.map(({ base }) => sum(base)))),
    micro(median(all)),
    `${micro(part(all, 0.25))} to ${micro(part(all, 0.75))}`,
    micro(median(costs.map(({ more }) => more.engine))),
    micro(median(costs.map(({ more }) => more.front))),
  ]
}
