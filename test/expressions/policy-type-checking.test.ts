import { expect, test } from 'vitest'
import type { ValidatingAdmissionPolicySpec } from '../../src/api/admissionregistration/v1.ts'
import { atOnce } from '../../src/base/slices.ts'
import { expressionWarnings } from '../../src/expressions/policy-type-checking.ts'
import { typeOfKind } from '../../src/schema/built-in.ts'

const gvk = { group: '', version: 'v1', kind: 'ConfigMap' }
const kinds = [{ gvk, type: typeOfKind(gvk)! }]
const wrong = { expression: `object.nope == ${'1 + '.repeat(50)}1` }
const sizeOf = (warnings: readonly { warning: string }[]) =>
  warnings.reduce((sum, { warning }) => sum + warning.length, 0)

test('the warnings about a policy have a bound', () => {
  const warnings = atOnce(
    expressionWarnings({ validations: Array.from({ length: 5000 }, () => wrong) }, kinds, undefined),
  )
  expect(warnings.length).toBeGreaterThan(100)
  expect(sizeOf(warnings)).toBeLessThanOrEqual(256 * 1024)
})

test('a policy whose variables are too large for its kinds is not checked', () => {
  const variables = Array.from({ length: 11 }, (_, index) => ({
    name: `v${index}`,
    expression: `"${'x'.repeat(1e5)}"`,
  }))
  const found = (spec: ValidatingAdmissionPolicySpec) => atOnce(expressionWarnings(spec, kinds, undefined))
  expect(found({ variables: variables.slice(1), validations: [wrong] })).toHaveLength(1)
  expect(found({ variables, validations: [wrong] })).toHaveLength(0)
})
