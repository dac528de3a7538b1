// Measures the CPU of a denial: `node test/bench/denials.ts [--kubeconfig FILE --pid N,…]` gets Secrets that
// ServiceAccounts may not read, from Kedge in turn with the server of the kubeconfig.
import { parseArgs } from 'node:util'
import { startKedge } from '../cli/kedge-process.ts'
import { open, part, send, succeed } from './load.ts'
import type { Target } from './load.ts'
import { machine, Report } from './report.ts'
import { apiSide, readKubeconfig } from './side.ts'
import type { ApiSide } from './side.ts'

const { values: flags } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    pid: { type: 'string', default: '' },
    launcher: { type: 'string' },
    seconds: { type: 'string', default: '4' },
  },
})

const USERS = 32
/** The number of concurrent clients and of distinct users. */
const loads = [
  { clients: 1, users: 1 },
  { clients: 16, users: 1 },
  { clients: 32, users: USERS },
]

async function tokensOf({ target, namespace }: ApiSide): Promise<readonly string[]> {
  const tokens: string[] = []
  for (let user = 0; user < USERS; user++) {
    const name = `u${user}`
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } }
    await succeed(target, { method: 'POST', path: `${namespace}/serviceaccounts`, body: JSON.stringify(account) })
    const answer = await open(target, {
      method: 'POST',
      path: `${namespace}/serviceaccounts/${name}/token`,
      body: '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":3600}}',
    })
    let text = ''
    for await (const chunk of answer) text += String(chunk)
    tokens.push((JSON.parse(text) as { status: { token: string } }).status.token)
  }
  return tokens
}

/** Sends as many denied requests as the clients can in `seconds`. */
async function deny(targets: readonly Target[], clients: number, path: string, seconds: number): Promise<number[]> {
  const times: number[] = []
  const until = performance.now() + seconds * 1000
  const client = async (_: unknown, n: number): Promise<void> => {
    while (performance.now() < until) {
      const { status, total } = await send(targets[n % targets.length]!, { method: 'GET', path })
      if (status !== 403) throw new Error(`${path}: ${status}`)
      times.push(total)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return times
}

const kedge = await startKedge(undefined, undefined, undefined, flags.launcher)
const sides = [await apiSide('kedge', readKubeconfig(kedge.kubeconfig), [kedge.process.pid!])]
if (flags.kubeconfig !== undefined)
  sides.unshift(await apiSide('reference', readKubeconfig(flags.kubeconfig), flags.pid.split(',').map(Number)))
const tokens = new Map<ApiSide, readonly string[]>()
for (const side of sides) tokens.set(side, await tokensOf(side))

const report = new Report()
for (const { clients, users } of loads) {
  const what = `denied, ${clients} clients of ${users} users`
  const times = new Map<ApiSide, number[]>(sides.map((side) => [side, []]))
  const turn = async (side: ApiSide): Promise<number> => {
    const targets = tokens.get(side)!.map((token) => ({ ...side.target, token }))
    const took = await deny(targets.slice(0, users), clients, `${side.namespace}/secrets/a`, Number(flags.seconds))
    times.get(side)!.push(...took)
    return took.length
  }
  for (const side of sides) await turn(side) // warm-up
  await report.inTurn(sides, what, turn)
  for (const [side, took] of times) report.note(side, `${what}: p50 ms`, part(took, 0.5))
}
console.log(`${machine()}\n\n${report.table(sides.map(({ name }) => name))}`)
await kedge.stop()
process.exit(0)
