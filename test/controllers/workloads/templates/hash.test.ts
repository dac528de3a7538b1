import { expect, test } from 'vitest'
import { safeText, templateHash } from '../../../../src/controllers/workloads/templates/hash.ts'
import type { PodTemplateSpec } from '../../../../src/api/core/v1.ts'
import table from './hashes.json' with { type: 'json' }

// as JSON has them
const recorded = table as unknown as readonly { readonly template: PodTemplateSpec; readonly hash: string }[]

/** Hashes that kube-controller-manager 1.36.3 gives. */
test.each(recorded)('a template has the hash $hash', async ({ template, hash }) => {
  expect(await templateHash(template, undefined)).toBe(hash)
  expect(await templateHash(template, 0)).not.toBe(hash)
})

test('a hash has no vowels', () => {
  expect(safeText('0123456789')).toBe('456789bcdf')
})
