import { expect, test } from 'vitest'
import { defaultIngressClass } from '../../../src/admission/plugins/default-ingress-class.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' }
const server = await serverWith({
  'ingressclasses.networking.k8s.io': [
    { metadata: { name: 'nginx', creationTimestamp: '2026-01-01T00:00:00Z', annotations } },
    { metadata: { name: 'other', creationTimestamp: '2026-02-01T00:00:00Z' } },
  ],
})
const ingress = (spec: object, annotations: object = {}) => ({ metadata: { name: 'i', annotations }, spec })

test.each([
  ['an Ingress that names no class gets the default one', ingress({}), 'nginx'],
  ['an Ingress that names one keeps it', ingress({ ingressClassName: 'other' }), 'other'],
  ['the old annotation counts as a name', ingress({}, { 'kubernetes.io/ingress.class': 'gce' }), undefined],
])('%s', async (_what, object, ingressClassName) => {
  const outcome = await outcomeOf(defaultIngressClass, server, {
    at: 'ingresses.networking.k8s.io',
    object: object as never,
  })
  expect((outcome as { spec: object }).spec).toEqual(ingressClassName === undefined ? {} : { ingressClassName })
})

test.each([
  ['UPDATE', 'ingresses.networking.k8s.io'],
  ['CREATE', 'ingresses.networking.k8s.io/status'],
  ['CREATE', 'ingresses.extensions'],
] as const)('the plugin ignores %s of %s', async (operation, at) => {
  expect(await outcomeOf(defaultIngressClass, server, { operation, at, object: ingress({}) as never })).toBe(
    'not asked',
  )
})
