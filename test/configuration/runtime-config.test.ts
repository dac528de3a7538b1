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
