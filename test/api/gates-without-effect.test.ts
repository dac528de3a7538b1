/** Each feature gate is locked, read by code, or knowingly without an effect. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, test } from 'vitest'
import { parseFeatureGates } from '../../src/api/feature-gates.ts'
import rules from '../../src/api/feature-gate-rules-table.json' with { type: 'json' }
import { notHeeded, ofInternals, ofOtherComponents, warningsOf } from '../../src/api/gates-without-effect.ts'
import resources from '../../src/registry/resources-table.json' with { type: 'json' }
import { builtInTypeNames, structuralOf } from '../../src/schema/built-in.ts'

const root = join(import.meta.dirname, '../..')

/** Gates that are no feature by themselves. */
const ofStages = ['AllAlpha', 'AllBeta']

/** Gates whose name stands in the code and changes no more than is said here. */
const namedOnly: Readonly<Record<string, string>> = {
  CoordinatedLeaderElection: 'the health checks have one more name',
  GangScheduling: "the scheduler's configuration may name the plug-in",
  StorageVersionAPI: 'the health checks have one more name',
  VolumeLimitScaling: 'a field of CSIDrivers has a default',
}

const lists = 'gates-without-effect.ts'
const code = ['src', 'durable-objects'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith(lists))
    .map((file) => readFileSync(join(root, folder, file), 'utf8')),
)
const words = new Set(code.flatMap((text) => [...text.matchAll(/'(\w+)'/g)].map(([, word]) => word!)))
const ofFields = new Set(
  builtInTypeNames().flatMap((name) => {
    const type = structuralOf(name)
    return type.shape === 'struct' ? type.fields.flatMap(({ featureGates }) => featureGates ?? []) : []
  }),
)
const ofResources = new Set(JSON.stringify(resources).match(/(?<="gate":")\w+/g))
const known = parseFeatureGates(undefined)
const locked = new Set(rules.locked)

test.each(known.all.map(({ name }) => name).filter((name) => !ofStages.includes(name)))('%s', (name) => {
  const listed = [
    locked.has(name) && 'locked',
    ofOtherComponents.includes(name) && 'of another component',
    ofInternals.includes(name) && 'of internals',
    Object.hasOwn(notHeeded, name) && 'not heeded',
  ].filter((one) => one !== false)
  const read = (words.has(name) && !Object.hasOwn(namedOnly, name)) || ofResources.has(name)
  const dropsFields = ofFields.has(name)
  // a gate can drop fields, and still lack the controller that acts by them
  if (read) expect(listed.filter((one) => one !== 'locked')).toEqual([])
  else if (dropsFields) expect(listed.length).toBeLessThanOrEqual(1)
  else expect(listed).toHaveLength(1)
})

it.each(Object.keys(namedOnly))('%s is named in the code', (name) => {
  expect(words).toContain(name)
})

it('lists gates that exist', () => {
  const names = new Set(known.all.map(({ name }) => name))
  const listed = [...ofOtherComponents, ...ofInternals, ...Object.keys(notHeeded), ...Object.keys(namedOnly)]
  expect(listed.filter((name) => !names.has(name))).toEqual([])
})

test.each([
  [undefined, []],
  ['WatchList=false', []],
  ['CRIListStreaming=true', []],
  ['NativeHistograms=false', []],
  ['NativeHistograms=true', ['feature gate NativeHistograms=true has no effect: /metrics has classic histograms']],
  ['OpenAPIEnums=false', []],
  ...[
    ['DRANodeAllocatableResources', 'the scheduler charges devices to no other resources of their node'],
    ['DRAWorkloadResourceClaims', 'no claims are made or reserved for a PodGroup'],
    ['VolumeLimitScaling', 'the scheduler does not ask whether a node has the CSI driver of a volume'],
  ].map(([gate, instead]): [string, string[]] => [
    `${gate}=true,GenericWorkload=true`,
    [`feature gate ${gate}=true has no effect: ${instead}`],
  ]),
])('warnings of %s', (setting, warnings) => {
  expect(warningsOf(parseFeatureGates(setting))).toEqual(warnings)
})
