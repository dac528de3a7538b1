import { expect, test } from 'vitest'
import type { CustomResourceDefinition } from '../../../src/api/apiextensions/v1.ts'
import { conditionOf, DEFINITIONS } from '../../../src/registry/custom-resources/definition.ts'
import { definition } from '../definition.ts'
import { newPlane, settled } from '../reconcile.ts'

const ANNOTATION = 'api-approved.kubernetes.io'

test.each<[string, string, string | undefined, string | undefined]>([
  ['a group of its own', 'example.com', undefined, undefined],
  [
    'a protected group, approved',
    'things.k8s.io',
    'https://github.com/kubernetes/kubernetes/pull/1',
    'True ApprovedAnnotation',
  ],
  ['a protected group, bypassed', 'things.k8s.io', 'unapproved, experimental', 'False UnapprovedAnnotation'],
  ['a protected group, without a word', 'things.k8s.io', undefined, 'False MissingAnnotation'],
  ['a protected group, nonsense', 'things.k8s.io', 'nonsense', 'False InvalidAnnotation'],
])('%s', async (_what, group, annotation, expected) => {
  const plane = await newPlane()
  const annotations = annotation === undefined ? {} : { [ANNOTATION]: annotation }
  const object = definition('things', group, { annotations })
  await plane.server.put(DEFINITIONS.group, DEFINITIONS.resource, object)
  const at = [DEFINITIONS, '', `things.${group}`] as const
  const found = await settled<CustomResourceDefinition>(plane, 'crd-approval', `things.${group}`, at)
  const condition = conditionOf(found!, 'KubernetesAPIApprovalPolicyConformant')
  expect(condition && `${condition.status} ${condition.reason}`).toBe(expected)
})
