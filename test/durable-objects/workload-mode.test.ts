import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { expect, it } from 'vitest'
import { WorkloadMode } from '../../durable-objects/workload-mode.ts'
import type { Env } from '../../src/env.ts'

const { SHARDS } = env as unknown as Env

it('a control plane begins with workloads off, and knows its mode in every instance', () =>
  // Any object with a database serves.
  runInDurableObject(SHARDS.getByName('workload-mode/one'), (_, { storage }) => {
    const before = (...mode: Parameters<WorkloadMode['changedTo']>) =>
      new WorkloadMode(storage.sql).changedTo(...mode)?.from
    expect(before('off')).toBeUndefined()
    expect(before('simulated')).toBe('off')
    expect(before('simulated')).toBeUndefined()
    expect(before('simulated', '*')).toBeUndefined()
    expect(before('simulated', '*,-job-controller')).toBe('simulated')
    expect(before('simulated', '*,-job-controller')).toBeUndefined()
    expect(before('controllers')).toBe('simulated *,-job-controller')
    expect(before('off', '*,-garbagecollector')).toBe('controllers')
    expect(before('off')).toBe('off *,-garbagecollector')
  }))
