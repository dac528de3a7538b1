// `npm run bench:large`: how long other clients wait while one sends the dearest bodies that are let in. A second client
// asks for /healthz again and again; the longest of its answers is what one step of the work held everybody for, and
// what the machine did meanwhile. `--only TEXT` sends those whose name has the text.
import { parseArgs } from 'node:util'
import { startKedge } from '../cli/kedge-process.ts'
import { definition, largeBodies } from './large-bodies-cases.ts'
import type { LargeBody } from './large-bodies-cases.ts'
import { open, pause, send, succeed, targetOf } from './load.ts'
import type { Target } from './load.ts'
import { readKubeconfig } from './side.ts'

const { values: flags } = parseArgs({
  options: { only: { type: 'string', default: '' }, rounds: { type: 'string', default: '1' } },
})
const HEALTH = { method: 'GET', path: '/healthz' } as const

interface Row {
  readonly what: string
  readonly status: number
  readonly milliseconds: number
  readonly waited: number
}

const kedge = await startKedge()
const target = readKubeconfig(kedge.kubeconfig)
const other = targetOf(kedge.url)
await prepare()
const rows: Row[] = []
for (let round = 0; round < Number(flags.rounds); round++)
  for (const body of largeBodies) if (body.what.includes(flags.only)) rows.push(await measure(body))
print()
await kedge.stop()
process.exit(0)

async function prepare(): Promise<void> {
  await succeed(target, definition)
  const account = { method: 'GET', path: '/api/v1/namespaces/default/serviceaccounts/default' }
  while ((await send(target, account)).status !== 200) await pause(50) // Pods need it
  const things = { method: 'GET', path: '/apis/bench.example.com/v1/namespaces/default/things' }
  while ((await send(target, things)).status !== 200) await pause(50)
  for (let n = 0; n < 300; n++) await succeed(other, HEALTH) // warm
}

async function measure({ what, call }: LargeBody): Promise<Row> {
  await pause(200)
  let isDone = false
  let waited = 0
  const asking = (async () => {
    while (!isDone) waited = Math.max(waited, (await succeed(other, HEALTH)).total)
  })()
  const began = performance.now()
  const status = await statusOf(target, what, call)
  const milliseconds = performance.now() - began
  await pause(20)
  isDone = true
  await asking
  return { what, status, milliseconds, waited }
}

async function statusOf(to: Target, what: string, call: LargeBody['call']): Promise<number> {
  const response = await open(to, call)
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text = text.length < 300 ? text + (chunk as string) : text
  const status = response.statusCode ?? 0
  if (status >= 400) process.stderr.write(`${what}: ${status} ${text.slice(0, 300)}\n`)
  return status
}

function print(): void {
  console.log(`| ${['body', 'status', 'its own ms', 'longest wait of others, ms'].join(' | ')} |`)
  console.log('| --- | --- | --- | --- |')
  for (const { what, status, milliseconds, waited } of rows)
    console.log(`| ${[what, status, milliseconds.toFixed(0), waited.toFixed(0)].join(' | ')} |`)
}
