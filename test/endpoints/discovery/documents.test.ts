import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { atOnce } from '../../../src/base/slices.ts'
import {
  aggregatedDiscovery,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
} from '../../../src/endpoints/discovery/documents.ts'
import { rootPaths } from '../../../src/endpoints/documents/root-paths.ts'
import { versionInfo } from '../../../src/endpoints/documents/version.ts'
import { parseFeatureGates } from '../../../src/api/feature-gates.ts'
import { withDynamic } from '../../../src/registry/served/served-groups.ts'
import { builtInResources } from '../../../src/registry/served/resources.ts'
import type { ServedResources } from '../../../src/registry/served/resources.ts'
import hashes from './document-hashes.json' with { type: 'json' }

/** SHA-256 of the compact JSON of every document that kube-apiserver 1.36.3 answers, `serverAddress` set to this. */
const ADDRESS = 'localhost:6443'

const settings: Record<keyof typeof hashes, { runtimeConfig?: string; featureGates?: string }> = {
  default: {},
  'api/all=true': { runtimeConfig: 'api/all=true' },
  'api/all=true and every feature gate': { runtimeConfig: 'api/all=true', featureGates: 'AllAlpha=true,AllBeta=true' },
}

function documentAt(path: string, served: ServedResources, featureGates?: string): unknown {
  if (path === '/') return { paths: rootPaths(served, parseFeatureGates(featureGates)) }
  if (path === '/version') return versionInfo()
  if (path === '/api') return apiVersions(served, ADDRESS)
  if (path === '/apis') return apiGroupList(served)
  const aggregated = /^\/(apis?) \(aggregated v2\)$/.exec(path)
  if (aggregated !== null) return atOnce(aggregatedDiscovery(served, aggregated[1] as 'api' | 'apis'))
  const [, , first = '', second] = path.split('/')
  if (path.startsWith('/api/')) return apiResourceList('', served.version('', first)!)
  return second === undefined ? apiGroup(served.group(first)!) : apiResourceList(first, served.version(first, second)!)
}

describe.each(Object.entries(settings))('discovery with %s', (name, setting) => {
  const served = builtInResources(setting)
  const expected: Record<string, string> = hashes[name as keyof typeof hashes]
  const paths = Object.keys(expected)

  test.each(paths)('%s is the one of kube-apiserver', (path) => {
    const text = JSON.stringify(documentAt(path, served, setting.featureGates))
    expect(createHash('sha256').update(text).digest('hex')).toBe(expected[path])
  })
})

test('groups of one priority come in the order of their APIServices, in the aggregated document in that of their names', () => {
  const served = withDynamic(
    builtInResources(),
    [
      ['a.example.com', 'v2', 'v1beta1'],
      ['b.example.com', 'v1alpha1'],
      ['c.example.com', 'v1', 'v1beta1'],
    ].map(([group = '', ...versions]) => ({
      group,
      priority: 1000,
      versions: versions.map((version) => ({ version, priority: 100, resources: [] })),
    })),
  )
  const names = (document: unknown) =>
    JSON.stringify(document)
      .match(/"name":"[abc]\.example\.com"/g)
      ?.map((match) => match.at(8))
  expect(names(apiGroupList(served))).toEqual(['c', 'b', 'a'])
  expect(names(atOnce(aggregatedDiscovery(served, 'apis')))).toEqual(['a', 'b', 'c'])
})
