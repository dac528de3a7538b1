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

/** Code that takes a gate's name from a constant or a table. */
const byConstant: Readonly<Record<string, string>> = {
  ContainerStopSignals: 'src/schema/disabled-fields.ts',
  DeploymentReplicaSetTerminatingReplicas: 'src/registry/apps/deployments.ts',
  ExtendWebSocketsToKubelet: 'src/endpoints/nodes/node-connection.ts',
}

function sources(): string[] {
  return ['src', 'durable-objects'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(root, folder, file), 'utf8')),
  )
}

const asked = new Set(
  sources().flatMap((text) => [...text.matchAll(/\b(?:enabled|gated)\(\s*'(\w+)'/g)].map(([, gate]) => gate!)),
)
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
  const read = asked.has(name) || ofResources.has(name) || Object.hasOwn(byConstant, name)
  const dropsFields = ofFields.has(name)
  // a gate can drop fields, and still lack the controller that acts by them
  if (read) expect(listed.filter((one) => one !== 'locked')).toEqual([])
  else if (dropsFields) expect(listed.length).toBeLessThanOrEqual(1)
  else expect(listed).toHaveLength(1)
})

it.each(Object.entries(byConstant))('%s is a constant in %s', (gate, file) => {
  expect(readFileSync(join(root, file), 'utf8')).toContain(`'${gate}'`)
})

it('lists gates that exist', () => {
  const names = new Set(known.all.map(({ name }) => name))
  const listed = [...ofOtherComponents, ...ofInternals, ...Object.keys(notHeeded), ...Object.keys(byConstant)]
  expect(listed.filter((name) => !names.has(name))).toEqual([])
})

test.each([
  [undefined, []],
  ['WatchList=false', []],
  ['CRIListStreaming=true', []],
  ['NativeHistograms=false', []],
  ['NativeHistograms=true', ['feature gate NativeHistograms=true has no effect: /metrics has classic histograms']],
  ['OpenAPIEnums=false', ['feature gate OpenAPIEnums=false has no effect: OpenAPI documents have enums']],
])('warnings of %s', (setting, warnings) => {
  expect(warningsOf(parseFeatureGates(setting))).toEqual(warnings)
})
