// Objects that ask for work that no controller of this server does: the client learns that.
import { expect, test } from 'vitest'
import type { Env } from '../../src/env.ts'
import { resourcePoolStatusRequests } from '../../src/registry/resource/resource-pool-status-requests.ts'
import { storageVersionMigrations } from '../../src/registry/storagemigration/storage-version-migrations.ts'
import { csiDrivers } from '../../src/registry/storage/csi-drivers.ts'
import type { StrategyContext } from '../../src/registry/strategy.ts'

const contextOf = (workloads: string | undefined) =>
  ({
    env: { ...(workloads !== undefined && { KEDGE_WORKLOADS: workloads }) } as Env,
    tenant: { uid: 'unserved' },
  }) as unknown as StrategyContext // the warnings read nothing else
const metadata = { name: 'a' }

const needed = (controller: string) =>
  `this server has no ${controller}: the object waits until a kube-controller-manager runs one`

test.each([
  ['simulated', 1],
  ['controllers', 1],
  ['off', 0],
  [undefined, 0],
] as const)('with the workloads %s there are %d warnings', (workloads, count) => {
  const context = contextOf(workloads)
  expect(storageVersionMigrations.warningsOnCreate!({ metadata }, context)).toEqual(
    [needed('storage-version-migrator-controller')].slice(0, count),
  )
  expect(resourcePoolStatusRequests.warningsOnCreate!({ metadata }, context)).toEqual(
    [needed('resourcepoolstatusrequest-controller')].slice(0, count),
  )
})

test.each([
  ['simulated', true, 1],
  ['simulated', false, 0],
  ['controllers', true, 0],
  ['off', true, 0],
] as const)(
  'with the workloads %s and preventPodSchedulingIfMissing %s there are %d warnings',
  (workloads, value, count) => {
    const driver = { metadata, spec: { preventPodSchedulingIfMissing: value } }
    const wanted = [
      'spec.preventPodSchedulingIfMissing: has no effect, as the scheduler of this server does not ask whether a node has the driver',
    ].slice(0, count)
    const context = contextOf(workloads)
    expect(csiDrivers.warningsOnCreate!(driver, context)).toEqual(wanted)
    expect(csiDrivers.warningsOnUpdate!(driver, { metadata, spec: {} }, context)).toEqual(wanted)
    expect(csiDrivers.warningsOnUpdate!(driver, driver, context)).toEqual([])
  },
)
