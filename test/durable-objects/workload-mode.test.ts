import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { expect, it } from 'vitest'
import { WorkloadMode } from '../../durable-objects/workload-mode.ts'
import type { Env } from '../../src/env.ts'

const { SHARDS } = env as unknown as Env

it('a control plane begins with workloads off, and knows its mode in every instance', () =>
  // Any object with a database serves.
  runInDurableObject(SHARDS.getByName('workload-mode/one'), (_, { storage }) => {
    const changes = (...mode: Parameters<WorkloadMode['changesTo']>) => new WorkloadMode(storage.sql).changesTo(...mode)
    expect(changes('off')).toBe(false)
    expect(changes('simulated')).toBe(true)
    expect(changes('simulated')).toBe(false)
    expect(changes('simulated', '*')).toBe(false)
    expect(changes('simulated', '*,-job-controller')).toBe(true)
    expect(changes('simulated', '*,-job-controller')).toBe(false)
    expect(changes('controllers')).toBe(true)
    expect(changes('off')).toBe(true)
  }))
