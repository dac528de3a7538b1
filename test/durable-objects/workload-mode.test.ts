import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { expect, it } from 'vitest'
import { WorkloadMode } from '../../durable-objects/workload-mode.ts'
import { parseControllers } from '../../src/configuration/controllers.ts'
import type { Env } from '../../src/env.ts'
import type { Workloads } from '../../src/settings/schema.ts'

const { SHARDS } = env as unknown as Env
const NO_COLLECTOR = '*,-garbage-collector-controller'

it('a control plane begins with workloads off and its collector on, and knows its mode in every instance', () =>
  // Any object with a database serves.
  runInDurableObject(SHARDS.getByName('workload-mode/one'), (_, { storage }) => {
    const starts = (workloads: Workloads, controllers = '*') => {
      const mode = new WorkloadMode(storage.sql).changedTo({ workloads, controllers: parseControllers(controllers) })
      return Object.entries(mode).flatMap(([name, isNew]) => (isNew ? [name] : []))
    }
    expect(starts('off')).toEqual([])
    expect(starts('simulated')).toEqual(['workloads'])
    expect(starts('simulated')).toEqual([])
    expect(starts('simulated', '*,-job-controller')).toEqual(['workloads'])
    expect(starts('simulated', '*,-job-controller')).toEqual([])
    expect(starts('controllers')).toEqual(['workloads'])
    expect(starts('controllers', NO_COLLECTOR)).toEqual(['workloads'])
    expect(starts('off', NO_COLLECTOR)).toEqual([])
    expect(starts('off')).toEqual(['collector'])
    expect(starts('controllers', NO_COLLECTOR)).toEqual(['workloads'])
    expect(starts('controllers', '*,-job-controller')).toEqual(['workloads', 'collector'])
    storage.sql.exec("UPDATE workload_mode SET mode = 'off *,-a-controller-of-an-earlier-release'")
    expect(starts('off')).toEqual(['collector'])
  }))
