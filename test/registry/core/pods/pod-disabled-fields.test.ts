import { describe, expect, it } from 'vitest'
import type * as CoreV1 from '../../../../src/api/core/v1.ts'
import { dropDisabledPodFields } from '../../../../src/registry/core/pods/pod-disabled-fields.ts'

const spec = (): CoreV1.PodSpec => ({
  containers: [{ name: 'c', restartPolicy: 'Never' }],
  initContainers: [{ name: 'i', restartPolicy: 'Always' }],
})

describe('the restartPolicy of a container', () => {
  it.each<[string, boolean, CoreV1.PodSpec | undefined, string | undefined]>([
    ['is dropped without the gate', false, undefined, undefined],
    ['stays with the gate', true, undefined, 'Never'],
    ['stays where the stored pod has one', false, spec(), 'Never'],
    [
      'stays where the stored pod has rules',
      false,
      { containers: [{ name: 'c', restartPolicyRules: [{ action: 'Restart' }] }] },
      'Never',
    ],
    ['is dropped where the stored pod has none', false, { containers: [{ name: 'c' }] }, undefined],
  ])('%s', (_, gate, old, kept) => {
    const wanted = spec()
    dropDisabledPodFields(wanted, old, (name) => gate && name === 'ContainerRestartRules')
    expect(wanted.containers?.[0]?.restartPolicy).toBe(kept)
    expect(wanted.initContainers?.[0]?.restartPolicy).toBe('Always')
  })
})
