import { expect, test } from 'vitest'
import { isExempt } from '../../src/admission/exempt.ts'
import { definitions } from '../../src/registry/definitions.ts'
import { groupResourceText } from '../../src/api/group-version.ts'

const exemptFrom = (from: 'policies' | 'webhooks'): string[] =>
  definitions()
    .map(({ resource }) => resource)
    .filter((resource) => isExempt(resource, from))
    .map(groupResourceText)
    .toSorted()

const POLICIES = [
  'mutatingadmissionpolicies.admissionregistration.k8s.io',
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
]

test('webhooks are not called for what configures admission', () => {
  expect(exemptFrom('webhooks')).toEqual(
    [
      ...POLICIES,
      'mutatingwebhookconfigurations.admissionregistration.k8s.io',
      'validatingwebhookconfigurations.admissionregistration.k8s.io',
    ].toSorted(),
  )
})

test('policies do not apply to policies and reviews', () => {
  expect(exemptFrom('policies')).toEqual(
    [
      ...POLICIES,
      'selfsubjectreviews.authentication.k8s.io',
      'tokenreviews.authentication.k8s.io',
      'localsubjectaccessreviews.authorization.k8s.io',
      'selfsubjectaccessreviews.authorization.k8s.io',
      'selfsubjectrulesreviews.authorization.k8s.io',
      'subjectaccessreviews.authorization.k8s.io',
    ].toSorted(),
  )
})

test.each([
  ['example.com', 'validatingwebhookconfigurations'],
  ['', 'configmaps'],
])('%s %s is exempt from nothing', (group, resource) => {
  for (const from of ['policies', 'webhooks'] as const) expect(isExempt({ group, resource }, from)).toBe(false)
})
