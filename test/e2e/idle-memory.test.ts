// An engine that is idle returns its garbage to the system. V8 alone would keep it.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { processUsage } from '../../src/cli/engine/memory.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { until } from '../eventually.ts'
import { ApiClient } from './api-client.ts'

const MB = 1024 * 1024

test.runIf(process.platform === 'linux')('after a busy time the engine becomes small again', async () => {
  const kedge = await startKedge()
  try {
    const [engine] = execFileSync('pgrep', ['-P', String(kedge.process.pid), 'workerd'], { encoding: 'utf8' }).split(
      '\n',
    )
    const memory = (): number => processUsage(Number(engine))!.residentBytes / MB
    const before = memory()
    const api = new ApiClient(kedge.kubeconfig)
    for (let round = 0; round < 20; round++) await api.send('GET', '/openapi/v2')
    const busy = memory()
    expect(busy).toBeGreaterThan(before + 40)
    await until(() => memory() < busy - 20)
    expect((await api.send('GET', '/api/v1/namespaces/default')).status).toBe(200)
  } finally {
    await kedge.stop()
  }
})
