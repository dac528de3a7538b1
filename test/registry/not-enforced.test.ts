import { expect, test } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { notEnforcedWarnings } from '../../src/registry/not-enforced.ts'

const any: KubeObject = { metadata: { name: 'a' } }
const inAdmission = (resource: string) => ({ group: 'admissionregistration.k8s.io', resource })

test.each<[string, Parameters<typeof notEnforcedWarnings>, RegExp | undefined]>([
  ['a webhook', [inAdmission('validatingwebhookconfigurations'), any], undefined],
  ['a policy', [inAdmission('validatingadmissionpolicies'), any], undefined],
  ['a mutating policy', [inAdmission('mutatingadmissionpolicies'), any], undefined],
  ['a quota', [{ group: '', resource: 'resourcequotas' }, any], /does not enforce resource quotas yet/],
  ['a quota that was there', [{ group: '', resource: 'resourcequotas' }, any, any], undefined],
  ['a quota of a definition', [{ group: 'example.com', resource: 'resourcequotas' }, any], undefined],
])('%s', (_, given, expected) => {
  expect(notEnforcedWarnings(...given)).toEqual(expected === undefined ? [] : [expect.stringMatching(expected)])
})
