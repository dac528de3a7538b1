import { expect, test } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { notEnforcedWarnings } from '../../src/registry/not-enforced.ts'

const namespace = (labels: Record<string, string>): KubeObject => ({ metadata: { name: 'a', labels } })
const definition = (schema: object): KubeObject =>
  ({ metadata: {}, spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] } }) as KubeObject
const rules = (rule: string) => ({ 'x-kubernetes-validations': [{ rule }] })
const within = (schema: object) => definition({ type: 'object', properties: { spec: schema } })
const any: KubeObject = { metadata: { name: 'a' } }
const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' }
const inAdmission = (resource: string) => ({ group: 'admissionregistration.k8s.io', resource })
const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }
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
  ['a definition', [DEFINITIONS, within({ type: 'object' })], undefined],
  ['a definition with rules', [DEFINITIONS, within(rules('true'))], /does not enforce x-kubernetes-validations yet/],
  ['rules in items', [DEFINITIONS, within({ type: 'array', items: rules('true') })], /does not enforce x-kubern/],
  ['other rules', [DEFINITIONS, within(rules('true')), within(rules('false'))], /does not enforce x-kubernetes/],
  ['the same rules', [DEFINITIONS, within(rules('true')), within(rules('true'))], undefined],
  ['a quota of a definition', [{ group: 'example.com', resource: 'resourcequotas' }, any], undefined],
])('%s', (_, given, expected) => {
  expect(notEnforcedWarnings(...given)).toEqual(expected === undefined ? [] : [expect.stringMatching(expected)])
})
