// Controllers' work that takes longer than the platform lets an invocation run goes on by alarm, and all of it is done.
// A whole server runs in this process, and its clock advances with each row that it reads.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { ControllerCase, serverInProcess } from '../bench/controller-cases.ts'
import { countedBundle } from '../hostile/counted-bundle.ts'

interface Loaded {
  readonly cases: readonly ControllerCase[]
  readonly serverInProcess: typeof serverInProcess
}

const PODS = 40
/** Milliseconds for each row: a Deployment of 40 pods takes minutes of its clock. */
const ROW_MS = 500

test('a Deployment comes up in several alarms', { timeout: 300_000 }, async () => {
  const loaded = await countedBundle<Loaded>('controller-cases.ts')
  const deployment = loaded.cases.find(({ what }) => what === 'a Deployment comes up')!
  let isSlow = false
  const server = loaded.serverInProcess(deployment.settings, () => {
    if (isSlow) server.pass(ROW_MS)
  })
  await deployment.setUp(server, PODS)
  const before = server.alarms()
  isSlow = true
  await deployment.begin(server, PODS)
  while (!(await deployment.isDone(server, PODS))) await pause(50)
  expect(server.alarms() - before).toBeGreaterThan(1)
})
