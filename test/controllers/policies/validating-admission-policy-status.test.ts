/** What kube-controller-manager 1.36.3 says of policies: the answers were recorded, the policies are ours. */
import { describe, expect, test } from 'vitest'
import type { ValidatingAdmissionPolicy } from '../../../src/api/admissionregistration/v1.ts'
import type { CustomResourceDefinition } from '../../../src/api/apiextensions/v1.ts'
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'
import { definition, policies } from './validating-admission-policy-status.json' with { type: 'json' }

const POLICIES = { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' }
type Policy = KubeObject & ValidatingAdmissionPolicy

// JSON of that kind
const gadgets = definition as unknown as KubeObject & JsonObject & CustomResourceDefinition
const established = {
  ...gadgets,
  status: {
    acceptedNames: gadgets.spec!.names,
    conditions: ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' })),
    storedVersions: ['v1'],
  },
} as unknown as KubeObject & JsonObject

async function statusOf(spec: object) {
  const plane = new ControlPlaneInMemory()
  await plane.server.put('apiextensions.k8s.io', 'customresourcedefinitions', established)
  const client = await plane.client(POLICIES, '')
  await client.create({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p' },
    spec,
  } as KubeObject)
  await plane.settle()
  return ((await client.get('p')) as Policy).status
}

/** Types are named after their kind and a number that means nothing. */
const unnumbered = (text: string | undefined): string | undefined =>
  text?.replaceAll(/\b([A-Z][A-Za-z]+)\d\b/g, '$1<n>')

describe('a policy about', () => {
  test.each(Object.entries(policies))('%s', async (_, { resourceRules, warnings, ...spec }) => {
    const matchConstraints = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, resourceRules }
    const status = await statusOf({ failurePolicy: 'Fail', matchConstraints, ...spec })
    expect(status?.observedGeneration).toBe(1)
    const found = status?.typeChecking?.expressionWarnings ?? []
    expect(found.map(({ fieldRef, warning }) => ({ fieldRef, warning: unnumbered(warning) }))).toEqual(warnings)
  })
})
