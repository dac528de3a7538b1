// BigInt reads decimal digits in more than linear time: a third of a second for a body of them, without a pause. So
// nothing gives it more digits than the largest number has.
import { afterEach, expect, test, vi } from 'vitest'
import { parseJsonBytes, parseStored } from '../../src/json/parse-json.ts'
import { toInt, toUint } from '../../src/cel/values/conversions.ts'
import { parseBody } from '../../src/codec/decode/parse-body.ts'
import { loadYaml } from '../../src/codec/yaml/reader.ts'
import { parseInt64 } from '../../src/go/int.ts'
import { Quantity } from '../../src/schema/quantity.ts'
import { parseDuration } from '../../src/schema/time.ts'

const DIGITS = '1'.repeat(100_000)
/** The digits that a quantity may have. */
const MOST = 4_200

afterEach(() => vi.unstubAllGlobals())

const bytes = (text: string) => new TextEncoder().encode(text)

test.each<[string, () => unknown]>([
  ['JSON of a body', () => parseJsonBytes(bytes(`[${DIGITS}]`))],
  ['negative JSON of a body', () => parseJsonBytes(bytes(`[-${DIGITS}]`))],
  ['stored JSON', () => parseStored(`[${DIGITS}]`)],
  ['YAML', () => parseBody('yaml', bytes(`a: ${DIGITS}\n`))],
  ['a name in YAML', () => parseBody('yaml', bytes(`${DIGITS}: a\n`))],
  ['a quantity', () => Quantity.parse(DIGITS)],
  ['a duration', () => parseDuration(`${DIGITS}s`)],
  ['an integer in Go', () => parseInt64(DIGITS)],
  ['int in CEL', () => toInt(DIGITS)],
  ['uint in CEL', () => toUint(DIGITS)],
])('%s', async (_, read) => {
  await loadYaml()
  const real = BigInt
  let most = 0
  const counting = (value: string | number | bigint | boolean): bigint => {
    most = Math.max(most, String(value).length)
    return real(value)
  }
  vi.stubGlobal('BigInt', Object.assign(counting, { asIntN: real.asIntN, asUintN: real.asUintN }))
  try {
    read()
  } catch {
    // the work of a refusal counts, too
  }
  expect(most).toBeLessThan(MOST)
})
