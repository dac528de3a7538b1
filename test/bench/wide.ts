// `npm run bench:wide` measures how long a request blocks the thread, and so delays other requests, when short text
// means much work: expensive rules and policies, and definitions with many properties, columns, versions and values
// (wide-cases.ts). `--only TEXT` runs the cases whose name contains the text, `--share N` uses the Nth part of the
// largest size, and `--profile` prints what the longest steps did.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { loadCases } from './in-process.ts'
import { LongSteps } from './long-steps.ts'
import { stepsOf } from './longest-step.ts'
import type * as Target from './memory-target.ts'
import { table } from './report.ts'
import { wideCases } from './wide-cases.ts'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    share: { type: 'string', default: '1' },
    profile: { type: 'boolean', default: false },
  },
})

setFlagsFromString('--expose-gc')
// of the flag above
const collectGarbage = runInNewContext('gc') as () => void

const { memoryTarget } = await loadCases<typeof Target>(join(import.meta.dirname, 'memory-target.ts'), ['js-yaml'])
const rows: string[][] = []
for (const { what, most, definitions = () => [], stored = () => [], calls } of wideCases) {
  if (!what.includes(flags.only)) continue
  const n = Math.ceil(most / Number(flags.share))
  const to = await memoryTarget({}, definitions(n))
  for (const [group, resource, object] of stored(n)) await to.put(group, resource, object as never)
  const [last, ...before] = calls(n).toReversed()
  // so that the measurement does not include initialization on first use
  await to({ method: 'GET', path: '/api/v1/namespaces/default' })
  for (const call of before.reverse()) await to(call)
  let answer = { status: 0, text: '' }
  // the garbage of the cases before is no work of this one
  collectGarbage()
  const profiler = flags.profile ? await LongSteps.start() : undefined
  const { all, steps, longest } = await stepsOf(
    async () => void (answer = await to(last!)),
    (from, until, used) => profiler?.note(from, until, used),
  )
  const profile = await profiler?.stop()
  if (answer.status >= 400) process.stderr.write(`${what}: ${answer.text.slice(0, 300)}\n`)
  rows.push([what, String(answer.status), all.toFixed(0), String(steps), longest.toFixed(1)])
  process.stderr.write(`${rows.at(-1)!.join(' | ')}\n${profile === undefined ? '' : `${profile}\n`}`)
}
console.log(table(['request', 'status', 'CPU, ms', 'steps', 'longest step, ms of CPU'], rows))
process.exit(0)
