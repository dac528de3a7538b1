// Two values are equal for their type if and only if they encode to the same text, or their quantities differ in the text alone.
import { describe, expect, test } from 'vitest'
import { cloneJson } from '../../../src/json/clone-json.ts'
import type { Json, JsonObject } from '../../../src/api/object.ts'
import { inParts } from '../../../src/base/parts.ts'
import { inTurns } from '../../../src/base/slices.ts'
import { encodeJson } from '../../../src/codec/encode/encode.ts'
import { sameWritten } from '../../../src/codec/encode/same-written.ts'
import { builtInType } from '../../../src/schema/built-in.ts'
import { randomNumbers, randomObject } from '../../schema/random-object.ts'

const CORE = 'io.k8s.api.core.v1'
const pod = builtInType(`${CORE}.PodSpec`)

test.each<[string, JsonObject, JsonObject, boolean]>([
  ['what is left out, and empty', { containers: [], hostNetwork: false, nodeName: '' }, {}, true],
  ['a pointer to the zero value', { priority: 0 }, {}, false],
  ['members in another order', { nodeName: 'a', hostname: 'b' }, { hostname: 'b', nodeName: 'a' }, true],
  ['names of a map in another order', { nodeSelector: { a: '1', b: '2' } }, { nodeSelector: { b: '2', a: '1' } }, true],
  ['one name of a map more', { nodeSelector: { a: '1' } }, { nodeSelector: { a: '1', b: '' } }, false],
  ['another name of a map', { nodeSelector: { a: '1', c: '2' } }, { nodeSelector: { a: '1', b: '2' } }, false],
  ['a name that objects inherit', { nodeSelector: { toString: '' } }, { nodeSelector: { valueOf: '' } }, false],
  ['what the type does not know', { unknown: 1 }, {}, true],
  ['one element more', { tolerations: [{ key: 'a' }] }, { tolerations: [{ key: 'a' }, {}] }, false],
  ['a number beyond 2^53', { activeDeadlineSeconds: 2n ** 60n }, { activeDeadlineSeconds: 2n ** 60n + 1n }, false],
])('%s', (_, a, b, isSame) => {
  expect(sameWritten(pod, a, b)).toBe(isSame)
  expect(sameWritten(pod, b, a)).toBe(isSame)
  expect(encodeJson(pod, a) === encodeJson(pod, b)).toBe(isSame)
})

test.each([
  ['1', '+1', true],
  ['1Gi', '1073741824', true],
  ['1', '1.0000000001', false],
  ['1', '', false],
])('the quantities %j and %j', (a, b, isSame) => {
  expect(sameWritten(pod, { overhead: { cpu: a } }, { overhead: { cpu: b } })).toBe(isSame)
})

/** The value with something inside it changed, removed or duplicated. */
function changed(value: Json, random: () => number): Json {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' ? value + Math.floor(random() * 2) : random() < 0.5 ? value : ''
  const names = Object.keys(value)
  const name = names[Math.floor(random() * names.length)]
  if (name === undefined) return value
  if (Array.isArray(value)) {
    if (random() < 0.2) return [...value, value.at(-1)!]
    if (random() < 0.2) return value.slice(1)
    return value.map((item, at) => (`${at}` === name ? changed(item, random) : item))
  }
  const { [name]: member, ...rest } = value
  return random() < 0.2 ? rest : { ...rest, [name]: changed(member!, random) }
}

describe.each([
  'api.core.v1.Pod',
  'api.apps.v1.StatefulSet',
  'api.core.v1.PersistentVolume',
  'api.apps.v1.ControllerRevision',
  'api.discovery.v1.EndpointSlice',
  'api.resource.v1.ResourceClaim',
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
])('%s', (name) => {
  const type = builtInType(`io.k8s.${name}`)
  test('is the same where its text is', async () => {
    const random = randomNumbers(7)
    const found = { same: 0, other: 0 }
    for (let n = 0; n < 300; n++) {
      const a = randomObject(type, random)
      const b = (n % 3 === 0 ? cloneJson(a) : changed(a, random)) as JsonObject
      const isSame = encodeJson(type, a) === encodeJson(type, b)
      found[isSame ? 'same' : 'other']++
      expect(sameWritten(type, a, b), `${encodeJson(type, a)}\n${encodeJson(type, b)}`).toBe(isSame)
      expect(
        await inTurns(
          inParts(() => sameWritten(type, a, b), 1),
          async () => {},
        ),
      ).toBe(isSame)
    }
    expect(Math.min(found.same, found.other)).toBeGreaterThan(20)
  })
})
