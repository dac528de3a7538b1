import { expect, test } from 'vitest'
import { parseFeatureGates } from '../../src/api/feature-gates.ts'
import { parseRuntimeConfig } from '../../src/configuration/runtime-config.ts'
import { prototypeNames } from '../prototype-names.ts'

test.each(prototypeNames)('%s is no feature gate, no group and no version', (name) => {
  expect(() => parseFeatureGates(`${name}=true`)).toThrow(`unrecognized feature gate: ${name}`)
  expect(() => parseRuntimeConfig(`${name}/v1=true`)).toThrow(name)
  expect(() => parseRuntimeConfig(`apps/${name}=true`)).toThrow(name)
  expect(() => parseRuntimeConfig(`${name}=true`)).toThrow(name)
})

test.each([
  'extensions/v1beta1/deployments',
  'extensions/v1beta1',
  'policy/v1beta1',
  'batch/v1beta1/cronjobs',
  'apps/v1beta2',
  'flowcontrol.apiserver.k8s.io/v1beta3',
  'imagepolicy.k8s.io/v1alpha1',
  'admission.k8s.io/v1beta1',
  'apiextensions.k8s.io/v1beta1',
])('%s, which kube-apiserver knows and does not serve, may be named', (key) => {
  expect(parseRuntimeConfig(`${key}=true`).enabled('apps', 'v1', 'deployments')).toBe(true)
})

test.each([
  ['batch/v2alpha1', 'group version batch/v2alpha1 that has not been registered'],
  ['autoscaling/v2beta2', 'group version autoscaling/v2beta2 that has not been registered'],
  ['settings.k8s.io/v1alpha1', 'unknown api groups settings.k8s.io/v1alpha1'],
])('%s is refused', (key, message) => {
  expect(() => parseRuntimeConfig(`${key}=true`)).toThrow(message)
})
