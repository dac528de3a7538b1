/** The answers of kube-apiserver to bodies of other kinds: whether it knows the kind. */
import { expect, test } from 'vitest'
import { parseApiVersion } from '../../src/api/group-version.ts'
import { typeInScheme } from '../../src/schema/schemes.ts'

const deployments = { group: 'apps', version: 'v1', kind: 'Deployment' }
const definitions = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' }
const services = { group: 'apiregistration.k8s.io', version: 'v1', kind: 'APIService' }

test.each([
  [deployments, 'apps/v1', 'Status', true],
  [deployments, 'x/v1', 'APIGroup', true],
  [deployments, 'autoscaling/v2', 'DeleteOptions', true],
  [deployments, 'meta.k8s.io/v1', 'DeleteOptions', false],
  [deployments, 'meta.k8s.io/v1beta1', 'Table', false],
  [deployments, 'apidiscovery.k8s.io/v2', 'APIGroupDiscovery', false],
  [deployments, 'apiregistration.k8s.io/v1', 'APIService', false],
  [deployments, 'apiextensions.k8s.io/v1', 'CustomResourceDefinition', false],
  [deployments, 'v1', 'Pod', true],
  [deployments, 'x/v1', 'WatchEvent', false],
  [definitions, 'x/v1', 'WatchEvent', true],
  [definitions, 'v1', 'Pod', false],
  [definitions, 'v1', 'List', false],
  [definitions, 'v1', 'DeleteOptions', true],
  [definitions, 'apps/v1', 'DeleteOptions', false],
  [definitions, 'apiextensions.k8s.io/v1beta1', 'CustomResourceDefinition', true],
  [services, 'apps/v1', 'WatchEvent', false],
  [services, 'apiextensions.k8s.io/v1', 'CustomResourceDefinition', false],
  [services, 'apiregistration.k8s.io/v1', 'Status', true],
])('%j: %s %s', (endpoint, apiVersion, kind, isKnown) => {
  expect(typeInScheme(endpoint, { ...parseApiVersion(apiVersion)!, kind }) !== undefined).toBe(isKnown)
})
