import { expect, test } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { notEnforcedWarnings } from '../../src/registry/not-enforced.ts'

const namespace = (labels: Record<string, string>): KubeObject => ({ metadata: { name: 'a', labels } })
const any: KubeObject = { metadata: { name: 'a' } }
const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' }
const inAdmission = (resource: string) => ({ group: 'admissionregistration.k8s.io', resource })
const NAMESPACES = { group: '', resource: 'namespaces' }

test.each<[string, Parameters<typeof notEnforcedWarnings>, RegExp | undefined]>([
  ['a webhook', [inAdmission('validatingwebhookconfigurations'), any], /does not call webhooks yet/],
  ['a mutating webhook', [inAdmission('mutatingwebhookconfigurations'), any], /does not call webhooks yet/],
  ['a webhook that was there', [inAdmission('mutatingwebhookconfigurations'), any, any], undefined],
  ['a policy', [inAdmission('validatingadmissionpolicies'), any], /does not enforce admission policies yet/],
  ['a mutating policy', [inAdmission('mutatingadmissionpolicies'), any], /does not enforce admission policies yet/],
  ['a binding', [inAdmission('validatingadmissionpolicybindings'), any], /does not enforce bindings/],
  ['a mutating binding', [inAdmission('mutatingadmissionpolicybindings'), any], /does not enforce bindings/],
  ['a quota', [{ group: '', resource: 'resourcequotas' }, any], /does not enforce resource quotas yet/],
  ['a namespace', [NAMESPACES, namespace({ 'kubernetes.io/metadata.name': 'a' })], undefined],
  ['a restricted namespace', [NAMESPACES, namespace(restricted)], /does not enforce pod-security/],
  ['one that is restricted now', [NAMESPACES, namespace(restricted), namespace({})], /does not enforce pod-security/],
  ['one that was', [NAMESPACES, namespace({ ...restricted, a: 'b' }), namespace(restricted)], undefined],
  ['one that is no more', [NAMESPACES, namespace({}), namespace(restricted)], undefined],
  ['a quota of a definition', [{ group: 'example.com', resource: 'resourcequotas' }, any], undefined],
])('%s', (_, given, expected) => {
  expect(notEnforcedWarnings(...given)).toEqual(expected === undefined ? [] : [expect.stringMatching(expected)])
})
