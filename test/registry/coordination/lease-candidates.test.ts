import { describe, expect, test } from 'vitest'
import { leaseCandidates } from '../../../src/registry/coordination/lease-candidates.ts'
import { compareVersions, parseVersion } from '../../../src/registry/coordination/semantic-version.ts'
import type { StrategyContext } from '../../../src/registry/strategy.ts'

describe('semantic versions', () => {
  // the precedence example of semver.org, item 11
  const ascending =
    '1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 2.0.0 2.1.0 2.1.1 10.0.0'
  const versions = ascending.split(' ').map((text) => parseVersion(text)!)

  test('in their order', () => {
    versions.forEach((version, index) =>
      versions.forEach((other, at) => expect(Math.sign(compareVersions(version, other))).toBe(Math.sign(index - at))),
    )
  })

  test.each(['', '1', '1.2', '01.2.3', '1.2.3.4', 'v1.2.3', '1.2.3-', '1.2.3-01', '1.2.3+', 'x'])(
    '%s is none',
    (text) => {
      expect(parseVersion(text)).toBeUndefined()
    },
  )

  test('build metadata does not count in the order', () => {
    expect(compareVersions(parseVersion('1.2.3+a'), parseVersion('1.2.3+b'))).toBe(0)
  })
})

const context = {} as StrategyContext // the rules read only the object
const valid = {
  leaseName: 'l',
  binaryVersion: '1.36.0',
  emulationVersion: '1.35.0',
  strategy: 'OldestEmulationVersion',
}

test.each<[what: string, spec: object, errors: string[]]>([
  ['all that is needed', valid, []],
  ['a strategy of its own', { ...valid, strategy: 'example.com/Mine', emulationVersion: undefined }, []],
  [
    'nothing',
    {},
    ['spec.leaseName: Required value', 'spec.binaryVersion: Required value', 'spec.strategy: Required value'],
  ],
  [
    'an emulated version above its own',
    { ...valid, emulationVersion: '1.37.0' },
    ['spec.binaryVersion: Invalid value: "1.36.0": must be greater than or equal to `emulationVersion`'],
  ],
  [
    'what is no version',
    { ...valid, binaryVersion: '1.36' },
    [
      'spec.binaryVersion: Invalid value: "1.36": must be a valid semantic version',
      'spec.binaryVersion: Invalid value: "1.36": must be greater than or equal to `emulationVersion`',
    ],
  ],
  [
    'no emulated version where it decides',
    { ...valid, emulationVersion: '' },
    ["spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'"],
  ],
  [
    'a strategy that nobody knows',
    { ...valid, strategy: 'Newest' },
    ['spec.strategy.strategy: Unsupported value: "Newest": supported values: "OldestEmulationVersion"'],
  ],
])('a candidate with %s', async (_, spec, expected) => {
  const errors = await leaseCandidates.validate!({ metadata: { name: 'a' }, spec }, context)
  expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual(expected)
})
