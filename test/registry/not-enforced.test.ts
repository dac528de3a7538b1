import { expect, test } from 'vitest'
import type { CustomResourceDefinition } from '../../src/api/apiextensions/v1.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { notEnforcedWarnings } from '../../src/registry/not-enforced.ts'

const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }
const converted = (strategy: string, ...names: string[]): KubeObject & CustomResourceDefinition => ({
  metadata: { name: 'things.example.com' },
  spec: { conversion: { strategy }, versions: names.map((name) => ({ name })) },
})
const any: KubeObject = { metadata: { name: 'a' } }
const inAdmission = (resource: string) => ({ group: 'admissionregistration.k8s.io', resource })

test.each<[string, Parameters<typeof notEnforcedWarnings>, RegExp | undefined]>([
  ['a webhook', [inAdmission('validatingwebhookconfigurations'), any], undefined],
  ['a policy', [inAdmission('validatingadmissionpolicies'), any], undefined],
  ['a mutating policy', [inAdmission('mutatingadmissionpolicies'), any], undefined],
  [
    'versions that a webhook converts',
    [DEFINITIONS, converted('Webhook', 'v1', 'v2')],
    /does not call conversion webhooks/,
  ],
  [
    'versions that are converted from now on',
    [DEFINITIONS, converted('Webhook', 'v1', 'v2'), converted('None', 'v1')],
    /webhooks yet/,
  ],
  [
    'versions that a webhook converted before',
    [DEFINITIONS, converted('Webhook', 'v1', 'v2'), converted('Webhook', 'v1', 'v3')],
    undefined,
  ],
  ['a version that nobody converts', [DEFINITIONS, converted('Webhook', 'v1')], undefined],
  ['versions that need no webhook', [DEFINITIONS, converted('None', 'v1', 'v2')], undefined],
  ['a quota', [{ group: '', resource: 'resourcequotas' }, any], undefined],
])('%s', (_, given, expected) => {
  expect(notEnforcedWarnings(...given)).toEqual(expected === undefined ? [] : [expect.stringMatching(expected)])
})
