import { describe, expect, test } from 'vitest'
import { parseFeatureGates } from '../../src/api/feature-gates.ts'
import table from '../../src/bootstrap/bootstrap-table.json' with { type: 'json' }
import { policyObjects } from '../../src/bootstrap/policy-objects.ts'

interface Rule {
  readonly verbs: string[]
  readonly apiGroups?: string[]
  readonly resources?: string[]
  readonly nonResourceURLs?: string[]
}

/** The objects of a resource by name. */
async function objectsOf(resource: string, gates?: string): Promise<Map<string, Record<string, unknown>>> {
  const all = await policyObjects('2026-01-01T00:00:00Z', parseFeatureGates(gates))
  return new Map(
    all
      .filter((one) => one.resource === resource)
      .map(({ object, added }) => [object.metadata.name ?? '', { ...object, ...added }]),
  )
}

const textOf = ({ verbs, resources, nonResourceURLs }: Rule): string =>
  `${verbs.join()} ${(resources ?? nonResourceURLs ?? []).join()}`

async function rulesOf(role: string, gates?: string): Promise<string[] | undefined> {
  const rules = (await objectsOf('clusterroles', gates)).get(role)?.['rules'] as Rule[] | undefined
  return rules?.map(textOf)
}

/** What a gate changes in a role, with the places among the rules with this gate. */
async function changes(role: string, gates: string): Promise<{ added: string[]; removed: string[] }> {
  const before = (await rulesOf(role)) ?? []
  const after = (await rulesOf(role, gates)) ?? []
  return {
    added: after.flatMap((rule, at) => (before.includes(rule) ? [] : [`${at} ${rule}`])),
    removed: before.filter((rule) => !after.includes(rule)),
  }
}

// what kube-apiserver 1.36.3 writes with these gates
const JOBS = 'GenericWorkload=true,WorkloadWithJob=true,DRAWorkloadResourceClaims=true'
const RULES = 'DRADeviceTaintRules=true'
const GRANULAR = 'DRAResourceClaimGranularStatusAuthorization=false'
const changed: [gates: string, role: string, added: string[], removed: string[]][] = [
  ['ClusterTrustBundle=true', 'system:node', ['24 get,list,watch clustertrustbundles'], []],
  ['PodCertificateRequest=true', 'system:node', ['25 create,get,list,watch podcertificaterequests'], []],
  ['KubeletServiceAccountTokenForCredentialProviders=false', 'system:node', [], ['get serviceaccounts']],
  ['GenericWorkload=true', 'view', ['12 get,list,watch podgroups,podgroups/status,workloads'], []],
  ['GenericWorkload=true', 'edit', ['15 W podgroups,workloads', '28 R podgroups,podgroups/status,workloads'], []],
  ['GenericWorkload=true', 'system:kube-scheduler', ['27 R podgroups', '28 patch,update podgroups/status'], []],
  [JOBS, 'system:controller:job-controller', ['5 create,get,list,watch podgroups,workloads'], []],
  [
    JOBS,
    'system:controller:resource-claim-controller',
    ['6 get,list,watch podgroups', '7 patch,update podgroups/status'],
    [],
  ],
  [RULES, 'system:kube-scheduler', ['26 get,list,watch devicetaintrules'], []],
  [
    RULES,
    'system:controller:device-taint-eviction-controller',
    ['6 patch,update devicetaintrules/status', '7 get,list,watch devicetaintrules'],
    [],
  ],
  [GRANULAR, 'system:kube-scheduler', [], ['patch,update resourceclaims/binding']],
  [GRANULAR, 'system:controller:resource-claim-controller', [], ['patch,update resourceclaims/binding']],
  ['DRAExtendedResource=false', 'system:kube-scheduler', [], ['create,delete resourceclaims']],
]
const abbreviated: Record<string, string> = { R: 'get,list,watch', W: 'create,delete,deletecollection,patch,update' }
const written = (text: string): string => text.replace(/ ([RW]) /, (_, letter: string) => ` ${abbreviated[letter]} `)

test.each(changed)('with %s the rules of %s', async (gates, role, added, removed) => {
  expect(await changes(role, gates)).toEqual({ added: added.map(written), removed })
})

test('with the default gates the objects are those of the table', async () => {
  for (const { resource, objects } of table) {
    const made = await objectsOf(resource)
    for (const { name, rules } of objects as { name: string; rules?: unknown }[])
      if (resource !== 'roles') expect(made.get(name)?.['rules'], name).toEqual(rules)
  }
})

test.each([
  ['ComponentFlagz', '/flagz'],
  ['ComponentStatusz', '/statusz'],
])('without %s the monitoring role has no %s', async (gate, path) => {
  expect((await rulesOf('system:monitoring'))?.[0]).toContain(path)
  expect((await rulesOf('system:monitoring', `${gate}=false`))?.[0]).not.toContain(path)
})

describe('roles that only a gate needs, with their bindings', () => {
  test.each([
    [
      'ClusterTrustBundle=true',
      ['cluster-trust-bundle-discovery', 'kube-apiserver-serving-clustertrustbundle-publisher'],
    ],
    ['PodCertificateRequest=true', ['podcertificaterequestcleaner']],
    ['GenericWorkload=true', ['podgroup-protection-controller']],
    ['DRAResourcePoolStatus=true', ['resourcepoolstatusrequest-controller']],
    ['StorageVersionMigrator=true', ['storage-version-migrator-controller']],
    ['StorageVersionAPI=true', ['storage-version-garbage-collector']],
    ['DRADeviceTaints=false', ['-device-taint-eviction-controller']],
  ])('%s', async (gates, names) => {
    for (const resource of ['clusterroles', 'clusterrolebindings']) {
      const before = new Set((await objectsOf(resource)).keys())
      const after = new Set((await objectsOf(resource, gates)).keys())
      const short = (name: string) => name.replace(/^system:(controller:)?/, '')
      expect([
        ...[...after.difference(before)].map(short),
        ...[...before.difference(after)].map((name) => `-${short(name)}`),
      ]).toEqual(names)
    }
  })

  test('the binding of a controller names its account', async () => {
    const bindings = await objectsOf('clusterrolebindings', 'PodCertificateRequest=true')
    expect(bindings.get('system:controller:podcertificaterequestcleaner')).toMatchObject({
      subjects: [{ kind: 'ServiceAccount', name: 'podcertificaterequestcleaner', namespace: 'kube-system' }],
      roleRef: { kind: 'ClusterRole', name: 'system:controller:podcertificaterequestcleaner' },
    })
  })
})
