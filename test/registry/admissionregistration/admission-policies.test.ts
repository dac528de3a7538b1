/** Validates CEL expressions in admission policies. The expected errors were recorded from kube-apiserver 1.36.3. */
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import {
  mutatingAdmissionPolicies,
  validatingAdmissionPolicies,
} from '../../../src/registry/admissionregistration/admission-policies.ts'
import type { Strategy, StrategyContext } from '../../../src/registry/strategy.ts'
import { untyped } from '../../../src/registry/untyped.ts'
import recorded from './policy-expressions.json' with { type: 'json' }

const context = {} as StrategyContext // the strategies of policies ignore the context
const strategies: Readonly<Record<string, Strategy>> = {
  ValidatingAdmissionPolicy: untyped(validatingAdmissionPolicies),
  MutatingAdmissionPolicy: untyped(mutatingAdmissionPolicies),
}

const policy = (spec: object): KubeObject & { spec: object } => ({
  metadata: { name: 'p' },
  spec: {
    failurePolicy: 'Fail',
    reinvocationPolicy: 'Never',
    matchConstraints: {
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    },
    ...spec,
  },
})

describe('a policy with', () => {
  test.each(Object.entries(recorded))('%s', async (_, { kind, spec, errors }) => {
    const found = await strategies[kind]!.validate!(policy(spec), context)
    expect(found.map(({ field, message }) => `${field}: ${message}`)).toEqual(errors)
  })
})

test('an update leaves unchanged conditions alone, whatever they are', async () => {
  const stored = policy({ validations: [{ expression: 'true' }], matchConditions: [{ name: 'a', expression: '1' }] })
  const { validateUpdate } = strategies.ValidatingAdmissionPolicy!
  expect(await validateUpdate!(structuredClone(stored), stored, context)).toEqual([])
  const changed = policy({ validations: [{ expression: 'true' }], matchConditions: [{ name: 'b', expression: '1' }] })
  const errors = await validateUpdate!(changed, stored, context)
  expect(errors.map(({ message }) => message)).toEqual(['Invalid value: "1": must evaluate to bool but got int'])
})
